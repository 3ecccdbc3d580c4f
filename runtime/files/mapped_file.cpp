#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "printable.h"

namespace fovea::runtime {

namespace {

/// A file that is mapped, and stays open for those who ask whether it is written to.
struct Mapping {
    Mapping(int opened, const struct stat& status, const std::string& name)
        : file(opened),
          size(static_cast<std::size_t>(status.st_size)),
          written(status.st_mtim),
          path(printable(name)) {}
    Mapping(const Mapping&) = delete;
    ~Mapping() {
        if (address != MAP_FAILED) ::munmap(address, size);
        ::close(file);
    }

    const int file;
    const std::size_t size;
    const timespec written;
    const std::string path;
    void* address = MAP_FAILED;
    std::atomic<Mapping*> next = nullptr;
};

std::mutex g_mutex;  // of who changes the list, which handlers of signals read
std::atomic<Mapping*> g_first = nullptr;

void add(Mapping* mapping) {
    const std::lock_guard lock(g_mutex);
    mapping->next = g_first.load();
    g_first = mapping;
}

void remove(const Mapping* mapping) {
    const std::lock_guard lock(g_mutex);
    std::atomic<Mapping*>* at = &g_first;
    while (at->load() != mapping) at = &at->load()->next;
    *at = mapping->next.load();
}

/// Keeps a mapping on the list until nobody wants its bytes.
std::shared_ptr<const void> owner_of(std::unique_ptr<Mapping> mapping) {
    add(mapping.get());
    return {mapping.release(), [](const void* owned) {
                const auto* const own = static_cast<const Mapping*>(owned);
                remove(own);
                delete own;
            }};
}

MappedFile read_whole(const std::string& path) {
    auto owner = std::make_shared<const std::vector<std::byte>>(read_file(path));
    const Bytes bytes = *owner;
    return {bytes, std::move(owner), false};
}

}  // namespace

bool was_written_to(const std::shared_ptr<const void>& owner) {
    const auto& mapping = *static_cast<const Mapping*>(owner.get());
    struct stat status{};
    return ::fstat(mapping.file, &status) != 0 ||
           static_cast<std::size_t>(status.st_size) != mapping.size ||
           status.st_mtim.tv_sec != mapping.written.tv_sec ||
           status.st_mtim.tv_nsec != mapping.written.tv_nsec;
}

MappedFile map_file(const std::string& path) {
    struct stat status{};
    // Whoever writes into a pipe loses what is written between two openings of it.
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return read_whole(path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return read_whole(path);
    if (::fstat(file, &status) != 0) status.st_size = 0;  // another file than before, perhaps
    auto mapping = std::make_unique<Mapping>(file, status, path);
    if (mapping->size > 0)
        mapping->address = ::mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapping->address == MAP_FAILED) return read_whole(path);
    const Bytes bytes{static_cast<const std::byte*>(mapping->address), mapping->size};
    return {bytes, owner_of(std::move(mapping)), true};
}

const char* path_of_mapped(const void* address) {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (const Mapping* at = g_first; at; at = at->next) {
        const auto* const first = static_cast<const std::byte*>(at->address);
        if (byte >= first && byte < first + at->size) return at->path.c_str();
    }
    return nullptr;
}

}  // namespace fovea::runtime
