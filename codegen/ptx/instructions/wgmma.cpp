// wgmma.mma_async: products of a warpgroup, from shared memory, that take effect at their wait.
// Each warp computes its 16 rows of the 64; the wait is one of all four warps, because the
// tensor cores have read shared memory only once they are done with all rows.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/asynchronous.h"
#include "codegen/ptx/instructions/fragments.h"
#include "codegen/ptx/tensor_map.h"

namespace fovea::ptx {
namespace {

/// What Op::immediate holds of an instruction.
struct Form {
    int columns = 0;
    Type type = Type::bf16;
    bool a_in_registers = false, transposes_a = false, transposes_b = false;
    bool negates_a = false, negates_b = false;

    int depth() const { return type == Type::tf32 ? 8 : 16; }
    std::uint32_t element() const { return type == Type::tf32 ? 4 : 2; }
    std::int64_t packed() const {
        return columns | int(type) << 9 | a_in_registers << 16 | transposes_a << 17 |
               transposes_b << 18 | negates_a << 19 | negates_b << 20;
    }
    static Form of(const Op& op) {
        const std::int64_t bits = op.immediate;
        return {int(bits & 511),      Type(bits >> 9 & 127), bool(bits >> 16 & 1),
                bool(bits >> 17 & 1), bool(bits >> 18 & 1),  bool(bits >> 19 & 1),
                bool(bits >> 20 & 1)};
    }
};

/// A descriptor of an operand in shared memory (PTX ISA, "Matrix Descriptor Format").
struct Descriptor {
    std::uint32_t start, leading, stride, swizzle;

    Descriptor(const Warp& warp, std::uint64_t bits)
        : start(std::uint32_t(bits & 0x3fff) << 4),
          leading(std::uint32_t(bits >> 16 & 0x3fff) << 4),
          stride(std::uint32_t(bits >> 32 & 0x3fff) << 4) {
        constexpr std::uint32_t kSwizzles[] = {0, 128, 64, 32};
        swizzle = kSwizzles[bits >> 62];
        if (!swizzle) warp.fail(FaultKind::unsupported, 0, "an operand of wgmma without a swizzle");
        if (bits >> 49 & 7)
            warp.fail(FaultKind::unsupported, 0, "an operand of wgmma with a base offset");
    }

