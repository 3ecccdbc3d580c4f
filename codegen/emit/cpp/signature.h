// The names in one emitted kernel: its function's parameters, loop variables and values.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/names.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/kernel.h"
#include "codegen/kernel/parameters.h"

namespace fovea::emit {

/// Whether `text` has `name` as a whole word.
bool mentions(const std::string& text, const std::string& name);

/// The C++ type of an element: float, i32, bool, bf16, f16.
std::string element_type(DType dtype);
/// What an argument of a kernel is for a buffer: `const float*`, `TableFloats`, or
/// `Weights<8, 32, 576>`.
std::string pointer_type(const kernel::Buffer& buffer);
/// Numbers of a group as such a weight lies in memory.
std::int64_t group_in_memory(const kernel::Buffer& buffer);

class Signature {
  public:
    explicit Signature(const kernel::Kernel& kernel);

    const std::string& buffer(int index) const { return buffers_[std::size_t(index)]; }
    /// `if (mean) ` before a store to an optional buffer; else nothing.
    std::string if_there(int buffer) const;
    /// The loop variable of an axis.
    const std::string& axis(kernel::AxisId axis) const { return axes_[std::size_t(axis)]; }
    /// The extent of an axis: a constant's name or an expression of symbols.
    const Expression& extent(kernel::AxisId axis) const { return extents_[std::size_t(axis)]; }
    const std::string& value(kernel::Id id) const { return values_[std::size_t(id)]; }
    /// A new name like `wanted`.
    std::string fresh(const std::string& wanted);

    /// The comment above the function, its head, and the constants that `body` mentions.
    void write_head(Writer& writer, const std::string& body) const;

  private:
    const kernel::Kernel& kernel_;
    std::set<std::string> taken_;
    std::vector<std::string> symbols_, buffers_, axes_, values_;
    std::vector<Expression> extents_;
    std::vector<std::pair<std::string, std::string>> constants_;  // names and values
};

}  // namespace fovea::emit
