// Leaves are spelled here: arrays, memory, positions; what is made of them is Values' work.
#include "codegen/emit/cpp/tiles/tile_text.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/infer_types.h"

namespace fovea::emit {

using namespace kernel;

namespace {

/// `array[i]` of the address `array + i`.
Expression element_at(const Expression& address) {
    const std::size_t plus = address.text.find(" + ");
    if (plus == std::string::npos) return {address.text + "[0]"};
    return {address.text.substr(0, plus) + "[" + address.text.substr(plus + 3) + "]"};
}

std::int64_t whole_vectors(std::int64_t count) {
    return (count + target::kLanes - 1) / target::kLanes * target::kLanes;
}

}  // namespace

Expression moved(const std::string& position, const Dim& stride) {
    return position == "0" ? Expression{"0"} : Expression{position} * spell(stride);
}

TileText::TileText(const TilePlan& plan, Signature& signature)
    : plan_(plan),
      kernel_(plan.kernel),
      signature_(signature),
      values_(plan.kernel, signature, unused_) {
    for (const auto& [axis, size] : plan.schedule.tiles) {
        const std::string name = identifier(plan.kernel.axes[std::size_t(axis)].name);
        const std::string whole = std::to_string(size);
        if (plan.in_one_tile()) names_[axis] = {"0", signature_.fresh(name + "_n"), whole, whole};
        else
            names_[axis] = {signature.fresh(name + "_at"), signature.fresh(name + "_n"),
                            signature.fresh(name + "_step"), signature.fresh(name + "_width")};
    }
}

std::string TileText::count(AxisId axis) const {
    if (axis < 0) return "1";
    return plan_.is_tiled(axis) ? count_name(axis) : signature_.extent(axis).text;
}

std::string TileText::count_argument(AxisId axis) const {
    if (axis < 0) return "1";
    return plan_.is_tiled(axis) ? count_name(axis) : "fixed<" + signature_.extent(axis).text + ">";
}

std::string TileText::width(AxisId axis) const {
    if (plan_.is_tiled(axis)) return names_.at(axis).width;
    const std::int64_t extent = kernel_.axes[std::size_t(axis)].extent.value();
    if (extent % target::kLanes == 0) return signature_.extent(axis).text;
    return std::to_string(std::max<std::int64_t>(whole_vectors(extent), target::kLanes));
}

std::string TileText::sizes(const std::string& body) const {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& size) {
        if (mentions(body, name)) text += (text.empty() ? "" : ", ") + name + " = " + size;
    };
    if (plan_.in_one_tile()) return text;
    for (const auto& [axis, size] : plan_.schedule.tiles)
        add(names_.at(axis).tile, std::to_string(size));
    for (const auto& [axis, size] : plan_.schedule.tiles)
        add(names_.at(axis).width, std::to_string(size + plan_.target.row_padding));
    return text;
}

std::string TileText::height(AxisId axis) const {
    return plan_.is_tiled(axis) ? tile_name(axis) : signature_.extent(axis).text;
}

Expression TileText::position(AxisId axis) const {
    if (!plan_.is_tiled(axis)) return {local(axis)};
    return Expression{at(axis)} + Expression{local(axis)};
}

const std::string& TileText::name(Id owner) {
    std::string& name = arrays_[owner];
    if (!name.empty()) return name;
    const bool array = plan_.arrays.contains(owner);
    const auto carried = as<Carried>(kernel_, owner);
    const std::string& base = signature_.value(carried ? carried->initial : owner);
    return name = array ? signature_.fresh(base + "_tile") : base;
}

const std::string& TileText::name_of_copy(std::map<Id, std::string>& names, Id id,
                                          const char* suffix) {
    std::string& name = names[id];
    if (!name.empty()) return name;
    const auto load = as<Load>(kernel_, id);
    name = signature_.fresh((load ? signature_.buffer(load->access.buffer) : signature_.value(id)) +
                            suffix);
    return name;
}

const std::string& TileText::pairs_name(Id operand, AxisId step) {
    std::string& name = pairs_[{operand, step}];
    if (name.empty()) name = signature_.fresh(signature_.value(operand) + "_pairs");
    return name;
}

std::string TileText::array_size(const Place2& place) const {
    return (place.row < 0 ? "" : height(place.row) + " * ") + width(place.lane);
}

std::string TileText::shape_comment(const Place2& place) const {
    const auto letter = [&](AxisId axis) { return kernel_.axes[std::size_t(axis)].name; };
    return "// [" + (place.row < 0 ? "" : letter(place.row) + ", ") + letter(place.lane) + "]";
}

Expression TileText::element(const std::string& array, const Place2& place) const {
    Expression offset{"0"};
    if (place.row >= 0) offset = Expression{local(place.row)} * Expression{width(place.lane)};
    return at_offset(array, offset + Expression{local(place.lane)});
}

// ---- memory

std::string TileText::key(const Access& access) const {
    return std::to_string(access.buffer) + " " + tile_start(access).text;
}

std::string TileText::pointer(const Access& access) const {
    const auto found = pointers_.find(key(access));
    return found != pointers_.end() ? found->second : tile_start(access).text;
}

