// A growing array whose operations cost a compiler little: std::vector's, of libstdc++, take it ten
// steps for an element where these take two, and a compiler gives a model a limited number of them.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace fovea {

/// The part of std::vector that graphs use, for plain values. Its iterators are pointers.
template <class T>
class List {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    T* first = nullptr;  // read directly where a call is too much

    constexpr List() = default;
    constexpr List(const List& other) { append(other); }
    constexpr List(List&& other) noexcept { swap(other); }
    constexpr List& operator=(const List& other) {
        if (this == &other) return *this;
        clear();
        append(other);
        return *this;
    }
    constexpr List& operator=(List&& other) noexcept {
        swap(other);
        return *this;
    }
    constexpr ~List() { release(); }

    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T* begin() { return first; }
    constexpr T* end() { return first + size_; }
    constexpr const T* begin() const { return first; }
    constexpr const T* end() const { return first + size_; }
    constexpr T& operator[](std::size_t i) { return first[i]; }
    constexpr const T& operator[](std::size_t i) const { return first[i]; }
    constexpr T& back() { return first[size_ - 1]; }
    constexpr const T& back() const { return first[size_ - 1]; }

    constexpr void push_back(const T& value) {
        if (size_ == capacity_) return grow_by(value);
        std::construct_at(first + size_, value);
        ++size_;
    }
    constexpr void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        T* larger = std::allocator<T>().allocate(capacity);
        for (std::size_t i = 0; i < size_; ++i) std::construct_at(larger + i, first[i]);
        release();
        first = larger;
        capacity_ = capacity;
    }
    /// Cut to `size` values, or filled up with `value`.
    constexpr void resize(std::size_t size, const T& value = {}) {
        while (size_ < size) push_back(value);
        size_ = size;
    }
    constexpr void clear() { size_ = 0; }

  private:
    constexpr void append(const List& other) {
        reserve(other.size_);
        for (const T& value : other) push_back(value);
    }
    /// `value` may be one of the list's own.
    constexpr void grow_by(const T& value) {
        const T copy = value;
        reserve(capacity_ ? 2 * capacity_ : 16);
        push_back(copy);
    }
    constexpr void swap(List& other) noexcept {
        std::swap(first, other.first);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    constexpr void release() {
        if (first) std::allocator<T>().deallocate(first, capacity_);
    }

    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace fovea
