// Convolutions beside PyTorch's, with a bias.
#include <fovea.h>
using namespace fovea;

constexpr void conv1d_256(Scope s) {
    Tensor x = s.input("x", {"batch", 256, 512});
    Tensor weight = s.input("weight", {256, 256, 3}), bias = s.input("bias", {256});
    s.output("y", conv1d(x, weight, bias, {.padding = 1}));
}
constexpr void conv2d_64(Scope s) {
    Tensor x = s.input("x", {"batch", 64, 56, 56});
    Tensor weight = s.input("weight", {64, 64, 3, 3}), bias = s.input("bias", {64});
    s.output("y", conv2d(x, weight, bias, {.padding = 1}));
}
constexpr void conv2d_6(Scope s) {
    Tensor x = s.input("x", {"batch", 6, 9, 11});
    Tensor weight = s.input("weight", {5, 6, 3, 3}), bias = s.input("bias", {5});
    s.output("y", conv2d(x, weight, bias, {.padding = 1}));
}
