#include "code_json.h"

#include "../error.h"
#include "../tables.h"

namespace fovea::runtime::device {
namespace {

using Array = Json::Array;
using Object = Json::Object;

template <class T, class Convert>
Json list(const std::vector<T>& values, const Convert& convert) {
    Array result;
    for (const T& value : values) result.push_back(convert(value));
    return result;
}

Json numbers(const std::vector<int>& values) {
    return list(values, [](int value) { return Json(value); });
}

class CodeWriter {
  public:
    explicit CodeWriter(const std::vector<std::string>& dims) : dims_(dims) {}

    Json kernel(const Kernel& kernel) const {
        Object result = {
            {"name", kernel.name},
            {"buffers", list(kernel.buffers, [](const KernelBuffer& buffer) {
                 return Json(Array{std::string(name_of(buffer.dtype)), buffer.written});
             })}};
        if (kernel.scan) {
            result.emplace_back("scan", scan(*kernel.scan));
            return result;
        }
        result.emplace_back("dims", numbers(kernel.dims));
        result.emplace_back("sites", kernel.sites);
        result.emplace_back(
            "launches", list(kernel.launches, [this](const Launch& own) { return launch(own); }));
        return result;
    }

    Json buffer(const BufferSpec& buffer) const {
        return Array{buffer.name,
                     std::string(name_of(buffer.dtype)),
                     list(buffer.shape, [this](const Extent& extent) { return text(extent); }),
                     buffer.first,
                     buffer.last,
                     buffer.prepared};
    }

  private:
    Json text(const Extent& extent) const { return extent.text(dims_); }
    Json launch(const Launch& launch) const {
        Object result = {{"entry", launch.entry},
                         {"grid", list(launch.grid,
                                       [this](const GridFactor& factor) {
                                           return Json(Array{text(factor.extent), factor.tile});
                                       })},
                         {"threads", launch.threads},
                         {"shared_bytes", launch.shared_bytes}};
        if (const LaunchRange every, &own = launch.range;
            own.least != every.least || own.most != every.most)
            result.emplace_back("range", Array{text(own.extent), own.least, own.most});
        if (!launch.maps.empty())
            result.emplace_back("maps", list(launch.maps, [this](const TensorMap& own) {
                                    return tensor_map(own);
                                }));
        return result;
    }
    Json tensor_map(const TensorMap& map) const {
        Object result{
            {"buffer", map.buffer},
            {"offset", text(map.offset)},
            {"axes", list(map.axes,
                          [this](const TensorMap::Axis& axis) {
                              return Json(Array{text(axis.extent), text(axis.stride), axis.box});
                          })},
            {"swizzle", map.swizzle}};
        if (map.rounds_to_tf32) result.emplace_back("rounds_to_tf32", true);
        return result;
    }
    Json place(const Place& place) const {
        return Array{place.buffer, text(place.offset), text(place.step)};
    }
    Json scan(const Scan& scan) const {
        Object result{
            {"count", text(scan.count)},
            {"reverse", scan.reverse},
            {"kernels", list(scan.kernels, [this](const Kernel& own) { return kernel(own); })},
            {"calls", list(scan.calls,
                           [this](const ScanCall& call) {
                               return Json(Array{call.kernel,
                                                 list(call.arguments, [this](const Place& own) {
                                                     return place(own);
                                                 })});
                           })},
            {"starts", list(scan.starts, [this](const ScanStart& start) {
                 return Json(Array{place(start.from), place(start.to), text(start.size)});
             })}};
        if (scan.chunk > 0) result.emplace_back("chunk", Array{scan.chunk, scan.positions});
        return result;
    }

    const std::vector<std::string>& dims_;
};

Json steps_json(const std::vector<Step>& steps) {
    return list(steps, [](const Step& step) {
        return Json(Array{step.kernel, numbers(step.arguments), numbers(step.sites)});
    });
}

const Json& member_of_code(const Json& object, std::string_view name) {
    const Json* found = object.find(name);
    if (!found) throw UserError("the tables of kernels have no '" + std::string(name) + "'");
    return *found;
}

const Json& element(const Json& array, std::size_t number) {
    if (number >= array.array().size())
        throw UserError("the tables of kernels have an entry that is too short");
    return array.array()[number];
}

int whole(const Json& value) { return static_cast<int>(value.integer()); }

template <class T, class Convert>
std::vector<T> values_of(const Json& array, const Convert& convert) {
    std::vector<T> result;
    for (const Json& value : array.array()) result.push_back(convert(value));
    return result;
}

std::vector<int> whole_numbers(const Json& array) { return values_of<int>(array, whole); }

DType dtype_of(const std::string& name) {
    for (DType dtype : kDTypes)
        if (name == name_of(dtype)) return dtype;
    throw UserError("the tables of kernels have a buffer of '" + name + "'");
}

class CodeReader {
  public:
    explicit CodeReader(const Json& tables)
        : dims_(values_of<std::string>(member_of_code(tables, "dims"),
                                       [](const Json& name) { return name.string(); })) {}

    Kernel kernel(const Json& json) const {
        Kernel result;
        result.name = member_of_code(json, "name").string();
        result.buffers =
            values_of<KernelBuffer>(member_of_code(json, "buffers"), [](const Json& buffer) {
                return KernelBuffer{dtype_of(element(buffer, 0).string()),
                                    element(buffer, 1).boolean()};
            });
        if (const Json* steps = json.find("scan")) {
            result.scan = std::make_shared<const Scan>(scan(*steps));
            return result;
        }
        result.dims = whole_numbers(member_of_code(json, "dims"));
        for (int dim : result.dims)
            if (dim < 0 || static_cast<std::size_t>(dim) >= dims_.size())
                throw UserError("the tables of kernels have no dim " + std::to_string(dim));
        result.sites = whole(member_of_code(json, "sites"));
        result.launches = values_of<Launch>(member_of_code(json, "launches"),
                                            [this](const Json& own) { return launch(own); });
        return result;
    }

