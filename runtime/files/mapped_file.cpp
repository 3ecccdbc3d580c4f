#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace fovea::runtime {

namespace {

MappedFile read_whole(const std::string& path) {
    auto owner = std::make_shared<const std::vector<std::byte>>(read_file(path));
    const Bytes bytes = *owner;
    return {bytes, std::move(owner), false};
}

}  // namespace

MappedFile map_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return read_whole(path);
    struct stat status{};
    const bool is_regular =
        ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    const auto size = static_cast<std::size_t>(is_regular ? status.st_size : 0);
    void* address =
        is_regular ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (address == MAP_FAILED) return read_whole(path);
    std::shared_ptr<const void> owner(
        address, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
    return {{static_cast<const std::byte*>(address), size}, std::move(owner), true};
}

}  // namespace fovea::runtime
