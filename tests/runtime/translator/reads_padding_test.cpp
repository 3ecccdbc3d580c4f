// An encoder that is told no lengths reads padding.
#include "../../../runtime/translator/reads_padding.h"

#include <doctest/doctest.h>

#include "fake_model.h"

TEST_CASE("an encoder reads padding unless it is told lengths") {
    fovea::runtime::Model model = fake::make_model();
    CHECK_FALSE(reads_padding(model));
    for (fovea::runtime::Program& program : model.programs)
        if (program.name == "encode") program.inputs.pop_back();
    CHECK(reads_padding(model));
}