Expression TileText::tile_start(const Access& access) const {
    Expression offset{"0"};
    for (const Stride& stride : access.strides) {
        const bool tiled = plan_.is_tiled(stride.axis);
        const bool point =
            std::find(plan_.each.begin(), plan_.each.end(), stride.axis) != plan_.each.end();
        if (tiled || point)
            offset = offset + moved(tiled ? at(stride.axis) : local(stride.axis), stride.stride);
    }
    return at_offset(signature_.buffer(access.buffer), offset + spell(access.offset));
}

std::string TileText::point_to(const Access& access, const std::string& value) {
    std::string& usual = pointer_names_[access.buffer];
    if (usual.empty()) usual = signature_.fresh(signature_.buffer(access.buffer) + "_tile");
    std::string name = usual;
    for (const auto& [key, taken] : pointers_)
        if (taken == usual) name = signature_.fresh(value + "_tile");
    return pointers_[key(access)] = name;
}

void TileText::forget_pointer(const Access& access) { pointers_.erase(key(access)); }
bool TileText::has_pointer(const Access& access) const { return pointers_.contains(key(access)); }

Expression TileText::address(const Access& access) {
    const auto pointer = pointers_.find(key(access));
    Expression offset{"0"};
    for (const Stride& stride : access.strides)
        if (std::find(plan_.each.begin(), plan_.each.end(), stride.axis) == plan_.each.end())
            offset = offset + Expression{local(stride.axis)} * spell(stride.stride);
    if (access.row >= 0 && !is_vector(access.row))
        offset =
            offset + Expression{"i64(" + value(access.row).text + ")"} * spell(access.row_stride);
    if (pointer != pointers_.end()) return at_offset(pointer->second, offset);
    const Expression start = tile_start(access);
    return offset.text == "0" ? start : Expression{start.text + " + " + offset.text, Binding::sum};
}

std::string TileText::mask() const {
    if (lane < 0 || half) return "";
    const Dim& extent = kernel_.axes[std::size_t(lane)].extent;
    if (!plan_.is_tiled(lane) && extent.value() % target::kLanes == 0) return "";
    return "lanes_at(" + local(lane) + ", " + count(lane) + ")";
}

std::string TileText::lanes() const { return mask().empty() ? "Lanes{}" : mask(); }

Expression TileText::load(Id id, const Load& load) {
    if (auto turned = plan_.turned.find(id);
        turned != plan_.turned.end() && is_vector(id) && turned->second.place.lane == lane) {
        Expression copy = kept(id, turned_name(id), turned->second.place);
        if (kernel_.nodes[std::size_t(id)].dtype != DType::boolean) return copy;
        return {copy.text + " != 0.0F", Binding::comparison};
    }
    if (auto widened = plan_.widened.find(id); widened != plan_.widened.end())
        return kept(id, widened_name(id), widened->second.place);
    const Expression from = address(load.access);
    if (is_vector(id)) return load_from(load.access, from);
    const Expression element = element_at(from);
    return lies_in_halves(load.access) ? Expression{"to_float(" + element.text + ")"} : element;
}

Expression TileText::load_from(const Access& access, const Expression& from) {
    const Dim stride = stride_along(access.strides, lane);
    if (access.row >= 0 && is_vector(access.row))
        return {"load_rows(" + from.text + ", " + value(access.row).text + ", " +
                spell(access.row_stride).text + ", " + spell(stride).text + ", " + lanes() + ")"};
    if (!stride.is_one())
        return {"load_strided(" + from.text + ", " + spell(stride).text + ", " + lanes() + ")"};
    return {load_name() + from.text + (mask().empty() ? "" : ", " + mask()) + ")"};
}

Expression TileText::kept(Id id, const std::string& array, const Place2& place) {
    const Expression from = element(array, place);
    if (!is_vector(id)) return element_at(from);
    if (place.lane == lane) return {load_name() + from.text + ")"};
    return {"load_strided(" + from.text + ", " + width(place.lane) + ", Lanes{})"};
}

Expression TileText::stored(const Store& store) {
    return load_from(store.access, address(store.access));
}

std::string TileText::store(const Store& store) {
    const Expression to = address(store.access);
    const DType dtype = kernel_.buffers[std::size_t(store.access.buffer)].dtype;
    const std::string head = signature_.if_there(store.access.buffer);
    if (lane < 0) {
        const std::string number = value(store.value, widened(dtype), false).text;
        return head + element_at(to).text + (store.accumulate ? " += " : " = ") +
               (is_half(dtype) ? "to_" + element_type(dtype) + "(" + number + ")" : number) + ";";
    }
    const Dim stride = stride_along(store.access.strides, lane);
    const bool unit = stride.is_one();
    const std::string where = to.text + (unit ? "" : ", " + spell(stride).text);
    const std::string end = unit ? (mask().empty() ? "" : ", " + mask()) : ", " + lanes();
    const std::string old = (unit ? load_name() : "load_strided(") + where + end + ") + ";
    return head + (unit ? "store(" : "store_strided(") + where + ", " +
           (store.accumulate ? old : "") + value(store.value, widened(dtype), true).text + end +
           ");";
}

