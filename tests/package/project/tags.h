// The tags that words have.
#pragma once

#include <fovea.h>

constexpr fovea::Dim kTags = {"tags", 5};
