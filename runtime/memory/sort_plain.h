// Sorting by the C library, whose one function sorts all types: std::sort is written anew for each,
// some kilobytes of code.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <vector>

namespace fovea::runtime {

/// Sorts numbers, pointers and structs of them. `Less`, a lambda without captures, leaves no two
/// elements equal whose order matters.
template <class T, class Less>
void sort_plain(std::vector<T>& items, Less) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_empty_v<Less>);
    if (items.empty()) return;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the size of an element, a pointer or not
    std::qsort(static_cast<void*>(items.data()), items.size(), sizeof(T),
               [](const void* a, const void* b) {
                   const T &one = *static_cast<const T*>(a), &other = *static_cast<const T*>(b);
                   return Less{}(one, other) ? -1 : Less{}(other, one) ? 1 : 0;
               });
}

}  // namespace fovea::runtime
