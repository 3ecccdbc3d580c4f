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

/// A mapped file, as long as it is.
struct Mapping {
    Bytes bytes;
    std::string path;  // printable
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
std::shared_ptr<const void> owner_of(Bytes bytes, const std::string& path) {
    auto* const mapping = new Mapping{bytes, printable(path)};
    add(mapping);
    return {bytes.data(), [mapping](const void*) {
                remove(mapping);
                ::munmap(const_cast<std::byte*>(mapping->bytes.data()), mapping->bytes.size());
                delete mapping;
            }};
}

MappedFile read_whole(const std::string& path) {
    auto owner = std::make_shared<const std::vector<std::byte>>(read_file(path));
    const Bytes bytes = *owner;
    return {bytes, std::move(owner), false};
}

}  // namespace

MappedFile map_file(const std::string& path) {
    struct stat status{};
    // Whoever writes into a pipe loses what is written between two openings of it.
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return read_whole(path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return read_whole(path);
    const bool is_regular =
        ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    const auto size = static_cast<std::size_t>(is_regular ? status.st_size : 0);
    void* address =
        is_regular ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (address == MAP_FAILED) return read_whole(path);
    const Bytes bytes{static_cast<const std::byte*>(address), size};
    return {bytes, owner_of(bytes, path), true};
}

const char* path_of_mapped(const void* address) {
    const auto* const byte = static_cast<const std::byte*>(address);
    for (const Mapping* at = g_first; at; at = at->next)
        if (byte >= at->bytes.data() && byte < at->bytes.data() + at->bytes.size())
            return at->path.c_str();
    return nullptr;
}

}  // namespace fovea::runtime
