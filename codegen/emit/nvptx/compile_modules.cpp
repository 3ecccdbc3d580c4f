#include "codegen/emit/nvptx/compile_modules.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <thread>

#include <llvm/Support/raw_ostream.h>

namespace fovea::emit::nvptx {
namespace {

std::string text_of(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
}

bool is_of_the_architecture(const std::string& line) {
    return line.starts_with(".version") || line.starts_with(".target") ||
           line.starts_with(".address_size");
}

ModuleText parts_of(const std::string& text) {
    ModuleText result;
    const std::size_t first = text.find(".visible .entry ");
    for (std::size_t at = 0; at < std::min(first, text.size());) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        if (line.starts_with('.') && !is_of_the_architecture(line))
            result.declarations.push_back(line);
        at = end + 1;
    }
    if (first != text.npos) result.entries = text.substr(first);
    return result;
}

/// Calls work(i) for all i below `count` on as many threads as there are processors. What one of
/// them throws is thrown here.
template <class Work>
void for_all(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::future<void>> others;
    const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 1; i < std::min(threads, count); ++i)
        others.push_back(std::async(std::launch::async, take));
    take();
    for (std::future<void>& other : others) other.get();
}

}  // namespace

std::vector<std::shared_ptr<const ModuleText>> compile_modules(
    std::vector<std::unique_ptr<ModuleBuilder>> modules) {
    std::map<std::string, std::size_t> numbers;  // of the modules to compile, by what they say
    std::vector<std::unique_ptr<ModuleBuilder>> distinct;
    std::vector<std::size_t> number_of;
    for (std::unique_ptr<ModuleBuilder>& module : modules) {
        const auto [known, is_new] =
            numbers.try_emplace(text_of(module->module()), distinct.size());
        if (is_new) distinct.push_back(std::move(module));
        number_of.push_back(known->second);
    }
    std::vector<std::shared_ptr<const ModuleText>> texts(distinct.size());
    for_all(distinct.size(), [&](std::size_t i) {
        texts[i] = std::make_shared<const ModuleText>(parts_of(distinct[i]->finish()));
        distinct[i].reset();
    });
    std::vector<std::shared_ptr<const ModuleText>> result;
    for (std::size_t number : number_of) result.push_back(texts[number]);
    return result;
}

}  // namespace fovea::emit::nvptx
