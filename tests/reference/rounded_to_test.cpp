#include "codegen/reference/rounded_to.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace fovea;

TEST_CASE("bfloat16 keeps eight bits, and ties go to the even value") {
    CHECK(kBfloat16Format.nearest(1 + 0x1p-8) == 1);
    CHECK(kBfloat16Format.nearest(1 + 0x1.8p-7) == 1 + 0x1p-6);
    CHECK(kBfloat16Format.nearest(-3.14159) == -3.140625);
    CHECK(kBfloat16Format.spacing(-3.14159) == 0x1p-6);
}

TEST_CASE(
    "float16 keeps eleven bits above 2^-14, multiples of 2^-24 below, and has a largest value") {
    const NumberFormat& format = format_of(f16);
    CHECK(format.nearest(1 + 0x1p-11) == 1);
    CHECK(format.nearest(1 + 0x1.8p-10) == 1 + 0x1p-9);
    CHECK(format.nearest(-3.14159) == -3.140625);
    CHECK(format.nearest(0x1p-14 + 0x1p-25) == 0x1p-14);
    CHECK(format.nearest(0x1.8p-24) == 0x1p-23);
    CHECK(format.nearest(0x1p-25) == 0);
    CHECK(std::signbit(format.nearest(-0x1p-26)));
    CHECK(format.nearest(0x1.1p-25) == 0x1p-24);
    CHECK(format.nearest(65519.99) == 65504);
    CHECK(std::isinf(format.nearest(65520)));
    CHECK(format.nearest(-1e9) == -std::numeric_limits<double>::infinity());
    CHECK(format.spacing(1) == 0x1p-10);
    CHECK(format.spacing(0x1p-20) == 0x1p-24);
    CHECK(format.spacing(0) == 0x1p-24);
    CHECK(format.spacing(65504) == 32);
    CHECK(std::isinf(format.spacing(65505)));
    CHECK(&format_of(bf16) == &kBfloat16Format);
}

TEST_CASE("tf32 keeps eleven bits, and ties go away from zero") {
    CHECK(kTf32Format.nearest(1 + 0x1p-11) == 1 + 0x1p-10);
    CHECK(kTf32Format.nearest(-1 - 0x1p-11) == -1 - 0x1p-10);
    CHECK(kTf32Format.spacing(1.5) == 0x1p-10);
}

TEST_CASE("what is no number stays, and zero has no neighbours to become") {
    CHECK(std::isnan(kBfloat16Format.nearest(std::nan(""))));
    CHECK(std::isinf(kTf32Format.nearest(std::numeric_limits<double>::infinity())));
    CHECK(kBfloat16Format.spacing(0) == 0);
    CHECK(rounded_to(kBfloat16Format, {{2}, {1.001, 0}}).values == std::vector<double>{1, 0});
}