    /// Where the element lies: `line` along the rows of A or the columns of B, `depth` along the
    /// sum. Rows of the swizzle's width run along the sum, or, transposed, along the lines.
    std::uint32_t at(int line, int depth, std::uint32_t element, bool transposed) const {
        const int across = int(swizzle / element);
        const std::uint32_t offset =
            transposed
                ? std::uint32_t(line / across) * leading + std::uint32_t(line % across) * element +
                      std::uint32_t(depth % 8) * swizzle + std::uint32_t(depth / 8) * stride
                : std::uint32_t(line / 8) * stride + std::uint32_t(line % 8) * swizzle +
                      std::uint32_t(depth) * element;
        return swizzled(start + offset, swizzle);
    }
};

/// Calls f(address, bytes) for the ranges of shared memory that hold lines [first, last): pieces of
/// 16 bytes, which no swizzle tears.
template <class F>
void for_pieces(const Descriptor& descriptor, const Form& form, int first, int last,
                bool transposed, F f) {
    const int per_piece = 16 / int(form.element());
    const int lines = transposed ? per_piece : 1, depths = transposed ? 1 : per_piece;
    for (int line = first; line < last; line += lines)
        for (int depth = 0; depth < form.depth(); depth += depths)
            f(descriptor.at(line, depth, form.element(), transposed), 16u);
}

int rows_before(const Warp& warp) { return warp.number % 4 * 16; }

/// Both operands' ranges: A's 16 rows of the warp, if it is in shared memory, and all of B.
template <class F>
void for_operands(Warp& warp, const Product& product, F f) {
    const Form form = Form::of(*product.op);
    if (!form.a_in_registers)
        for_pieces(Descriptor(warp, product.descriptors[0]), form, rows_before(warp),
                   rows_before(warp) + 16, form.transposes_a, f);
    for_pieces(Descriptor(warp, product.descriptors[1]), form, 0, form.columns, form.transposes_b,
               f);
}

/// The numbers of lines [first, last), with those distances between lines and along the sum.
void read_lines(Warp& warp, std::uint64_t bits, const Form& form, bool transposed, int first,
                int last, float* to, int line_stride, int depth_stride) {
    const Descriptor descriptor(warp, bits);
    const int per_piece = 16 / int(form.element());
    const int lines = transposed ? per_piece : 1, depths = transposed ? 1 : per_piece;
    const int step = transposed ? line_stride : depth_stride;
    for (int line = first; line < last; line += lines)
        for (int depth = 0; depth < form.depth(); depth += depths) {
            std::uint32_t words[4];
            const std::uint32_t at = descriptor.at(line, depth, form.element(), transposed);
            std::memcpy(words, warp.block.shared_memory.data() + at, sizeof words);
            float* piece = to + (line - first) * line_stride + depth * depth_stride;
            for (int i = 0; i < per_piece; ++i) {
                const int word = i * int(form.element()) / 4,
                          part = form.element() == 2 ? i % 2 : 0;
                piece[i * step] = read_number(words[word], part, form.type);
            }
        }
}

std::vector<float> read_a(Warp& warp, const Product& product, const Form& form) {
    const int depth = form.depth(), per = per_register(form.type);
    std::vector<float> a(std::size_t(16 * depth));
    if (!form.a_in_registers)
        read_lines(warp, product.descriptors[0], form, form.transposes_a, rows_before(warp),
                   rows_before(warp) + 16, a.data(), depth, 1);
    for (int number = 0; form.a_in_registers && number < 4; ++number)
        for (int lane = 0; lane < kLanes; ++lane)
            for (int part = 0; part < per; ++part) {
                const Element at = element_of_a(lane, number, part, per);
                const Slot& slot = product.op->source(form.columns / 2 + number);
                a[std::size_t(at.row * depth + at.column)] =
                    read_number(warp.lanes<std::uint32_t>(slot)[lane], part, form.type);
            }
    return a;
}

void execute(Warp& warp, Product& product) {
    const Form form = Form::of(*product.op);
    const int columns = form.columns, depth = form.depth();
    std::vector<float> a = read_a(warp, product, form);
    std::vector<float> b(std::size_t(depth * columns)), c(std::size_t(16 * columns));
    read_lines(warp, product.descriptors[1], form, form.transposes_b, 0, columns, b.data(), 1,
               columns);
    if (form.negates_a != form.negates_b)
        for (float& value : a) value = -value;
    if (product.accumulates)
        for (int i = 0; i < columns / 2; ++i)
            for (int lane = 0; lane < kLanes; ++lane) {
                const Element at = element_of_c(lane, i);
                c[std::size_t(at.row * columns + at.column)] =
                    warp.lanes<float>(product.op->result(i))[lane];
            }
    accumulate(a.data(), b.data(), c.data(), depth, columns);
    for (int i = 0; i < columns / 2; ++i)
        for (int lane = 0; lane < kLanes; ++lane) {
            const Element at = element_of_c(lane, i);
            warp.lanes<float>(product.op->result(i))[lane] =
                c[std::size_t(at.row * columns + at.column)];
        }
    product.executed = true;
}

/// Registers that the product uses must be defined, not in use by others, and written before the
/// last wgmma.fence.
void check_registers(Warp& warp, const Op& op, const Form& form, bool accumulates) {
    const auto check = [&](const Slot& slot, bool is_sum, bool is_read) {
        const Busy busy = warp.busy[slot.number];
        if (busy == Busy::written ? !is_sum : busy == Busy::read && is_sum)
            warp.fail(FaultKind::in_flight, 0,
                      "a register of this product is still in use by one that was not waited for");
        if (busy == Busy::written) return;
        if (is_read) warp.require_defined(slot, warp.live);
        if (!warp.fenced_at || warp.written_at[slot.number] > warp.fenced_at)
            warp.fail(FaultKind::in_flight, 0,
                      "wgmma without a wgmma.fence after its registers were written");
    };
    for (int i = 0; i < op.results; ++i) check(op.result(i), true, accumulates);
    if (form.a_in_registers)
        for (int i = 0; i < 4; ++i) check(op.source(form.columns / 2 + i), false, true);
}

/// Results: the sums. Sources: the sums, A's registers or descriptor, B's descriptor, whether the
/// sums start from what the registers hold.
void issue(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    if (mask != kAllLanes)
        warp.fail(FaultKind::divergent, 0, "wgmma in a warp without its 32 threads");
    const Form form = Form::of(op);
    const int after_sums = form.columns / 2, after_a = after_sums + (form.a_in_registers ? 4 : 1);
    for (int i = form.a_in_registers ? after_a : after_sums; i < op.sources; ++i)
        warp.require_defined(op.source(i), mask);
    Product product{&op, warp.product_groups, {}, false, false};
    if (!form.a_in_registers) product.descriptors[0] = warp.bits(op.source(after_sums), 0);
    product.descriptors[1] = warp.bits(op.source(after_a), 0);
    product.accumulates = warp.mask(op.source(after_a + 1)) & 1;
    check_registers(warp, op, form, product.accumulates);
    for_operands(warp, product, [&](std::uint32_t address, std::uint32_t bytes) {
        warp.block.begin_reads(warp, 0, address, bytes);
    });
    for (int i = 0; i < op.results; ++i) warp.busy[op.result(i).number] = Busy::written;
    if (form.a_in_registers)
        for (int i = 0; i < 4; ++i) warp.busy[op.source(after_sums + i).number] = Busy::read;
    if (warp.block.at_once()) execute(warp, product);
    warp.products.push_back(product);
}

void fence(Warp& warp, const Op&, Mask mask) {
    warp.require_whole(mask);
    warp.fenced_at = warp.executed;
}

void commit(Warp& warp, const Op&, Mask mask) {
    warp.require_whole(mask);
    ++warp.product_groups;
}

void wait(Warp& warp, const Op& op, Mask mask) {
    warp.require_whole(mask);
    const bool due =
        std::any_of(warp.products.begin(), warp.products.end(), [&](const Product& product) {
            return product.group + std::uint64_t(op.immediate) < warp.product_groups;
        });
    if (due) warp.state = State::at_products;
}

void decode_product(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    modifiers.ignore({"sync", "aligned"});
    Form form;
    const auto shape = modifiers.take_prefix("m64n");
    if (!shape) decoder.fail("wgmma without its shape");
    form.columns = std::atoi(shape->c_str());
    if (modifiers.type() != Type::f32) decoder.fail("wgmma with sums that are not f32");
    form.type = modifiers.type();
    const bool known = form.type == Type::bf16 || form.type == Type::f16 || form.type == Type::tf32;
    if (modifiers.type() != form.type || !known)
        decoder.fail("wgmma of these types is not interpreted");
    const std::string depth = shape->substr(shape->find('k') + 1);
    if (form.columns % 8 || form.columns < 8 || form.columns > 256 ||
        depth != std::to_string(form.depth()))
        decoder.fail(instruction.spelling() + " has no such shape");
    if (at.size() < 6) decoder.require(instruction, 6);
    form.a_in_registers = at[1].kind == Operand::Kind::list;
    form.negates_a = decoder.integer(at[4]) < 0;
    form.negates_b = decoder.integer(at[5]) < 0;
    // Operands of tf32 lie along the sum: there is nothing to say about it.
    if (form.a_in_registers && at.size() == 7 && form.type != Type::tf32) {
        form.transposes_b = decoder.integer(at[6]);
    } else if (!form.a_in_registers && at.size() == 8 && form.type != Type::tf32) {
        form.transposes_a = decoder.integer(at[6]);
        form.transposes_b = decoder.integer(at[7]);
    } else {
        decoder.require(instruction, 6);
    }
    const std::vector<Slot> sums = decoder.results(at[0], Type::f32);
    if (int(sums.size()) != form.columns / 2) decoder.fail("wgmma with another number of sums");
    std::vector<Slot> sources = sums;
    if (form.a_in_registers) {
        const std::vector<Slot> a = decoder.sources(at[1], Type::b32);
        if (a.size() != 4) decoder.fail("an operand A of wgmma has 4 registers");
        sources.insert(sources.end(), a.begin(), a.end());
    } else {
        sources.push_back(decoder.source(at[1], Type::b64));
    }
    sources.push_back(decoder.source(at[2], Type::b64));
    sources.push_back(decoder.predicate(at[3]));
    Op& op = decoder.emit(instruction, issue, sums, sources);
    op.check = Check::none;
    op.immediate = form.packed();
    decoder.use_wgmma();
}

void decode_wgmma(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    if (modifiers.take("mma_async")) return decode_product(decoder, instruction, modifiers);
    modifiers.ignore({"sync", "aligned"});
    if (modifiers.take("fence")) {
        decoder.emit(instruction, fence, {}, {});
    } else if (modifiers.take("commit_group")) {
        decoder.emit(instruction, commit, {}, {});
    } else if (modifiers.take("wait_group")) {
        decoder.require(instruction, 1);
        Op& op = decoder.emit(instruction, wait, {}, {});
        op.immediate = decoder.integer(instruction.operands[0]);
        op.flow = Flow::may_wait;
    }
    decoder.use_wgmma();
}

}  // namespace

/// Called when the four warps of the group wait; the wait of each is the instruction it is at.
void finish_products(Warp& warp) {
    Agent& cores = warp.block.tensor_cores[std::size_t(warp.number / 4)];
    std::vector<Product> kept;
    for (Product& product : warp.products) {
        if (product.group + std::uint64_t(warp.op->immediate) >= warp.product_groups) {
            kept.push_back(product);
            continue;
        }
        if (!product.executed) execute(warp, product);
        for_operands(warp, product, [&](std::uint32_t address, std::uint32_t bytes) {
            warp.block.end_reads(cores, kNoLane, address, bytes);
        });
        const Op& op = *product.op;
        for (int i = 0; i < op.sources; ++i) warp.busy[op.source(i).number] = Busy::no;
        for (int i = 0; i < op.results; ++i) warp.defined[op.result(i).number] = kAllLanes;
    }
    warp.products = std::move(kept);
    // Registers that later products still use.
    for (const Product& product : warp.products) {
        const Form form = Form::of(*product.op);
        for (int i = 0; i < product.op->results; ++i)
            warp.busy[product.op->result(i).number] = Busy::written;
        if (form.a_in_registers)
            for (int i = 0; i < 4; ++i)
                warp.busy[product.op->source(form.columns / 2 + i).number] = Busy::read;
    }
}

void add_wgmma(OpcodeTable& table) { table["wgmma"] = decode_wgmma; }

}  // namespace fovea::ptx
