// The kernels of *.ptx in this folder: their results under every schedule against plain arithmetic,
// and that no barrier or wait of theirs can be left out unnoticed.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <regex>
#include <sstream>

#include "codegen/ptx/instructions/half.h"
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

float number(std::size_t i) { return float(std::sin(double(i) * 1.3) * (1 + double(i % 5))); }

std::vector<std::uint16_t> bf16_numbers(std::size_t count, std::size_t seed) {
    std::vector<std::uint16_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = to_bf16(number(i * 7 + seed));
    return values;
}

/// Runs the module's kernel on data of its own; the largest error of the results.
using Run = std::function<double(const Module&, const Schedule&)>;

double matmul_error(const Module& module, const Schedule& schedule) {
    constexpr std::uint32_t m = 64, n = 48, k = 80;
    const auto a = bf16_numbers(m * k, 1), b = bf16_numbers(k * n, 2);
    std::vector<float> c(m * n, NAN);
    Memory memory;
    const auto pa = memory.add(std::span(a)), pb = memory.add(std::span(b)),
               pc = memory.add(std::span(c));
    interpret(module, "matmul",
              {.grid = {n / 16, m / 32, 1},
               .block = {64, 1, 1},
               .arguments = {argument(pa), argument(pb), argument(pc), argument(n), argument(k)}},
              memory, schedule);
    double error = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::size_t l = 0; l < k; ++l)
                sum += double(from_bf16(a[i * k + l])) * from_bf16(b[l * n + j]);
            const double off = std::fabs(sum - c[i * n + j]);
            error = off <= error ? error : off;
        }
    return error;
}

double softmax_error(const Module& module, const Schedule& schedule) {
    constexpr std::uint32_t rows = 5, n = 300;
    const std::vector<std::uint32_t> lengths = {300, 1, 129, 77, 256};
    std::vector<float> x(rows * n), y(rows * n, NAN);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 20 * number(i);
    Memory memory;
    const auto px = memory.add(std::span<const float>(x)), py = memory.add(std::span(y)),
               pl = memory.add(std::span(lengths));
    interpret(module, "softmax",
              {.grid = {rows, 1, 1},
               .block = {128, 1, 1},
               .arguments = {argument(px), argument(py), argument(pl), argument(n)}},
              memory, schedule);
    double error = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        double largest = -1e30, sum = 0;
        for (std::size_t i = 0; i < lengths[row]; ++i) largest = std::fmax(largest, x[row * n + i]);
        for (std::size_t i = 0; i < lengths[row]; ++i) sum += std::exp(x[row * n + i] - largest);
        for (std::size_t i = 0; i < n; ++i) {
            const double wanted = i < lengths[row] ? std::exp(x[row * n + i] - largest) / sum : 0;
            const double off = std::fabs(wanted - y[row * n + i]);
            error = off <= error ? error : off;
        }
    }
    return error;
}

double ring_error(const Module& module, const Schedule& schedule) {
    constexpr std::uint32_t rows = 7;
    std::vector<std::uint32_t> x(rows * 32), y(rows);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::uint32_t(i * i % 1000);
    Memory memory;
    const auto px = memory.add(std::span<const std::uint32_t>(x)), py = memory.add(std::span(y));
    interpret(module, "ring",
              {.block = {64, 1, 1}, .arguments = {argument(px), argument(py), argument(rows)}},
              memory, schedule);
    double error = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < 32; ++i) sum += x[row * 32 + i];
        error += sum != y[row];
    }
    return error;
}

