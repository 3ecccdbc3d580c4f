#include "runtime/decoding/exponentials.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace fovea::runtime;

TEST_CASE("exponentials of the numbers that softmax takes are right to float32's last digits") {
    std::vector<float> x;
    for (int i = 0; i <= 100000; ++i) x.push_back(kLeastExponent * float(i) / 100000);
    std::vector<float> y = x;
    take_exponentials(y);
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        largest = std::max(largest, std::abs(double(y[i]) / std::exp(double(x[i])) - 1));
    CHECK(largest < 3e-7);
    CHECK(y[0] == 1);
}

TEST_CASE("the largest value is found at every place") {
    for (std::size_t count = 1; count < 50; ++count)
        for (std::size_t at = 0; at < count; ++at) {
            std::vector<float> values(count, -3.F);
            values[at] = -2;
            CHECK(largest_of(values) == -2);
        }
}