// ---- values

Expression TileText::value(Id id) {
    return value(id, kernel_.nodes[std::size_t(id)].dtype, is_vector(id));
}

bool TileText::lies_in_halves(const Access& access) const {
    return is_half(kernel_.buffers[std::size_t(access.buffer)].dtype);
}

bool TileText::fits_half(const Access& access) const {
    return !lies_in_halves(access) &&
           std::any_of(access.strides.begin(), access.strides.end(), [&](const Stride& stride) {
               return stride.axis == lane && stride.stride.is_one();
           });
}

bool TileText::fits_half(Id id, Id sum) const {
    if (id == sum || !is_vector(id) || as<Constant>(kernel_, id)) return true;
    if (kernel_.nodes[std::size_t(id)].dtype != DType::f32 || registers_.contains(id)) return false;
    if (auto array = plan_.arrays.find(plan_.owner(id)); array != plan_.arrays.end())
        return array->second.place.lane == lane;
    if (auto copy = plan_.widened.find(id); copy != plan_.widened.end())
        return copy->second.place.lane == lane;
    if (auto load = as<Load>(kernel_, id)) return fits_half(load->access);
    const Map* map = as<Map>(kernel_, id);
    if (!map || plan_.roots.contains(id)) return false;
    const Elementwise function = map->function;
    if (function != Elementwise::add && function != Elementwise::sub &&
        function != Elementwise::mul && function != Elementwise::neg)
        return false;
    return std::all_of(map->operands.begin(), map->operands.end(),
                       [&](Id operand) { return fits_half(operand, sum); });
}

Expression TileText::value(Id id, DType dtype, bool vector) {
    if (half && vector && (!is_vector(id) || as<Constant>(kernel_, id)))
        return {"splat8(" + value(id, dtype, false).text + ")"};
    values_.place.lane = lane;
    std::vector<Id> defined;
    define_leaves(id, defined);
    const Expression result = values_.value(id, dtype, vector);
    for (Id leaf : defined) values_.forget(leaf);
    return result;
}

Expression TileText::root_value(Id id) {
    if (registers_.contains(id) || !as<Map>(kernel_, id)) return value(id);
    values_.place.lane = lane;
    std::vector<Id> defined;
    for (Id operand : operands_of(kernel_, id)) define_leaves(operand, defined);
    const Expression result =
        values_.value(id, kernel_.nodes[std::size_t(id)].dtype, is_vector(id));
    for (Id leaf : defined) values_.forget(leaf);
    return result;
}

void TileText::define_leaves(Id id, std::vector<Id>& defined) {
    if (values_.is_known(id)) return;
    const bool lazy = as<Map>(kernel_, id) && !registers_.contains(id) && !plan_.roots.contains(id);
    if (lazy) {
        for (Id operand : operands_of(kernel_, id)) define_leaves(operand, defined);
        return;
    }
    if (as<Constant>(kernel_, id) || as<Extent>(kernel_, id)) return;
    values_.define_as(id, leaf(id));
    defined.push_back(id);
}

Expression TileText::leaf(Id id) {
    if (auto found = registers_.find(id); found != registers_.end()) return {found->second};
    const Id owner = plan_.owner(id);
    if (auto array = plan_.arrays.find(owner); array != plan_.arrays.end()) {
        const auto turned = plan_.turned.find(id);
        if (turned != plan_.turned.end() && is_vector(id) && turned->second.place.lane == lane)
            return kept(id, turned_name(id), turned->second.place);
        return kept(id, name(owner), array->second.place);
    }
    if (auto load = as<Load>(kernel_, id)) return this->load(id, *load);
    if (auto index = as<Index>(kernel_, id)) {
        const std::string position = this->position(index->axis).text;
        return {(is_vector(id) ? "iota(" : "i32(") + position + ")"};
    }
    if (auto valid = as<Valid>(kernel_, id)) return this->valid(*valid);
    if (auto random = as<Random>(kernel_, id)) return this->random(id, *random);
    return {name(owner)};
}

Expression TileText::valid(const Valid& valid) {
    const bool moves = lane == valid.axis;
    const auto position_beside = [&](Id bound) {
        const std::string at = (moves ? "iota(" : "i32(") + position(valid.axis).text + ")";
        return !moves && is_vector(bound) ? "splat(" + at + ")" : at;
    };
    const auto limit = [&](Id bound) { return value(bound).in(Binding::sum); };
    std::string below, above;
    if (valid.lower >= 0) above = limit(valid.lower) + " <= " + position_beside(valid.lower);
    if (valid.upper >= 0) below = position_beside(valid.upper) + " < " + limit(valid.upper);
    if (above.empty() && below.empty()) return {moves ? "splat_mask(true)" : "true"};
    if (above.empty() || below.empty()) return {above + below, Binding::comparison};
    const bool vector = moves || is_vector(valid.lower) || is_vector(valid.upper);
    return {"(" + above + (vector ? ") & (" : ") && (") + below + ")", Binding::logic};
}

}  // namespace fovea::emit
