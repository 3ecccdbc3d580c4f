// `fovea doctor` says what is broken, and what to do.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/run_fovea.h"

using fovea::test::run_fovea;
using fovea::tool::ProcessResult;
using fovea::tool::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

/// What `doctor --json` says of one thing; no object where it says nothing.
struct Report {
    nlohmann::json json;
    int status;

    explicit Report(const std::vector<std::string>& environment = {}) {
        const ProcessResult result = run_fovea({"doctor", "--json"}, environment);
        CAPTURE(result.output);
        json = nlohmann::json::parse(result.output);
        status = result.status;
        CHECK(json["ready"] == (status == 0));
    }
    std::string of(const std::string& what, const std::string& key) const {
        for (const auto& finding : json["findings"])
            if (finding["what"] == what) return finding[key];
        return "nothing";
    }
};

std::string program(const fs::path& file, const std::string& lines) {
    std::ofstream(file) << "#!/bin/sh\n" << lines;
    fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
    return file.string();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("where all is there, doctor says so") {
    const ProcessResult result = run_fovea({"doctor"});
    CAPTURE(result.output);
    CHECK(result.status == 0);
    CHECK(result.output.ends_with("\nmodels build and run here\n"));
    const Report report;
    CHECK(report.status == 0);
    for (const char* what : {"command", "sources", "compiler", "models", "instruction sets",
                             "cores", "memory", "temporary files", "cache"}) {
        CAPTURE(what);
        CHECK(report.of(what, "state") == "ok");
        CHECK(report.of(what, "advice") == "");
        CHECK(contains(result.output, what));
    }
    for (const char* what : {"PTX", "ptxas", "GPU"})
        CHECK((report.of(what, "state") == "ok") == report.of(what, "advice").empty());
}

TEST_CASE("a compiler that is missing, that fails, or that knows no OpenMP") {
    TemporaryFolder folder;
    const Report missing({"CXX=nope++"});
    CHECK(missing.status == 1);
    CHECK(missing.of("compiler", "state") == "missing");
    CHECK(missing.of("compiler", "found") == "no C++ compiler found: CXX is 'nope++'");
    CHECK(contains(missing.of("compiler", "advice"), "apt install g++"));
    CHECK(missing.of("models", "state") == "nothing");

    const Report none({"-u", "CXX", "PATH=" + folder.path().string()});
    CHECK(none.status == 1);
    CHECK(contains(none.of("compiler", "found"), "no C++ compiler found"));

    const Report broken({"CXX=" + program(folder.path() / "broken++", "exit 4\n")});
    CHECK(broken.status == 1);
    CHECK(contains(broken.of("compiler", "found"),
                   "cannot compile C++20 with OpenMP: exit status 4"));

    const Report old({"CXX=" + program(folder.path() / "old++",
                                       "echo 'old++: error: unrecognized -fopenmp'; exit 1\n")});
    CHECK(contains(old.of("compiler", "found"), "error: unrecognized -fopenmp"));
}

TEST_CASE("a compiler of the other kind builds, and does not verify") {
    TemporaryFolder folder;
#if defined(__clang__)
    const std::string says = "nothing";
#else
    const std::string says = "__clang__";
#endif
    const Report report({"CXX=" + program(folder.path() / "other++",
                                          "for word; do [ \"$word\" = -dM ] && echo '#define " +
                                              says + " 1' && exit\ndone\nexec g++ \"$@\"\n")});
    CHECK(report.status == 0);
    CHECK(report.of("compiler", "state") == "ok");
    CHECK(report.of("loaded code", "state") == "absent");
    CHECK(contains(report.of("loaded code", "found"), "two OpenMP libraries"));
    CHECK(contains(report.of("loaded code", "advice"), "unset CXX"));
}

TEST_CASE("sources that are elsewhere, or have no archive") {
    TemporaryFolder folder;
    const std::string home = folder.path().string();
    const Report wrong({"FOVEA_HOME=" + home});
    CHECK(wrong.status == 1);
    CHECK(wrong.of("sources", "state") == "missing");
    CHECK(wrong.of("sources", "found") == "FOVEA_HOME is '" + home + "', which has no dsl/fovea.h");
    CHECK(contains(wrong.of("sources", "advice"), "unset FOVEA_HOME"));
    CHECK(wrong.of("compiler", "state") == "ok");
    CHECK(wrong.of("models", "state") == "nothing");

    fs::create_directory_symlink(FOVEA_SOURCE_DIR "/dsl", folder.path() / "dsl");
    const Report half({"FOVEA_HOME=" + home});
    CHECK(half.status == 1);
    CHECK(contains(half.of("sources", "found"), "libfovea_runtime.a', which programs link"));
}

TEST_CASE("folders that cannot be written") {
    TemporaryFolder folder;
    std::ofstream(folder.path() / "file") << "no folder";
    const std::string cache = (folder.path() / "file").string();
    const Report uncached({"XDG_CACHE_HOME=" + cache});
    CHECK(uncached.status == 0);
    CHECK(uncached.of("cache", "state") == "absent");
    CHECK(uncached.of("cache", "found") == "'" + cache + "/fovea' cannot be written");
    CHECK(contains(uncached.of("cache", "advice"), "XDG_CACHE_HOME"));
    CHECK(Report({"-u", "XDG_CACHE_HOME", "-u", "HOME"}).of("cache", "found") ==
          "neither XDG_CACHE_HOME nor HOME is set");

    const Report without({"TMPDIR=/no/such/folder"});
    CHECK(without.status == 1);
    CHECK(without.of("temporary files", "state") == "missing");
    CHECK(contains(without.of("temporary files", "found"), "TMPDIR is '/no/such/folder'"));
}
