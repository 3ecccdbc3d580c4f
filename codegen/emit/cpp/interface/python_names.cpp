// The names that Python and generated packages have for themselves.
#include "codegen/emit/cpp/interface/python_names.h"

#include <algorithm>
#include <string_view>

namespace fovea::emit {
namespace {

constexpr std::string_view kPythonKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/// Modules of Python itself, whose place a package beside a script would take.
constexpr std::string_view kPythonModules[] = {"abc",
                                               "aifc",
                                               "annotationlib",
                                               "antigravity",
                                               "argparse",
                                               "array",
                                               "ast",
                                               "asynchat",
                                               "asyncio",
                                               "asyncore",
                                               "atexit",
                                               "audioop",
                                               "base64",
                                               "bdb",
                                               "binascii",
                                               "binhex",
                                               "bisect",
                                               "builtins",
                                               "bz2",
                                               "cProfile",
                                               "calendar",
                                               "cgi",
                                               "cgitb",
                                               "chunk",
                                               "cmath",
                                               "cmd",
                                               "code",
                                               "codecs",
                                               "codeop",
                                               "collections",
                                               "colorsys",
                                               "compileall",
                                               "compression",
                                               "concurrent",
                                               "configparser",
                                               "contextlib",
                                               "contextvars",
                                               "copy",
                                               "copyreg",
                                               "crypt",
                                               "csv",
                                               "ctypes",
                                               "curses",
                                               "dataclasses",
                                               "datetime",
                                               "dbm",
                                               "decimal",
                                               "difflib",
                                               "dis",
                                               "distutils",
                                               "doctest",
                                               "email",
                                               "encodings",
                                               "ensurepip",
                                               "enum",
                                               "errno",
                                               "faulthandler",
                                               "fcntl",
                                               "filecmp",
                                               "fileinput",
                                               "fnmatch",
                                               "formatter",
                                               "fractions",
                                               "ftplib",
                                               "functools",
                                               "gc",
                                               "genericpath",
                                               "getopt",
                                               "getpass",
                                               "gettext",
                                               "glob",
                                               "graphlib",
                                               "grp",
                                               "gzip",
                                               "hashlib",
                                               "heapq",
                                               "hmac",
                                               "html",
                                               "http",
                                               "idlelib",
                                               "imaplib",
                                               "imghdr",
                                               "imp",
                                               "importlib",
                                               "inspect",
                                               "io",
                                               "ipaddress",
                                               "itertools",
                                               "json",
                                               "keyword",
                                               "lib2to3",
                                               "linecache",
                                               "locale",
                                               "logging",
                                               "lzma",
                                               "macpath",
                                               "mailbox",
                                               "mailcap",
                                               "marshal",
                                               "math",
                                               "mimetypes",
                                               "mmap",
                                               "modulefinder",
                                               "msilib",
                                               "msvcrt",
                                               "multiprocessing",
                                               "netrc",
                                               "nis",
                                               "nntplib",
                                               "nt",
                                               "ntpath",
                                               "nturl2path",
                                               "numbers",
                                               "opcode",
                                               "operator",
                                               "optparse",
                                               "os",
                                               "ossaudiodev",
                                               "parser",
                                               "pathlib",
                                               "pdb",
                                               "pickle",
                                               "pickletools",
                                               "pipes",
                                               "pkgutil",
                                               "platform",
                                               "plistlib",
                                               "poplib",
                                               "posix",
                                               "posixpath",
                                               "pprint",
                                               "profile",
                                               "pstats",
                                               "pty",
                                               "pwd",
                                               "py_compile",
                                               "pyclbr",
                                               "pydoc",
                                               "pydoc_data",
                                               "pyexpat",
                                               "queue",
                                               "quopri",
                                               "random",
                                               "re",
                                               "readline",
                                               "reprlib",
                                               "resource",
                                               "rlcompleter",
                                               "runpy",
                                               "sched",
                                               "secrets",
                                               "select",
                                               "selectors",
                                               "shelve",
                                               "shlex",
                                               "shutil",
                                               "signal",
                                               "site",
                                               "smtpd",
                                               "smtplib",
                                               "sndhdr",
                                               "socket",
                                               "socketserver",
                                               "spwd",
                                               "sqlite3",
                                               "sre_compile",
                                               "sre_constants",
                                               "sre_parse",
                                               "ssl",
                                               "stat",
                                               "statistics",
                                               "string",
                                               "stringprep",
                                               "struct",
                                               "subprocess",
                                               "sunau",
                                               "symbol",
                                               "symtable",
                                               "sys",
                                               "sysconfig",
                                               "syslog",
                                               "tabnanny",
                                               "tarfile",
                                               "telnetlib",
                                               "tempfile",
                                               "termios",
                                               "textwrap",
                                               "this",
                                               "threading",
                                               "time",
                                               "timeit",
                                               "tkinter",
                                               "token",
                                               "tokenize",
                                               "tomllib",
                                               "trace",
                                               "traceback",
                                               "tracemalloc",
                                               "tty",
                                               "turtle",
                                               "turtledemo",
                                               "types",
                                               "typing",
                                               "unicodedata",
                                               "unittest",
                                               "urllib",
                                               "uu",
                                               "uuid",
                                               "venv",
                                               "warnings",
                                               "wave",
                                               "weakref",
                                               "webbrowser",
                                               "winreg",
                                               "winsound",
                                               "wsgiref",
                                               "xdrlib",
                                               "xml",
                                               "xmlrpc",
                                               "zipapp",
                                               "zipfile",
                                               "zipimport",
                                               "zlib",
                                               "zoneinfo"};

/// What packages import, what that imports, and what installs them.
constexpr std::string_view kImportedPackages[] = {
    "filelock",          "fsspec", "functorch",  "jax",   "jaxlib",     "jinja2",    "markupsafe",
    "ml_dtypes",         "mpmath", "networkx",   "numpy", "opt_einsum", "packaging", "pip",
    "pkg_resources",     "scipy",  "setuptools", "sympy", "torch",      "torchgen",  "triton",
    "typing_extensions", "wheel"};

/// Arguments that methods have besides a program's inputs.
constexpr std::string_view kArguments[] = {"self", "sizes", "out",          "draw",
                                           "seed", "clip",  "learning_rate"};

bool has_name(const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != std::end(names);
}

bool is_kept_by_python(const std::string& name) {
    return has_name(kPythonKeywords, name) || has_name(kArguments, name);
}

/// No field of a named tuple starts with '_'.
std::string python_form(const std::string& name) {
    if (name[0] == '_') return "x" + name;
    return is_kept_by_python(name) ? name + "_" : name;
}

}  // namespace

std::optional<std::string> why_not_imported(const std::string& name) {
    if (has_name(kPythonKeywords, name)) return "a keyword of Python";
    if (has_name(kPythonModules, name)) return "a module of Python itself";
    if (has_name(kImportedPackages, name)) return "a package that this one imports or needs";
    return std::nullopt;
}

std::vector<std::string> python_names(const std::vector<std::string>& names,
                                      std::set<std::string> taken) {
    std::vector<std::string> result;
    for (const std::string& name : names)
        result.push_back(python_form(name) == name && taken.insert(name).second ? name : "");
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!result[i].empty()) continue;
        result[i] = python_form(names[i]);
        while (!taken.insert(result[i]).second) result[i] += "_";
    }
    return result;
}

}  // namespace fovea::emit
