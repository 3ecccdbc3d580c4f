// The cases of a bundle as files: cases/N.json, the tensors of a case, models with the tables that
// launch their kernels, PTX that cases share. What `fovea bundle` writes and the runner reads.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/code.h"
#include "runtime/files/json.h"
#include "runtime/parameters.h"
#include "runtime/program.h"

namespace fovea::bundle {

/// The member of an object; UserError where it has none.
const runtime::Json& at(const runtime::Json& object, std::string_view key);

/// What a model says about itself without code, as JSON and back: dims, parameters, and the inputs
/// and outputs of its programs, with what their inputs hold.
struct InputCheck {
    std::string program, input, holds, limit;  // holds: ids or lengths; limit: an extent's text
};
runtime::Json model_json(const runtime::Model& model, const std::vector<InputCheck>& checks);
runtime::Model read_model(const runtime::Json& json);

/// {"dim": size, …} and back.
runtime::Json dims_json(const runtime::DimValues& dims);
runtime::DimValues read_dims(const runtime::Json& json);

/// A tensor of a case: [dtype, shape, path]. Its bytes lie in a file that other cases share.
struct CaseTensor {
    std::string name;
    runtime::DType dtype = runtime::DType::f32;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;

    /// Copies the tensor to `address`, which has room for `elements` of `type`; UserError where it
    /// is another.
    void copy_to(void* address, runtime::DType type, std::size_t elements) const;
};
runtime::DType dtype_of(const std::string& name);

class CaseFile {
  public:
    /// Reads cases/`number`.json under `folder`. UserError where the bundle lacks it.
    CaseFile(std::filesystem::path folder, int number);

    const runtime::Json& operator[](std::string_view key) const { return at(json_, key); }
    const runtime::Json* find(std::string_view key) const { return json_.find(key); }
    int number() const { return number_; }
    const std::string& text(std::string_view key) const { return at(json_, key).string(); }

    /// PTX by architecture, of {"sm_80": path, …}.
    std::map<std::string, std::string> ptx(const runtime::Json& paths) const;
    /// A tensor of the case; UserError where it has none of this name.
    CaseTensor tensor(const std::string& name) const;
    /// Another file of the bundle.
    runtime::Json read(const std::string& path) const;

  private:
    std::filesystem::path folder_;
    int number_;
    runtime::Json json_;
};

}  // namespace fovea::bundle
