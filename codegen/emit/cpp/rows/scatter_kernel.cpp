// Scatter-add: each thread takes some columns and adds all rows to them, in order, so that equal
// ids never meet in two threads and the sum does not depend on the number of threads.
#include "codegen/base/error.h"
#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

using namespace kernel;

void write_scatter_kernel(const Kernel& kernel, const LoopNest& nest, Signature& signature,
                          Writer& writer) {
    if (!nest.each.empty())
        throw InternalError("kernel " + kernel.name +
                            ": a scatter is `par columns` over `seq` rows");
    const AxisId lane = nest.par.empty() ? -1 : nest.par.back();
    Values values(kernel, signature, writer);
    const std::string mine = signature.fresh("mine");
    values.place = {lane, lane >= 0 ? "lanes" : "", {}};
    if (lane >= 0) values.place.moving = {lane};
    if (lane < 0) {
        open_shared_loops({}, signature, writer);
    } else {
        writer.line("const Range " + mine + " = my_lanes(" + signature.extent(lane).text + ");");
    }
    // Columns that lie apart in memory are several axes: all but the last are loops around rows.
    std::vector<AxisId> loops = nest.par;
    if (lane >= 0) loops.pop_back();
    loops.insert(loops.end(), nest.seq.begin(), nest.seq.end());
    for (AxisId axis : loops) {
        const std::string& at = signature.axis(axis);
        writer.open("for (i64 " + at + " = 0; " + at + " < " + signature.extent(axis).text +
                    "; ++" + at + ")");
    }
    std::vector<Id> scalars, vectors, stores;
    for (Id id : nest.nodes)
        (as<Store>(kernel, id) ? stores : values.is_vector(id) ? vectors : scalars).push_back(id);
    for (Id id : scalars)
        if (!as<Constant>(kernel, id)) values.define(id);
    values.define_rows(nest.nodes);
    if (lane >= 0) {
        const std::string& at = signature.axis(lane);
        writer.open("for (i64 " + at + " = " + mine + ".begin; " + at + " < " + mine + ".end; " +
                    at + " += kLanes)");
        writer.line("const Lanes lanes = lanes_at(" + at + ", " + mine + ".end);");
    }
    values.define_shared(vectors, stores);
    for (Id id : stores) values.write_store(*as<Store>(kernel, id));
    writer.close();
    for (std::size_t i = 0; i < loops.size(); ++i) writer.close();
}

}  // namespace fovea::emit
