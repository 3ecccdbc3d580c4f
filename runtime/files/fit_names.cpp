#include "fit_names.h"

#include <algorithm>
#include <map>

namespace fovea::runtime {

namespace {

/// By what all names in a file differ.
struct Difference {
    std::string without, with;  // `transformer.`, `bert.`

    std::string of(const std::string& name) const {
        return with + (name.starts_with(without) ? name.substr(without.size()) : name);
    }
};

bool has_all(const SafetensorsFile& file, const std::vector<ParameterNames>& parameters,
             const Difference& difference) {
    const auto has = [&](const std::string& name) { return file.find(difference.of(name)); };
    return std::all_of(parameters.begin(), parameters.end(), [&](const ParameterNames& names) {
        return std::any_of(names.begin(), names.end(), has);
    });
}

/// The part before the first dot, and the dot.
std::string first_part(const std::string& name) {
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? std::string() : name.substr(0, dot + 1);
}

/// All in which the parameters are there.
std::vector<Difference> differences(const SafetensorsFile& file,
                                    const std::vector<ParameterNames>& parameters) {
    std::vector<Difference> all;
    const auto add = [&](Difference difference) {
        if (difference.without.empty() && difference.with.empty()) return;
        for (const Difference& other : all)
            if (other.without == difference.without && other.with == difference.with) return;
        all.push_back(std::move(difference));
    };
    for (const ParameterNames& names : parameters)
        for (const std::string& name : names) add({first_part(name), {}});
    for (const TensorView& tensor : file.tensors()) add({{}, first_part(tensor.name)});
    std::erase_if(
        all, [&](const Difference& difference) { return !has_all(file, parameters, difference); });
    return all;
}

}  // namespace

void fit_names(SafetensorsFile& file, const std::vector<ParameterNames>& parameters) {
    // Any tensor would do for a single one.
    if (parameters.size() < 2 || has_all(file, parameters, {})) return;
    const std::vector<Difference> found = differences(file, parameters);
    if (found.size() != 1) return;
    std::map<std::string, std::string> own;
    for (const ParameterNames& names : parameters)
        for (const std::string& name : names) own[found.front().of(name)] = name;
    file.rename_tensors(own);
}

}  // namespace fovea::runtime
