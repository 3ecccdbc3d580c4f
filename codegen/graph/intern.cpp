#include "codegen/graph/intern.h"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace fovea {

const char* intern(std::string_view name) {
    static std::mutex mutex;
    static std::set<std::string, std::less<>> names;
    std::lock_guard<std::mutex> lock(mutex);
    auto found = names.find(name);
    if (found == names.end()) found = names.emplace(name).first;
    return found->c_str();
}

}  // namespace fovea