double wgmma_error(const Module& module, const Schedule& schedule) {
    constexpr std::uint32_t tiles = 5, k = 64 * tiles;
    const auto a = bf16_numbers(64 * k, 3), b = bf16_numbers(64 * k, 4);
    std::vector<float> c(64 * 64, NAN);
    Memory memory;
    const auto map = [&](const std::vector<std::uint16_t>& values) {
        return argument(encode({.address = memory.add(std::span(values)),
                                .rank = 2,
                                .element_bytes = 2,
                                .extents = {k, 64},
                                .strides = {2, 2 * k},
                                .box = {64, 64},
                                .swizzle = 128}));
    };
    const Argument ma = map(a), mb = map(b);
    const auto pc = memory.add(std::span(c));
    interpret(module, "product",
              {.block = {256, 1, 1},
               .dynamic_shared_bytes = 1024 + 2 * 16384,
               .arguments = {ma, mb, argument(pc), argument(tiles)}},
              memory, schedule);
    double error = 0;
    for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 64; ++j) {
            double sum = 0;
            for (std::size_t l = 0; l < k; ++l)
                sum += double(from_bf16(a[i * k + l])) * from_bf16(b[j * k + l]);
            const double off = std::fabs(sum - c[i * 64 + j]);
            error = off <= error ? error : off;
        }
    return error;
}

struct Kernel {
    const char* file;
    const char* target;
    Run run;
    double tolerance;
    /// The lines without which the kernel is wrong.
    const char* needed;
};

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> all = {
        {"matmul.ptx", "sm_80", matmul_error, 1e-3,
         "bar\\.sync|cp\\.async\\.wait_group|cp\\.async\\.commit_group"},
        {"softmax.ptx", "sm_80", softmax_error, 1e-6, "bar\\.sync"},
        {"ring.ptx", "sm_90", ring_error, 0,
         "bar\\.sync|bar\\.warp|mbarrier\\.(init|arrive)|bra WAIT"},
        {"wgmma.ptx", "sm_90a", wgmma_error, 1e-3,
         "bar\\.sync|mbarrier\\.(init|arrive)|bra WAIT|wgmma\\.(fence|commit|wait)|cp\\.async"},
    };
    return all;
}

/// What goes wrong under some schedule, or nothing.
std::string noticed(const Kernel& kernel, const std::string& text) {
    for (const Schedule& schedule : schedules()) {
        try {
            const double error = kernel.run(parse(text), schedule);
            if (!(error <= kernel.tolerance)) return "error";
        } catch (const std::runtime_error& fault) {
            return fault.what();
        }
    }
    return "";
}

}  // namespace

TEST_CASE("kernels give the same as plain arithmetic under every schedule") {
    for (const Kernel& kernel : kernels()) {
        CAPTURE(kernel.file);
        const Module module = parse(file_text(kernel.file));
        for (const Schedule& schedule : schedules())
            CHECK(kernel.run(module, schedule) <= kernel.tolerance);
    }
}

TEST_CASE("a barrier or a wait that is left out is noticed") {
    for (const Kernel& kernel : kernels()) {
        std::vector<std::string> lines;
        std::istringstream stream(file_text(kernel.file));
        for (std::string line; std::getline(stream, line);) lines.push_back(line);
        int left_out = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (!std::regex_search(lines[i], std::regex(kernel.needed)) ||
                lines[i].starts_with("//"))
                continue;
            std::string text;
            for (std::size_t j = 0; j < lines.size(); ++j) text += (j == i ? "" : lines[j]) + "\n";
            CHECK_MESSAGE(noticed(kernel, text) != "",
                          kernel.file << ":" << i + 1 << " " << lines[i]);
            ++left_out;
        }
        CHECK(left_out >= 3);
    }
}

TEST_CASE("the kernels assemble") {
    if (std::system("command -v ptxas > /dev/null 2>&1") != 0) {
        MESSAGE("no ptxas: skipped");
        return;
    }
    const auto output = std::filesystem::temp_directory_path() / "fovea_ptx_test.cubin";
    std::vector<std::pair<std::string, std::string>> files = {{"compiled.ptx", "sm_80"}};
    for (const Kernel& kernel : kernels()) files.push_back({kernel.file, kernel.target});
    for (const auto& [file, target] : files) {
        const std::string command = "ptxas -arch=" + target + " " + FOVEA_SOURCE_DIR +
                                    "/tests/ptx/" + file + " -o " + output.string() +
                                    " > /dev/null 2>&1";
        CHECK_MESSAGE(std::system(command.c_str()) == 0, file);
    }
    std::filesystem::remove(output);
}

}  // namespace fovea::ptx::test
