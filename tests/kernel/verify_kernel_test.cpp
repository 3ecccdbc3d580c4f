#include "codegen/kernel/verify_kernel.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "codegen/base/error.h"
#include "codegen/kernel/builder.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

/// The number of the first node that is a T.
template <class T>
Id first(const Kernel& kernel) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (as<T>(kernel, id)) return id;
    return -1;
}

struct Breakage {
    const char* says;
    std::function<Kernel()> start;
    std::function<void(Kernel&)> damage;
};

const Breakage kBreakages[] = {
    {"does not exist", small_softmax, [](Kernel& k) { k.body.push_back(99); }},
    {"is in no block", small_softmax,
     [](Kernel& k) { k.nodes.push_back({Constant{1}, {}, f32, ""}); }},
    {"is in two blocks", small_softmax,
     [](Kernel& k) { k.body.push_back(as<Loop>(k, k.body[0])->body[0]); }},
    {"which is not in scope", small_softmax,
     [](Kernel& k) { as<Reduce>(k, first<Reduce>(k))->operand = Id(k.nodes.size()) - 2; }},
    {"reads x, which need not be there", small_softmax,
     [](Kernel& k) { k.buffers[0].optional = true; }},
    {"adds to y, which need not be there", small_softmax,
     [](Kernel& k) {
         k.buffers[1].optional = true;
         as<Store>(k, first<Store>(k))->accumulate = true;
     }},
    {"has other axes", small_softmax, [](Kernel& k) { k.nodes[0].axes = {}; }},
    {"is declared i32 but is f32", small_softmax, [](Kernel& k) { k.nodes[0].dtype = i32; }},
    {"names axis 9, which does not exist", small_softmax,
     [](Kernel& k) { as<Load>(k, 0)->access.strides[0].axis = 9; }},
    {"has two strides along axis", small_softmax,
     [](Kernel& k) { as<Load>(k, 0)->access.strides[0].axis = 1; }},
    {"accesses buffer 7", small_softmax, [](Kernel& k) { as<Load>(k, 0)->access.buffer = 7; }},
    {"takes 1 operands, not 2", small_softmax,
     [](Kernel& k) { as<Map>(k, first<Map>(k))->function = Elementwise::exp; }},
    {"stores to y, which is only read", small_softmax,
     [](Kernel& k) { k.buffers[1].written = false; }},
    {"along which its access does not move", small_softmax,
     [](Kernel& k) { as<Store>(k, first<Store>(k))->access.strides.pop_back(); }},
    {"reduces no axis", small_softmax,
     [](Kernel& k) {
         k.nodes[std::size_t(first<Reduce>(k))].axes = {1};
         as<Reduce>(k, first<Reduce>(k))->axes = {};
     }},
    {"reduces axis row, which", small_softmax,
     [](Kernel& k) { as<Reduce>(k, first<Reduce>(k))->axes = {1, 0}; }},
    {"is a second loop over axis", small_dense,
     [](Kernel& k) {
         for (kernel::Node& node : k.nodes)
             if (auto loop = std::get_if<Loop>(&node.operation)) loop->axis = 1;
     }},
    {"outside its loop", small_dense,
     [](Kernel& k) {
         k.nodes.push_back({Index{1}, {1}, i32, ""});
         k.body.push_back(Id(k.nodes.size()) - 1);
     }},
    {"picks a row by a tile that is not i32", small_scatter,
     [](Kernel& k) {
         k.buffers[0].dtype = f32;
         for (kernel::Node& node : k.nodes)
             if (auto load = std::get_if<Load>(&node.operation))
                 if (load->access.buffer == 0) node.dtype = f32;
     }},
};

}  // namespace

TEST_CASE("every broken kernel is refused with its name and the node") {
    for (const Breakage& breakage : kBreakages) {
        CAPTURE(breakage.says);
        Kernel kernel = breakage.start();
        CHECK_NOTHROW(verify_kernel(kernel));
        breakage.damage(kernel);
        std::string text = "no exception";
        try {
            verify_kernel(kernel);
        } catch (const InternalError& error) {
            text = error.what();
        }
        CHECK_MESSAGE(text.find(breakage.says) != std::string::npos, text);
        CHECK_MESSAGE(text.find("kernel " + kernel.name + ": node ") == 0, text);
    }
}

TEST_CASE("conditions are booleans") {
    Builder b("select");
    const AxisId i = b.axis("i", "n");
    const int x = b.input("x", {"n"}), y = b.output("y", {"n"});
    const Id value = b.load(b.at(x, {i}));
    b.store(b.at(y, {i}), b.where(value, value, value));
    CHECK_THROWS_AS(b.finish(), InternalError);
}

TEST_CASE("the form of a kernel is that of its loops") {
    Builder b("copy");
    const AxisId i = b.axis("i", "n");
    const int x = b.input("x", {"n"}), y = b.output("y", {"n"});
    b.each(i, [&] { b.store(b.at(y, {i}), b.load(b.at(x, {i}))); });
    Kernel kernel = b.finish();
    CHECK(kernel.form == Form::rows);
    kernel.form = Form::scatter;
    CHECK_THROWS_WITH_AS(verify_kernel(kernel), "kernel copy: its loops are not those of its form",
                         InternalError);
}
