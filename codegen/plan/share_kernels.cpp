#include "codegen/plan/share_kernels.h"

#include <algorithm>

#include "codegen/kernel/analysis/same_kernel.h"

namespace fovea::plan {

namespace {

/// `_b`, `_c`, …, `_z`, `_bb`, …
std::string suffix(int variant) {
    std::string letters(1, char('b' + variant % 25));
    for (int rest = variant / 25; rest > 0; rest /= 25) letters += char('b' + (rest - 1) % 25);
    return "_" + letters;
}

using Words = std::vector<std::string>;

Words words_of(const std::string& name) {
    Words words(1);
    for (char c : name)
        if (c == '_') words.emplace_back();
        else words.back() += c;
    return words;
}
/// The word, without its number where the other has another one; empty where they have no more in
/// common.
std::string common_word(const std::string& a, const std::string& b) {
    if (a == b) return a;
    const auto stem = [](const std::string& word) {
        return word.substr(0, word.find_last_not_of("0123456789") + 1);
    };
    return stem(a) == stem(b) ? stem(a) : "";
}

/// The words that two names have in common, in their order (the longest such sequence):
/// `encoder_block_ffn` of `encoder_block0_ffn` and `encoder_block1_ffn`. The first name where that
/// is none.
std::string common_name(const std::string& a, const std::string& b) {
    if (a == b) return a;
    const Words x = words_of(a), y = words_of(b);
    std::vector<std::vector<int>> longest(x.size() + 1, std::vector<int>(y.size() + 1, 0));
    for (std::size_t i = x.size(); i-- > 0;)
        for (std::size_t k = y.size(); k-- > 0;)
            longest[i][k] = common_word(x[i], y[k]).empty()
                                ? std::max(longest[i + 1][k], longest[i][k + 1])
                                : 1 + longest[i + 1][k + 1];
    std::string name;
    for (std::size_t i = 0, k = 0; i < x.size() && k < y.size();) {
        const std::string word = common_word(x[i], y[k]);
        if (!word.empty()) {
            name += (name.empty() ? "" : "_") + word;
            ++i, ++k;
        } else if (longest[i + 1][k] >= longest[i][k + 1]) {
            ++i;
        } else {
            ++k;
        }
    }
    const bool is_name = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
    return is_name ? name : a;
}

}  // namespace

int KernelPool::number_of(const kernel::Kernel& kernel) {
    std::uint64_t hash = kernel::structural_hash(kernel);
    auto [at, end] = by_hash_.equal_range(hash);
    for (; at != end; ++at)
        if (kernel::same_kernel(kernels_[std::size_t(at->second)], kernel)) {
            const int number = at->second;
            std::string common = common_name(wanted_[std::size_t(number)], kernel.name);
            if (common == wanted_[std::size_t(number)]) return number;
            wanted_[std::size_t(number)] = std::move(common);
            names_.erase(kernels_[std::size_t(number)].name);
            give_name(number);
            return number;
        }
    int number = int(kernels_.size());
    kernels_.push_back(kernel);
    wanted_.push_back(kernel.name.empty() ? "kernel" : kernel.name);
    give_name(number);
    by_hash_.emplace(hash, number);
    return number;
}

void KernelPool::avoid(const std::vector<std::string>& names) {
    const std::set<std::string> refused(names.begin(), names.end());
    names_.insert(names.begin(), names.end());
    for (std::size_t number = 0; number < kernels_.size(); ++number)
        if (refused.contains(kernels_[number].name)) give_name(int(number));
}

void KernelPool::give_name(int number) {
    const std::string& wanted = wanted_[std::size_t(number)];
    std::string name = wanted;
    for (int variant = 0; !names_.insert(name).second; ++variant) name = wanted + suffix(variant);
    kernels_[std::size_t(number)].name = name;
}

}  // namespace fovea::plan
