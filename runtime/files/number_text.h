// Numbers of float64 as text and back.
#pragma once

#include <string>
#include <string_view>

namespace fovea::runtime {

/// The shortest text that reads back the same; `value` is finite.
std::string number_text(double value);

/// The number at the start of `text`, without white space or a plus before it, and in `length` of
/// how many bytes it is: 0 where there is none, or float64 does not hold it.
double read_number(std::string_view text, std::size_t& length);

}  // namespace fovea::runtime
