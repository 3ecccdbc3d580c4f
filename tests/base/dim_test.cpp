// Sizes of tensors: their numbers, and what has none.
#include <doctest/doctest.h>

#include <limits>

#include "codegen/base/error.h"
#include "dsl/fovea.h"

using fovea::Dim;

namespace {

std::string refusal_of(const Dim& dim) {
    try {
        (void)dim.value();
    } catch (const fovea::UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a size has a number where it is known and whole") {
    static_assert((Dim(50) / Dim(5)).value() == 10);
    static_assert((Dim(50) / Dim(-1)).is_negative());
    CHECK_FALSE((Dim(std::numeric_limits<std::int64_t>::min()) / Dim(-1)).mistake() ==
                DimMistake::none);
    CHECK(Dim("hidden", 12).value() == 12);
    CHECK((Dim(2) - Dim(5)).value() == -3);
    CHECK((Dim(2) - Dim(5)).is_negative());
    CHECK_FALSE((Dim(50) / Dim(4)).is_negative());
    CHECK_FALSE((Dim(50) / Dim(4)).is_static());
    CHECK(refusal_of(Dim(50) / Dim(4)) == "value(): the size 50 / 4 is not a whole number");
    CHECK(refusal_of(Dim("len") * 2) ==
          "value(): the size 2*len is known only when the program runs");
}
