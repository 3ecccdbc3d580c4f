// The bodies of emitted kernels, one function per form.
#pragma once

#include <optional>
#include <string>

#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/target/target.h"

namespace fovea::emit {

/// Points outside, passes over the inner axes: maps, reductions over lanes or over columns.
void write_row_kernel(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                      const target::CpuRows& target, Signature& signature, Writer& writer);
/// Panels of a register-tiled product with its epilogue.
void write_contraction_kernel(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                              const target::Target& target, Signature& signature, Writer& writer);
/// Rows added to a table, in order, each thread on its columns.
void write_scatter_kernel(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                          Signature& signature, Writer& writer);

/// A copy that transposes two axes, in squares of 16 x 16. Returns false, and writes nothing,
/// where the kernel is not one.
bool write_transpose_kernel(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                            Signature& signature, Writer& writer);

/// A copy of a matrix to panels of pairs of columns. Returns false, and writes nothing, where the
/// kernel is not one.
bool write_pairs_kernel(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                        Signature& signature, Writer& writer);

/// Why a kernel over tiles cannot be written, as a sentence without its end: "it has …". None: it
/// can.
std::optional<std::string> why_not_tile_kernel(const kernel::Kernel& kernel,
                                               const target::CpuTiles& target);
/// The whole function of such a kernel; InternalError for one that cannot be written.
std::string cpp_tile_kernel(const kernel::Kernel& kernel, const target::CpuTiles& target);

/// The functions of a scan: those of its steps, in a namespace of their own, and its loop.
std::string cpp_scan_kernel(const kernel::Kernel& kernel, const target::Target& target);

/// The whole function: comment, head and body.
std::string cpp_kernel(const kernel::Kernel& kernel, const target::Target& target);

}  // namespace fovea::emit
