// A number of a description that a schedule may set: its name, its limits, what it is.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

namespace fovea::target {

/// The values that a field takes: whole numbers, unless it is a measured cost.
struct Limits {
    double least = 0, most = 0;
    int step = 1;  // a multiple of this
    bool power_of_two = false;
    bool whole = true;
};

constexpr Limits between(double least, double most) { return {least, most}; }
constexpr Limits multiples(int step, double least, double most) { return {least, most, step}; }
constexpr Limits powers(double least, double most) { return {least, most, 1, true}; }
constexpr Limits costs() { return {0, 1e6, 1, false, false}; }

template <class T>
struct Field {
    std::string name;  // contraction.tile
    Limits limits;
    std::string about;
    double (*get)(const T&);
    void (*set)(T&, double);
};

/// The field that pointers to members lead to, one after the other.
template <auto... Path>
struct Member;
template <class T, class Inner, Inner T::* Outer>
struct Member<Outer> {
    using Owner = T;
    static Inner& of(T& owner) { return owner.*Outer; }
};
template <class T, class Inner, Inner T::* Outer, auto Next, auto... Rest>
struct Member<Outer, Next, Rest...> {
    using Owner = T;
    static auto& of(T& owner) { return Member<Next, Rest...>::of(owner.*Outer); }
};

template <auto... Path>
auto field(std::string name, Limits limits, std::string about) {
    using At = Member<Path...>;
    using Owner = typename At::Owner;
    return Field<Owner>{
        std::move(name), limits, std::move(about),
        [](const Owner& owner) { return double(At::of(const_cast<Owner&>(owner))); },
        [](Owner& owner, double value) {
            auto& place = At::of(owner);
            place = static_cast<std::remove_reference_t<decltype(place)>>(value);
        }};
}

}  // namespace fovea::target
