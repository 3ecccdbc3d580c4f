// Every op is defined: whatever is missing is named.
#include <doctest/doctest.h>

#include <set>

#include "codegen/graph/op_def.h"

using namespace fovea;

namespace {

bool is_given(Op op) {
    return op == Op::poison || op == Op::input || op == Op::parameter || op == Op::pair ||
           op == Op::step || op == Op::scan;  // a scan holds its step, which is run by itself
}

/// Ops through which no gradient flows.
const std::set<Op> kWithoutGradient{Op::constant, Op::extent, Op::iota, Op::random, Op::sinusoids};

}  // namespace

TEST_CASE("the list of definitions is in the order of the ops") {
    REQUIRE(op_defs().size() == std::size(kOps));
    for (std::size_t i = 0; i < op_defs().size(); ++i) CHECK(op_defs()[i].op == Op(i));
}

TEST_CASE("every op has a reference or a body, and a gradient unless none flows") {
    for (const OpDef& def : op_defs()) {
        INFO("op ", row_of(def.op).name);
        OpClass op_class = row_of(def.op).op_class;
        bool composite = op_class == OpClass::composite || op_class == OpClass::attention ||
                         op_class == OpClass::loss;
        CHECK((def.reference != nullptr) == (!composite && !is_given(def.op)));
        CHECK((def.expand != nullptr) == composite);
        bool gradient_of_body = composite;
        if (!is_given(def.op) && !gradient_of_body)
            CHECK((def.gradient != nullptr) == !kWithoutGradient.contains(def.op));
    }
}
