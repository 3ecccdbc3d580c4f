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

/// How many of the parameters are there.
std::size_t count_there(const SafetensorsFile& file, const std::vector<ParameterNames>& parameters,
                        const Difference& difference) {
    const auto has = [&](const std::string& name) { return file.find(difference.of(name)); };
    const auto is_there = [&](const ParameterNames& names) {
        return std::any_of(names.begin(), names.end(), has);
    };
    const auto count = std::count_if(parameters.begin(), parameters.end(), is_there);
    return static_cast<std::size_t>(count);
}

/// The part before the first dot, and the dot.
std::string first_part(const std::string& name) {
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? std::string() : name.substr(0, dot + 1);
}

/// Those in which the most parameters are there, more than as they are called.
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
    std::vector<Difference> best;
    std::size_t most = count_there(file, parameters, {});
    for (Difference& difference : all) {
        const std::size_t count = count_there(file, parameters, difference);
        if (count > most) best.clear();
        if (count > most || (count == most && !best.empty())) best.push_back(std::move(difference));
        most = std::max(most, count);
    }
    return best;
}

}  // namespace

void fit_names(SafetensorsFile& file, const std::vector<ParameterNames>& parameters) {
    // Any tensor would do for a single one.
    if (parameters.size() < 2 || count_there(file, parameters, {}) == parameters.size()) return;
    const std::vector<Difference> found = differences(file, parameters);
    if (found.size() != 1) return;
    std::map<std::string, std::string> own;
    for (const ParameterNames& names : parameters)
        for (const std::string& name : names) own[found.front().of(name)] = name;
    file.rename_tensors(own);
}

}  // namespace fovea::runtime
