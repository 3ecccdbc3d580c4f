// The one table of names that generated code must not give to what users name.
#include "codegen/emit/cpp/names.h"

#include <algorithm>
#include <cctype>

namespace fovea::emit {
namespace {

constexpr std::string_view kKeywords[] = {
    "alignas",   "alignof",   "and",       "and_eq",        "asm",         "auto",
    "bitand",    "bitor",     "bool",      "break",         "case",        "catch",
    "char",      "char16_t",  "char32_t",  "char8_t",       "class",       "co_await",
    "co_return", "co_yield",  "compl",     "concept",       "const",       "const_cast",
    "consteval", "constexpr", "constinit", "continue",      "decltype",    "default",
    "delete",    "do",        "double",    "dynamic_cast",  "else",        "enum",
    "explicit",  "export",    "extern",    "false",         "float",       "for",
    "friend",    "goto",      "if",        "inline",        "int",         "long",
    "mutable",   "namespace", "new",       "noexcept",      "not",         "not_eq",
    "nullptr",   "operator",  "or",        "or_eq",         "private",     "protected",
    "public",    "register",  "requires",  "return",        "short",       "reinterpret_cast",
    "signed",    "sizeof",    "static",    "static_assert", "static_cast", "struct",
    "switch",    "template",  "this",      "thread_local",  "throw",       "true",
    "try",       "typedef",   "typeid",    "typename",      "typeof",      "union",
    "unsigned",  "using",     "virtual",   "void",          "volatile",    "wchar_t",
    "while",     "xor",       "xor_eq"};

/// Macros of system headers in small letters; those in capitals are told by their letters.
constexpr std::string_view kMacros[] = {
    "alloca", "assert", "errno",  "i386", "linux",  "major",   "makedev", "minor",   "offsetof",
    "stderr", "stdin",  "stdout", "unix", "va_arg", "va_copy", "va_end",  "va_start"};

/// Names of the runtime and of the emitted skeletons that kernels use.
constexpr std::string_view kRuntime[] = {"abs",
                                         "across",
                                         "add_to",
                                         "atan2",
                                         "beside",
                                         "bf16",
                                         "block_of",
                                         "bounds_of",
                                         "bytes",
                                         "cached_floats",
                                         "ceil",
                                         "contract",
                                         "contract_along",
                                         "contract_bfloat16",
                                         "contract_float16",
                                         "contract_in_place",
                                         "contract_quantized",
                                         "copy_pairs",
                                         "copy_row",
                                         "copy_tile",
                                         "copy_to_panel",
                                         "copy_transposed",
                                         "cos",
                                         "cos_scaled",
                                         "count_below",
                                         "count_in_tile",
                                         "cpu",
                                         "dealt_points",
                                         "divide_whole",
                                         "dropout",
                                         "dropout_columns",
                                         "dropout_lanes",
                                         "dropout_rows",
                                         "dropout_tile",
                                         "erf",
                                         "exp",
                                         "exp2",
                                         "exp_exponent",
                                         "exp_significand",
                                         "expm1",
                                         "f16",
                                         "fill_row",
                                         "fill_tile",
                                         "fills",
                                         "fits_tile",
                                         "fixed",
                                         "floats",
                                         "floats8",
                                         "floor",
                                         "for_columns",
                                         "for_each_vector",
                                         "for_edge_rows",
                                         "for_row_groups",
                                         "for_rows",
                                         "fovea",
                                         "from_lowest",
                                         "from_zero",
                                         "halves",
                                         "i32",
                                         "i64",
                                         "in_one_tile",
                                         "in_pairs",
                                         "ints",
                                         "iota",
                                         "is_first_thread",
                                         "joint_sums",
                                         "kAllRows",
                                         "kCachedFloats",
                                         "kLanes",
                                         "kLowest",
                                         "kLowestInteger",
                                         "kPackedFloats",
                                         "kWidenedFloats",
                                         "keep",
                                         "keep_each",
                                         "kept_each",
                                         "lane_bounds",
                                         "lanes",
                                         "lanes_at",
                                         "larger",
                                         "larger_across",
                                         "last_tile",
                                         "load",
                                         "load8",
                                         "load_each",
                                         "load_rows",
                                         "load_strided",
                                         "log",
                                         "log1p",
                                         "log2",
                                         "mask_to_floats",
                                         "mask_to_ints",
                                         "max",
                                         "max_across",
                                         "max_lanes",
                                         "max_rows",
                                         "maximum",
                                         "minimum",
                                         "multiply_add",
                                         "multiply_few_rows",
                                         "my_lanes",
                                         "my_points",
                                         "my_share",
                                         "narrow",
                                         "observe",
                                         "of_row",
                                         "pair_products",
                                         "paired",
                                         "panel",
                                         "positions_below",
                                         "pow",
                                         "prefetch",
                                         "products",
                                         "quantized_rows",
                                         "relu",
                                         "round",
                                         "rounded_to_bf16",
                                         "rounded_to_f16",
                                         "row_vectors",
                                         "rows_at_once",
                                         "rows_of",
                                         "rsqrt",
                                         "run_together",
                                         "runtime",
                                         "scratch",
                                         "seen_blocks",
                                         "select",
                                         "sigmoid",
                                         "sigmoid_of_exp",
                                         "sign",
                                         "sin",
                                         "sin_scaled",
                                         "splat",
                                         "splat8",
                                         "splat_mask",
                                         "sqrt",
                                         "std",
                                         "store",
                                         "store_each",
                                         "store_rows",
                                         "store_strided",
                                         "strip_of",
                                         "sum",
                                         "sum_across",
                                         "sum_lanes",
                                         "sum_parts",
                                         "sum_rows",
                                         "sum_seen",
                                         "sum_tile",
                                         "table_floats",
                                         "taken_points",
                                         "tanh",
                                         "tanh_of_exp",
                                         "tasks_at_once",
                                         "tensor",
                                         "tile_rows_at",
                                         "tiles_of",
                                         "to_bf16",
                                         "to_f16",
                                         "to_float",
                                         "to_floats",
                                         "to_i32",
                                         "transpose",
                                         "unbounded",
                                         "whole_lanes",
                                         "widen",
                                         "with_point",
                                         "words",
                                         "zeroed",
                                         "AddProduct",
                                         "Batch",
                                         "Bounds",
                                         "Call",
                                         "DropoutKey",
                                         "DropoutSite",
                                         "HalfOperand",
                                         "HalfPanels",
                                         "KeptSums",
                                         "Lanes",
                                         "Once",
                                         "Operand",
                                         "PairPanels",
                                         "Panel",
                                         "PanelOperand",
                                         "Panels",
                                         "Range",
                                         "Replicas",
                                         "RowValues",
                                         "SomeRows",
                                         "StoreProduct",
                                         "Sum",
                                         "TableFloats",
                                         "Team",
                                         "TeamMember",
                                         "Unseen",
                                         "Weights"};

/// What sizes must not be called besides: other parameters, and what programs call.
constexpr std::string_view kPrograms[] = {"alone",    "call", "finish", "key",
                                          "replicas", "rows", "site",   "team"};

constexpr std::string_view kHeaders[] = {
    "alloca",      "arm_neon",  "assert",  "byteswap",     "complex",  "cpuid",    "ctype",
    "dirent",      "dlfcn",     "elf",     "endian",       "errno",    "execinfo", "fcntl",
    "features",    "fenv",      "fovea",   "immintrin",    "inttypes", "iso646",   "libintl",
    "limits",      "link",      "locale",  "malloc",       "math",     "memory",   "omp",
    "poll",        "pthread",   "sched",   "semaphore",    "setjmp",   "signal",   "stdalign",
    "stdarg",      "stdatomic", "stdbool", "stddef",       "stdint",   "stdio",    "stdlib",
    "stdnoreturn", "string",    "strings", "termios",      "tgmath",   "threads",  "time",
    "uchar",       "unistd",    "values",  "wasm_simd128", "wchar",    "wctype",   "x86intrin"};

bool is_among(const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Capitals, digits and '_' alone, as macros are called: `M_PI`, `EOF`.
bool is_like_macro(std::string_view name) {
    if (name.starts_with("PRI") || name.starts_with("SCN")) return true;
    const auto is_of_macros = [](unsigned char c) { return std::islower(c) == 0; };
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    return name.size() > 1 && std::all_of(name.begin(), name.end(), is_of_macros) &&
           std::any_of(name.begin(), name.end(), is_letter);
}

bool is_taken_by_language(const std::string& name) {
    return is_among(kKeywords, name) || is_among(kMacros, name) || is_like_macro(name);
}

std::string fresh(std::set<std::string>& taken, std::string_view wanted,
                  bool (&is_refused)(const std::string&)) {
    std::string first = identifier(wanted);
    if (is_like_macro(first)) first += "_value";  // M_PI_2 is a macro, too
    std::string name = first;
    for (int i = 2; is_refused(name) || !taken.insert(name).second; ++i)
        name = first + "_" + std::to_string(i);
    return name;
}

}  // namespace

bool is_reserved(const std::string& name) {
    return is_taken_by_language(name) || is_among(kRuntime, name);
}

bool is_header(const std::string& name) { return is_among(kHeaders, name); }

std::string fresh_name(std::set<std::string>& taken, std::string_view wanted) {
    return fresh(taken, wanted, is_reserved);
}

std::string fresh_field(std::set<std::string>& taken, std::string_view wanted) {
    return fresh(taken, wanted, is_taken_by_language);
}

std::vector<std::string> fresh_fields(std::set<std::string>& taken,
                                      const std::vector<std::string>& wanted) {
    std::vector<std::string> fields;
    for (const std::string& name : wanted) {
        const bool is_field = identifier(name) == name && !is_taken_by_language(name);
        fields.push_back(is_field && taken.insert(name).second ? name : "");
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (fields[i].empty()) fields[i] = fresh_field(taken, wanted[i]);
    return fields;
}

const std::set<std::string>& names_of_programs() {
    static const std::set<std::string> names(std::begin(kPrograms), std::end(kPrograms));
    return names;
}

std::string dim_name(const std::string& symbol) {
    const std::string name = identifier(symbol);
    const bool is_taken = name != symbol || is_reserved(name) || is_among(kPrograms, name) ||
                          name.starts_with("site_") || name.ends_with("_dim");
    return is_taken ? name + "_dim" : name;
}

}  // namespace fovea::emit
