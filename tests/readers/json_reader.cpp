// JSON texts: what is read is written so that it reads back the same.
#include "runtime/error.cpp"
#include "runtime/files/json.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/parse_json.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::runtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accepts<UserError>([&] {
        const Json json = parse_json(text_of(data, size));
        require(parse_json(json.text()) == json, "text() reads back differently");
        require(parse_json(json.pretty_text()) == json, "pretty_text() reads back differently");
    });
    return 0;
}
