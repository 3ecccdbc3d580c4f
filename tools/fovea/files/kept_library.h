// Libraries of the cache that are found again as long as the files that they were made of stay.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/fovea/files/hash.h"

namespace fovea::tool {

class KeptLibrary {
  public:
    /// Of `key`, all that the library depends on beside those files: its making begins now.
    explicit KeptLibrary(const Hash& key);

    struct Found {
        std::filesystem::path library;
        std::vector<std::string> files;  // that it was made of
    };
    /// None where it was not kept, or a file is another one since, by its time and size.
    std::optional<Found> find() const;
    /// Keeps it, unless one of the files changed since the making began.
    void keep(const std::filesystem::path& library, const std::vector<std::string>& files) const;

  private:
    std::filesystem::path list() const;
    std::filesystem::path library_of(const std::vector<std::string>& files) const;

    Hash key_;
    std::filesystem::path folder_;  // empty: there is no cache
    std::filesystem::file_time_type begun_;
};

}  // namespace fovea::tool
