#include "codegen/emit/cpp/rows/pass_body.h"

namespace fovea::emit {

using namespace kernel;

void write_pass_body(const Kernel& kernel, const Pass& pass, const KeptAt& kept_at,
                     const AddToPart& add_to_part, Signature& signature, Writer& writer,
                     Values& values, RowAccumulators& accumulators) {
    for (Id id : pass.loaded) {
        writer.line("const floats " + signature.value(id) + " = load(" + kept_at(id) + ");");
        values.define_as(id, signature.value(id));
    }
    std::vector<Id> roots = pass.reduces;
    roots.insert(roots.end(), pass.sums.begin(), pass.sums.end());
    roots.insert(roots.end(), pass.stores.begin(), pass.stores.end());
    const std::vector<Id> defined =
        values.define_shared(pass.values, roots, std::set<Id>(pass.kept.begin(), pass.kept.end()));
    for (Id id : pass.kept)
        writer.line("store(" + kept_at(id) + ", " + values.value(id).text + ");");
    for (Id id : pass.reduces) accumulators.add(id);
    for (Id id : pass.sums) add_to_part(id);
    for (Id id : pass.stores) values.write_store(*as<Store>(kernel, id));
    for (Id id : defined) values.forget(id);
    for (Id id : pass.loaded) values.forget(id);
}

}  // namespace fovea::emit
