// A folder for the files of one test, removed with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace fovea::test {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "fovea-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::size_t file_count() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) {
            count += entry.exists() ? 1 : 0;
        }
        return count;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace fovea::test
