// Command lines, an argument a line: what is accepted has values of its kinds.
#include <cmath>

#include "runtime/error.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "runtime/options.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::runtime;

namespace {

Options declared(bool positional) {
    Options options("reader", "Reads options.", positional ? "[FILE…]" : "");
    options.add({.name = "verbose", .help = "says more", .short_name = 'v'});
    options.add({.name = "output",
                 .kind = OptionKind::text,
                 .value_name = "FILE",
                 .help = "there",
                 .repeated = true,
                 .short_name = 'o'});
    options.add({.name = "seed",
                 .kind = OptionKind::whole,
                 .value_name = "N",
                 .help = "a number",
                 .default_text = "0"});
    options.add({.name = "steps",
                 .kind = OptionKind::positive_whole,
                 .value_name = "N",
                 .help = "how many",
                 .default_text = "7",
                 .most = 1000});
    options.add({.name = "shift", .kind = OptionKind::number, .value_name = "X", .help = "any"});
    options.add({.name = "decay",
                 .kind = OptionKind::number_from_zero,
                 .value_name = "X",
                 .help = "from 0",
                 .default_text = "0.5"});
    options.add({.name = "rate",
                 .kind = OptionKind::positive_number,
                 .value_name = "X",
                 .help = "above 0",
                 .default_text = "1e-3"});
    options.add({.name = "dropout",
                 .kind = OptionKind::probability,
                 .value_name = "P",
                 .help = "a chance",
                 .default_text = "0.1"});
    return options;
}

void check(const Options& options) {
    options.flag("verbose");
    for (const std::string& file : options.all("output")) require(!file.empty(), "no text");
    require(options.integer("seed") >= 0, "seed");
    require(options.integer("steps") >= 1 && options.integer("steps") <= 1000, "steps");
    if (options.has("shift")) require(std::isfinite(float(options.number("shift"))), "shift");
    require(options.number("decay") >= 0 && std::isfinite(float(options.number("decay"))), "decay");
    require(float(options.number("rate")) > 0, "rate");
    require(options.number("dropout") >= 0 && options.number("dropout") < 1, "dropout");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> texts;
    for (const std::string_view line : lines_of(text_of(data, size))) texts.emplace_back(line);
    std::vector<const char*> arguments;
    for (const std::string& text : texts) arguments.push_back(text.c_str());
    for (const bool positional : {false, true})
        accepts<UserError>([&] {
            Options options = declared(positional);
            if (options.parse(arguments)) require(!options.help().empty(), "no help");
            else check(options);
            require(positional || options.positional().empty(), "a positional argument");
        });
    return 0;
}
