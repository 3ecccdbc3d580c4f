// The main function of every test program. `--update` rewrites golden files instead of comparing.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstring>

#include "tests/golden.h"

namespace {
bool g_update = false;
}

bool fovea::test::updates_golden_files() { return g_update; }

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], "--update") == 0) g_update = true;
    doctest::Context context(argc, argv);
    return context.run();
}