    BufferSpec buffer(const Json& json) const {
        return {
            element(json, 0).string(),
            dtype_of(element(json, 1).string()),
            values_of<Extent>(element(json, 2), [this](const Json& size) { return extent(size); }),
            whole(element(json, 3)),
            whole(element(json, 4)),
            element(json, 5).boolean()};
    }

    const std::vector<std::string>& dims() const { return dims_; }

  private:
    Extent extent(const Json& text) const { return parse_extent(text.string(), dims_); }
    Launch launch(const Json& json) const {
        Launch result;
        result.entry = member_of_code(json, "entry").string();
        result.grid =
            values_of<GridFactor>(member_of_code(json, "grid"), [this](const Json& factor) {
                return GridFactor{extent(element(factor, 0)), element(factor, 1).integer()};
            });
        result.threads = whole(member_of_code(json, "threads"));
        result.shared_bytes = whole(member_of_code(json, "shared_bytes"));
        if (const Json* range = json.find("range"))
            result.range = {extent(element(*range, 0)), element(*range, 1).integer(),
                            element(*range, 2).integer()};
        if (const Json* maps = json.find("maps"))
            result.maps =
                values_of<TensorMap>(*maps, [this](const Json& own) { return tensor_map(own); });
        return result;
    }
    TensorMap tensor_map(const Json& json) const {
        return {whole(member_of_code(json, "buffer")), extent(member_of_code(json, "offset")),
                values_of<TensorMap::Axis>(member_of_code(json, "axes"),
                                           [this](const Json& axis) {
                                               return TensorMap::Axis{extent(element(axis, 0)),
                                                                      extent(element(axis, 1)),
                                                                      whole(element(axis, 2))};
                                           }),
                whole(member_of_code(json, "swizzle")), json.find("rounds_to_tf32") != nullptr};
    }
    Place place(const Json& json) const {
        return {whole(element(json, 0)), extent(element(json, 1)), extent(element(json, 2))};
    }
    Scan scan(const Json& json) const {
        Scan result;
        result.count = extent(member_of_code(json, "count"));
        result.reverse = member_of_code(json, "reverse").boolean();
        if (const Json* chunk = json.find("chunk")) {
            result.chunk = element(*chunk, 0).integer();
            result.positions = whole(element(*chunk, 1));
        }
        result.kernels = values_of<Kernel>(member_of_code(json, "kernels"),
                                           [this](const Json& own) { return kernel(own); });
        result.calls = values_of<ScanCall>(member_of_code(json, "calls"), [this](const Json& call) {
            return ScanCall{
                whole(element(call, 0)),
                values_of<Place>(element(call, 1), [this](const Json& own) { return place(own); })};
        });
        result.starts =
            values_of<ScanStart>(member_of_code(json, "starts"), [this](const Json& start) {
                return ScanStart{place(element(start, 0)), place(element(start, 1)),
                                 extent(element(start, 2))};
            });
        return result;
    }

    std::vector<std::string> dims_;
};

std::vector<Step> parse_steps(const Json& json) {
    return values_of<Step>(json, [](const Json& step) {
        return Step{whole(element(step, 0)), whole_numbers(element(step, 1)),
                    whole_numbers(element(step, 2))};
    });
}

}  // namespace

Json launch_tables(const Code& code) {
    const CodeWriter writer(code.dims);
    return Object{
        {"dims", list(code.dims, [](const std::string& name) { return Json(name); })},
        {"programs", list(code.programs,
                          [&](const Steps& steps) {
                              return Json(Object{{"name", steps.program},
                                                 {"buffers", list(steps.buffers,
                                                                  [&](const BufferSpec& buffer) {
                                                                      return writer.buffer(buffer);
                                                                  })},
                                                 {"prepare", steps_json(steps.prepare)},
                                                 {"steps", steps_json(steps.steps)}});
                          })},
        {"modules", list(code.modules, [&](const Module& module) {
             return Json(Object{{"architecture", module.architecture},
                                {"kernels", list(module.kernels, [&](const Kernel& kernel) {
                                     return writer.kernel(kernel);
                                 })}});
         })}};
}

Code read_code(std::string_view tables, const std::map<std::string, std::string>& texts) {
    const Json json = parse_json(tables);
    const CodeReader reader(json);
    Code code;
    code.dims = reader.dims();
    for (const Json& program : member_of_code(json, "programs").array())
        code.programs.push_back(
            {member_of_code(program, "name").string(),
             values_of<BufferSpec>(member_of_code(program, "buffers"),
                                   [&](const Json& buffer) { return reader.buffer(buffer); }),
             parse_steps(member_of_code(program, "prepare")),
             parse_steps(member_of_code(program, "steps"))});
    for (const Json& module : member_of_code(json, "modules").array()) {
        const std::string& architecture = member_of_code(module, "architecture").string();
        const auto text = texts.find(architecture);
        if (text == texts.end())
            throw UserError("the PTX of the kernels for " + architecture + " is missing");
        code.modules.push_back(
            {architecture, text->second,
             values_of<Kernel>(member_of_code(module, "kernels"),
                               [&](const Json& kernel) { return reader.kernel(kernel); })});
    }
    return code;
}

}  // namespace fovea::runtime::device
