// Command-line options: both spellings, checks, suggestions and help.
#include "runtime/options.h"

#include <doctest/doctest.h>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

Options parsed_options(std::string positional = {}) {
    Options options("translator train", "Trains.", std::move(positional));
    options
        .add({.name = "data",
              .kind = OptionKind::text,
              .value_name = "F",
              .help = "pairs",
              .required = true})
        .add({.name = "epochs",
              .kind = OptionKind::positive_whole,
              .value_name = "N",
              .help = "epochs",
              .default_text = "10",
              .most = 1000})
        .add({.name = "decay", .kind = OptionKind::number_from_zero, .value_name = "X"})
        .add({.name = "lr",
              .kind = OptionKind::positive_number,
              .value_name = "X",
              .help = "learning rate",
              .default_text = "0.005"})
        .add({.name = "shift", .kind = OptionKind::number, .value_name = "X", .help = "shift"})
        .add({.name = "dropout",
              .kind = OptionKind::probability,
              .value_name = "P",
              .help = "dropout",
              .default_text = "0"})
        .add({.name = "seed",
              .kind = OptionKind::whole,
              .value_name = "S",
              .help = "seed",
              .default_text = "1"})
        .add({.name = "set",
              .kind = OptionKind::text,
              .value_name = "NAME=V",
              .help = "setting",
              .repeated = true})
        .add({.name = "output",
              .kind = OptionKind::text,
              .value_name = "F",
              .help = "file",
              .short_name = 'o'})
        .add({.name = "resume", .help = "go on"});
    return options;
}

bool parse(Options& options, std::initializer_list<const char*> arguments) {
    const std::vector<const char*> list(arguments);
    return options.parse(list);
}

