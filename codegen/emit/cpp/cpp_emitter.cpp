// The C++ target behind the interface that targets share.
#include "codegen/emit/cpp/interface/interface.h"
#include "codegen/emit/cpp/model_text.h"
#include "codegen/emit/emitter.h"

namespace fovea::emit {
namespace {

class CppEmitter final : public Emitter {
  public:
    explicit CppEmitter(std::vector<std::string> isas) : isas_(std::move(isas)) {}
    std::string target() const override { return "cpp"; }
    std::vector<File> emit_model(const plan::Model& model) const override {
        const std::string name = model_identifier(model);
        return {{name + ".h", cpp_header(model)},
                {name + ".cpp", cpp_source(model, isas_)},
                {name + "_c.cpp", c_functions_text(interface_of(model))},
                {"CMakeLists.txt", cmake_text(model, isas_)}};
    }

  private:
    std::vector<std::string> isas_;
};

}  // namespace

std::unique_ptr<Emitter> make_cpp_emitter(std::vector<std::string> isas) {
    return std::make_unique<CppEmitter>(std::move(isas));
}

}  // namespace fovea::emit
