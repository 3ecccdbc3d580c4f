// Each block computes a tile of its own; those with most work have the first numbers.
#include "codegen/emit/nvptx/block_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/module.h"
#include "codegen/kernel/parameters.h"
#include "codegen/ptx/interpret.h"
#include "codegen/target/target.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using emit::nvptx::BlockOrder;
using emit::nvptx::Function;
using kernel::Kernel;
using llvm::Value;

namespace {

constexpr int kTile = 128;

struct Place {
    int sequence, head, row;

    auto operator<=>(const Place&) const = default;
};

/// The axes of the points and of the rows.
BlockOrder order_of(const Kernel& kernel) {
    BlockOrder order{.rows = -1,
                     .tile_rows = kTile,
                     .points = {},
                     .cached_bytes = target::gpu_of("sm_80").cached_bytes};
    for (const kernel::Node& node : kernel.nodes) {
        const auto* loop = std::get_if<kernel::Loop>(&node.operation);
        if (!loop) continue;
        if (loop->kind == kernel::LoopKind::each) order.points.push_back(loop->axis);
        if (loop->kind == kernel::LoopKind::par) order.rows = loop->axis;
    }
    std::sort(order.points.begin(), order.points.end());
    return order;
}

/// The places of all blocks of a kernel with so many rows and columns, in the order of their
/// numbers: an entry that stores them to the first buffer that it writes.
std::vector<Place> places(const Kernel& kernel, std::int64_t batch, std::int64_t length) {
    const BlockOrder order = order_of(kernel);
    emit::nvptx::ModuleBuilder builder("test", {target::gpu_of("sm_80")});
    Function f(builder.module(), kernel, "places", 32);
    Value* row = place_block(f, order);
    const auto written = std::find_if(kernel.buffers.begin(), kernel.buffers.end(),
                                      [](const kernel::Buffer& one) { return one.written; });
    Value* to = f.buffer(int(written - kernel.buffers.begin()));
    int number = 0;
    for (Value* one : {f.position(order.points[0]), f.position(order.points[1]), row}) {
        Value* at = f.ir().CreateAdd(f.ir().CreateMul(f.block(), f.number(3)), f.number(number++));
        Value* narrow = f.ir().CreateTrunc(one, f.ir().getInt32Ty());
        f.when(f.ir().CreateICmpEQ(f.thread(), f.ir().getInt32(0)),
               [&] { f.ir().CreateStore(narrow, f.ir().CreateGEP(f.ir().getInt32Ty(), to, at)); });
    }
    f.finish();
    const auto blocks = std::size_t(batch * 2 * ((length + kTile - 1) / kTile));
    std::vector<Place> found(blocks);
    ptx::Memory memory;
    const std::uint64_t address = memory.add(std::as_writable_bytes(std::span(found)));
    ptx::Launch launch;
    launch.grid = {std::uint32_t(blocks), 1, 1}, launch.block = {32, 1, 1};
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
        launch.arguments.push_back(ptx::argument(address));
    for (const std::string& symbol : kernel::symbols_of(kernel))
        launch.arguments.push_back(ptx::argument(symbol == "batch" ? batch : length));
    ptx::interpret(ptx::parse(builder.finish()), "places", launch, memory);
    return found;
}

/// Attention whose keys are 256 bytes each. Lengths keep sequences apart from heads.
AttentionVariant variant(bool causal) {
    return attention_variant(causal ? "causal_padded" : "padded");
}

void check_visited_once(const std::vector<Place>& all, std::int64_t batch, std::int64_t length) {
    const std::set<Place> different(all.begin(), all.end());
    CHECK(different.size() == all.size());
    for (const Place& place : all) {
        CHECK((place.sequence >= 0 && place.sequence < batch));
        CHECK((place.head >= 0 && place.head < 2));
        CHECK((place.row >= 0 && place.row < length && place.row % kTile == 0));
    }
}

}  // namespace

TEST_CASE("blocks of causal attention start in the order of falling work") {
    const std::vector<Kernel> gradients = attention_gradients(variant(true));
    for (const auto& [kernel, rises] :
         {std::pair(attention_forward(variant(true)), true), std::pair(gradients[0], false),
          std::pair(gradients[1], true)}) {
        const std::vector<Place> all = places(kernel, 3, 1000);
        CHECK(all.size() == 3 * 2 * 8);
        check_visited_once(all, 3, 1000);
        CHECK(all[0].row == (rises ? 7 * kTile : 0));
        for (std::size_t i = 1; i < all.size(); ++i)
            CHECK((rises ? all[i].row <= all[i - 1].row : all[i].row >= all[i - 1].row));
    }
}

TEST_CASE("keys and values of the points whose blocks run together fit in the cache") {
    // Of 512 bytes for each of 10,000 positions three points have room in 16 MiB.
    const std::vector<Place> all = places(attention_forward(variant(true)), 4, 10'000);
    check_visited_once(all, 4, 10'000);
    const std::size_t tiles = 79, points = 3;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const bool starts_section = i % (tiles * points) == 0;
        CHECK((all[i].row > all[i - 1].row) == starts_section);
    }
    for (std::size_t first = 0; first < all.size(); first += tiles * points) {
        std::set<std::pair<int, int>> near;
        const std::size_t end = std::min(all.size(), first + tiles * points);
        for (std::size_t i = first; i < end; ++i) near.insert({all[i].sequence, all[i].head});
        CHECK(near.size() == std::min<std::size_t>(points, (all.size() - first) / tiles));
    }
}

TEST_CASE("blocks of one point follow each other where all have as much work") {
    const std::vector<Place> all = places(attention_forward(variant(false)), 2, 500);
    check_visited_once(all, 2, 500);
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(all[i] == Place{int(i) / 8, int(i) / 4 % 2, int(i) % 4 * kTile});
}
