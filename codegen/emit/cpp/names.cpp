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
                                         "atan2",
                                         "bf16",
                                         "block_of",
                                         "bytes",
                                         "ceil",
                                         "contract",
                                         "contract_along",
                                         "contract_in_place",
                                         "cos",
                                         "cos_scaled",
                                         "count_below",
                                         "count_in_tile",
                                         "cpu",
                                         "dropout",
                                         "erf",
                                         "exp",
                                         "exp2",
                                         "exp_exponent",
                                         "exp_significand",
                                         "expm1",
                                         "f16",
                                         "fits_tile",
                                         "fixed",
                                         "floats",
                                         "floats8",
                                         "floor",
                                         "fovea",
                                         "halves",
                                         "i32",
                                         "i64",
                                         "in_one_tile",
                                         "ints",
                                         "iota",
                                         "is_first_thread",
                                         "joint_sums",
                                         "kLanes",
                                         "kLowest",
                                         "kLowestInteger",
                                         "keep",
                                         "keep_each",
                                         "kept_each",
                                         "lanes",
                                         "larger",
                                         "larger_across",
                                         "last_tile",
                                         "load",
                                         "load8",
                                         "load_each",
                                         "log",
                                         "log1p",
                                         "log2",
                                         "max",
                                         "max_across",
                                         "maximum",
                                         "minimum",
                                         "my_lanes",
                                         "my_points",
                                         "my_share",
                                         "narrow",
                                         "of_row",
                                         "panel",
                                         "pow",
                                         "relu",
                                         "round",
                                         "rounded_to_bf16",
                                         "rounded_to_f16",
                                         "row_vectors",
                                         "rows_at_once",
                                         "rsqrt",
                                         "runtime",
                                         "scratch",
                                         "select",
                                         "sigmoid",
                                         "sigmoid_of_exp",
                                         "sign",
                                         "sin",
                                         "sin_scaled",
                                         "splat",
                                         "splat8",
                                         "sqrt",
                                         "std",
                                         "store",
                                         "store_each",
                                         "strip_of",
                                         "sum",
                                         "sum_across",
                                         "taken_points",
                                         "tanh",
                                         "tanh_of_exp",
                                         "tasks_at_once",
                                         "tiles_of",
                                         "to_bf16",
                                         "to_f16",
                                         "to_float",
                                         "transpose",
                                         "widen",
                                         "with_point",
                                         "words",
                                         "Call",
                                         "KeptSums",
                                         "Lanes",
                                         "Operand",
                                         "Panel",
                                         "Panels",
                                         "Range",
                                         "RowValues",
                                         "SomeRows",
                                         "Sum",
                                         "Team",
                                         "TeamMember"};

/// What sizes must not be called besides: other parameters, and what programs call.
constexpr std::string_view kPrograms[] = {"call", "finish", "key",  "observe", "products",
                                          "rows", "site",   "team", "tensor"};

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
