// Programs say whether they read padding.
#include "../../../runtime/translator/reads_padding.h"

#include <doctest/doctest.h>

#include "fake_model.h"

TEST_CASE("a model reads padding where one of its programs does") {
    fovea::runtime::Model model = fake::make_model();
    CHECK_FALSE(reads_padding(model));
    for (fovea::runtime::Program& program : model.programs)
        if (program.name == "prefill") program.reads_padding = true;
    CHECK(reads_padding(model));
}
