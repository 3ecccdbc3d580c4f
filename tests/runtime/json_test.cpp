// The strict JSON parser and the writer.
#include "runtime/files/json.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("json: values of every kind") {
    const Json json =
        parse_json(R"( {"a":[1,-2.5e3,true,false,null],"b":{"c":"x\n\u00e9\ud83d\ude00"}} )");
    CHECK(json.find("a")->array()[0].integer() == 1);
    CHECK(json.find("a")->array()[1].number() == -2500);
    CHECK(json.find("a")->array()[2].boolean());
    CHECK(json.find("a")->array()[4].is_null());
    CHECK(json.find("b")->find("c")->string() == "x\n\xc3\xa9\xf0\x9f\x98\x80");
    CHECK(json.find("d") == nullptr);
    CHECK(parse_json("9007199254740993").integer() == 9007199254740993);
    CHECK(parse_json("18446744073709551616").number() == 18446744073709551616.0);
    CHECK(parse_json("-0").integer() == 0);
    CHECK(parse_json("[]").array().empty());
    CHECK(parse_json("{}").object().empty());
}

TEST_CASE("json: what is written reads back the same") {
    Json json;
    json.set("pi", 3.141592653589793).set("n", 7).set("one", 1.0).set("tiny", 5e-324);
    json.set("text", "quote \" back \\ tab \t bell \x07 \xc3\xa9");
    json.set("list", Json::Array{Json(), Json(true), Json(Json::Array{})});
    json.set("n", 8);
    CHECK(parse_json(json.text()) == json);
    CHECK(parse_json(json.pretty_text()) == json);
    CHECK(Json(1.0).text() == "1.0");
    CHECK(Json("a\x01").text() == "\"a\\u0001\"");
    CHECK(Json(std::numeric_limits<double>::infinity()).text() == "null");
    CHECK(Json(Json::Array{Json(1), Json("b")}).text() == "[1,\"b\"]");
}

TEST_CASE("json: mistakes name their position") {
    const auto message = [](const std::string& text) -> std::string {
        try {
            (void)parse_json(text);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    };
    CHECK(message("") == "line 1, column 1: expected a value, found the end of the text");
    CHECK(message("{\n \"a\" 1}") == "line 2, column 6: expected ':', found '1'");
    CHECK(message("\xEF\xBB\xBF{}") ==
          "line 1, column 1: a byte order mark stands before the text: save it as UTF-8 without "
          "one");
    CHECK(message("[1,]") == "line 1, column 4: expected a value, found ']'");
    CHECK(message("[1 2]") == "line 1, column 4: expected ',' or ']', found '2'");
    CHECK(message("{\"a\":1,}") == "line 1, column 8: expected a key in quotes, found '}'");
    CHECK(message("{\"a\":1,\"a\":2}") ==
          "line 1, column 8: the key \"a\" stands twice in one object");
    CHECK(message("1 2") == "line 1, column 3: expected the end of the text, found '2'");
    CHECK(message("01") == "line 1, column 2: a number does not start with 0");
    CHECK(message("-") == "line 1, column 2: expected a digit, found the end of the text");
    CHECK(message("1.") == "line 1, column 3: expected a digit, found the end of the text");
    CHECK(message("1e999") == "line 1, column 1: a number that float64 does not hold");
    CHECK(message("+1") == "line 1, column 1: expected a value, found '+'");
    CHECK(message("nul") == "line 1, column 1: expected a value, found 'n'");
    CHECK(message("NaN") == "line 1, column 1: expected a value, found 'N'");
    CHECK(message("\"a") == "line 1, column 3: a string that does not end");
    CHECK(message("\"\\x\"") == "line 1, column 3: an unknown escape, \\ followed by 'x'");
    CHECK(message("\"\\u12g4\"") ==
          "line 1, column 6: expected four hexadecimal digits after \\u, found 'g'");
    CHECK(message("\"\\ud800\"") == "line 1, column 4: half of a surrogate pair");
    CHECK(message("\"\\udc00\"") == "line 1, column 4: half of a surrogate pair");
    CHECK(message("\"\\ud800\\u0041\"") == "line 1, column 4: half of a surrogate pair");
    CHECK(message("\"\n\"") == "line 1, column 2: a control character in a string: byte 0x0a");
    for (const char* bytes : {"\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                              "\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "\xc3", "\xf0\x9f\x98"}) {
        CHECK(message("\"" + std::string(bytes) + "\"").find("column 2: not UTF-8") !=
              std::string::npos);
    }
    CHECK(message(std::string(100, '[') + std::string(100, ']')) == "accepted");
    CHECK(message(std::string(102, '[')).find("nested deeper than 100") != std::string::npos);
    CHECK(message(std::string(1000000, '[')).find("nested deeper") != std::string::npos);
    CHECK(message(std::string("[\0]", 3)) == "line 1, column 2: expected a value, found byte 0x00");
}

TEST_CASE("json: asking for another kind is a mistake that names both") {
    CHECK_THROWS_WITH_AS(Json(1.5).integer(), "JSON: expected an integer, found number", UserError);
    CHECK_THROWS_WITH_AS(Json("x").array(), "JSON: expected an array, found string", UserError);
    CHECK_THROWS_AS(Json(1).set("a", 2), UserError);
}