std::string complaint(std::initializer_list<const char*> arguments, std::string positional = {}) {
    Options options = parsed_options(std::move(positional));
    try {
        (void)parse(options, arguments);
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("options: both spellings, defaults, flags, repeated and short ones") {
    Options options = parsed_options("[FILE…]");
    CHECK_FALSE(parse(options, {"--data", "f.tsv", "--epochs=3", "--set", "a=1", "--set=b=2",
                                "--shift", "-2.5", "-o", "x", "one", "--resume", "--", "--two"}));
    CHECK(options.text("data") == "f.tsv");
    CHECK(options.integer("epochs") == 3);
    CHECK(options.number("lr") == 0.005);
    CHECK(options.number("shift") == -2.5);
    CHECK(options.all("set") == std::vector<std::string>{"a=1", "b=2"});
    CHECK(options.text("output") == "x");
    CHECK(options.flag("resume"));
    CHECK(options.positional() == std::vector<std::string>{"one", "--two"});
    CHECK_FALSE(options.given("lr"));
    CHECK(options.has("lr"));
    CHECK_THROWS_AS((void)options.text("nothing"), InternalError);
}

TEST_CASE("options: mistakes are sentences") {
    CHECK(complaint({"--data=f", "--epoch", "3"}) ==
          "unknown option '--epoch'; did you mean '--epochs'?");
    CHECK(complaint({"--data=f", "--quite-another", "3"}) ==
          "unknown option '--quite-another'; translator train --help lists them");
    CHECK(complaint({"--data=f", "-x"}) ==
          "unknown option '-x'; translator train --help lists them");
    CHECK(complaint({"--data=f", "--epochs", "0"}) ==
          "option '--epochs' expects a whole number from 1 to 1000, not '0'");
    CHECK(complaint({"--data=f", "--epochs", "3x"}) ==
          "option '--epochs' expects a whole number from 1 to 1000, not '3x'");
    CHECK(complaint({"--data=f", "--epochs="}) ==
          "option '--epochs' expects a whole number from 1 to 1000, not ''");
    CHECK(complaint({"--data=f", "--epochs", "99999999999999999999"}) ==
          "option '--epochs' expects a whole number from 1 to 1000, not '99999999999999999999'");
    CHECK(complaint({"--data=f", "--seed", "-1"}) ==
          "option '--seed' expects a whole number from 0 to 9223372036854775807, not '-1'");
    CHECK(complaint({"--data=f", "--lr", "nan"}) ==
          "option '--lr' expects a number from 1.2e-38 to 3.4e38, not 'nan'");
    CHECK(complaint({"--data=f", "--shift", "inf"}) ==
          "option '--shift' expects a number, at most 3.4e38 in magnitude, not 'inf'");
    CHECK(complaint({"--data=f", "--shift", "-1e39"}) ==
          "option '--shift' expects a number, at most 3.4e38 in magnitude, not '-1e39'");
    CHECK(complaint({"--data=f", "--lr", "1e-40"}) ==
          "option '--lr' expects a number from 1.2e-38 to 3.4e38, not '1e-40'");
    CHECK(complaint({"--data=f", "--lr", "1e39"}) ==
          "option '--lr' expects a number from 1.2e-38 to 3.4e38, not '1e39'");
    CHECK(complaint({"--data=f", "--decay", "-1"}) ==
          "option '--decay' expects a number from 0 to 3.4e38, not '-1'");
    CHECK(complaint({"--data=f", "--epochs", "1001"}) ==
          "option '--epochs' expects a whole number from 1 to 1000, not '1001'");
    CHECK(complaint({"--data=f", "--output="}) == "option '--output' needs a value, F");
    CHECK(complaint({"--data", ""}) == "option '--data' needs a value, F");
    CHECK(complaint({"--data=f", "--dropout", "1"}) ==
          "option '--dropout' expects a number from 0 and below 1, not '1'");
    CHECK(complaint({"--data=f", "--epochs"}) == "option '--epochs' needs a value, N");
    CHECK(complaint({"--data", "--epochs", "3"}) == "option '--data' needs a value, F");
    CHECK(complaint({"--data=f", "--resume=yes"}) == "option '--resume' takes no value");
    CHECK(complaint({"--data=f", "--data=g"}) ==
          "option '--data' is given twice, with 'f' and 'g'");
    CHECK(complaint({}) == "translator train needs the option '--data F'");
    CHECK(complaint({"--data=f", "extra"}) ==
          "unexpected argument 'extra'; translator train takes options only");
    CHECK(complaint({"--data=f", "extra", "", "-", "-3"}, "[FILE…]") == "accepted");
}

TEST_CASE("options: --help wins over what is missing") {
    Options options = parsed_options();
    CHECK(parse(options, {"--help"}));
    const std::string help = options.help();
    CHECK(help.starts_with("usage: translator train --data F [OPTIONS]\nTrains.\n"));
    CHECK(help.find("--epochs N") != std::string::npos);
    CHECK(help.find("epochs, at most 1000 (default 10)") != std::string::npos);
    CHECK(help.find("-o, --output F") != std::string::npos);
    CHECK(help.find("Examples") == std::string::npos);
    options.example("on pairs", "--data pairs.tsv").example("as it is", "");
    CHECK(options.help() == help +
                                "\nExamples:\n  on pairs\n      translator train --data pairs.tsv\n"
                                "  as it is\n      translator train\n");
}

TEST_CASE("nearest_name: few edits only, swaps count once, the first wins") {
    const std::vector<std::string> names = {"hidden", "heads", "layers", "bias"};
    CHECK(nearest_name("heads", names) == "heads");
    CHECK(nearest_name("haeds", names) == "heads");
    CHECK(nearest_name("layer", names) == "layers");
    CHECK(nearest_name("vocabulary", names).empty());
    CHECK(nearest_name("", names).empty());
    CHECK(nearest_name("lay", names) == "layers");  // its start
    CHECK(nearest_name("AdamW", std::vector<std::string>{"adam", "adamw"}) == "adamw");
    CHECK(suggestion("hiden", names) == "; did you mean 'hidden'?");
    CHECK(suggestion("zzzzzz", names).empty());
}

TEST_CASE("parse_number and parse_integer take the whole text") {
    CHECK(parse_integer("-12") == -12);
    CHECK_FALSE(parse_integer("1.0"));
    CHECK_FALSE(parse_integer(" 1"));
    CHECK(parse_number("1e-3") == 1e-3);
    CHECK_FALSE(parse_number("1e999"));
    CHECK_FALSE(parse_number("0x10"));
}
