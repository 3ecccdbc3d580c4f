#include "tests/errors/wrong_calls.h"

namespace fovea::test {

void check_calls(const std::string& file, const std::vector<WrongCall>& calls) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CAPTURE(i);
        CAPTURE(calls[i].name);
        CAPTURE(calls[i].sizes);
        Graph graph;
        Given given{Scope{&graph}};
        std::string text = "nothing was thrown";
        try {
            calls[i].call(given);
        } catch (const UserError& error) {
            text = error.what();
        }
        CAPTURE(text);
        CHECK(text.starts_with(file + ":"));
        CHECK(text.find(calls[i].name) != text.npos);
        CHECK(text.find(calls[i].sizes) != text.npos);
    }
}

}  // namespace fovea::test
