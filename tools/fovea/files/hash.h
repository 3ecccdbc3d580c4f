// Names of files in the cache.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace fovea::tool {

/// FNV-1a over two start values, 128 bits in all.
class Hash {
  public:
    void add(const std::string& text) {
        for (unsigned char c : text + '\0')
            for (std::uint64_t& part : parts_) part = (part ^ c) * 1099511628211u;
    }
    /// Which file it is, as far as its time and its size say.
    void add_file(const std::filesystem::path& path) {
        std::error_code error;
        auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
        add(fmt::format("{} {} {}", path.string(), time, std::filesystem::file_size(path, error)));
    }
    std::string text() const { return fmt::format("{:016x}{:016x}", parts_[0], parts_[1]); }

  private:
    std::uint64_t parts_[2] = {1469598103934665603u, 88172645463325252u};
};

}  // namespace fovea::tool
