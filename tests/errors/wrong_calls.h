// Calls that the language refuses, and what is checked of each.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <fovea.h>

namespace fovea::test {

/// What wrong calls are made of.
struct Given {
    Scope s;
    Tensor x = s.input("x", {"batch", 6, 4});           // f32
    Tensor m = s.input("m", {"batch", "len"});          // f32
    Tensor v = s.input("v", {4}), one = s.input("one", {});
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor seen = eq(ids, 0);                           // bool
    Tensor six = s.input("six", {1, 2, 3, 4, 5, 6});
    Tensor empty{};
};

struct WrongCall {
    const char* name;   // of the function, as the message has it
    const char* sizes;  // that the message has, too
    void (*call)(Given&);
};

/// Each throws a sentence that has its name and sizes, and starts with a line of `file`, where the
/// calls are written.
void check_calls(const std::string& file, const std::vector<WrongCall>& calls);

}  // namespace fovea::test
