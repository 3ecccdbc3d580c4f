// How values address memory: row pointers, offsets, strided and gathered lanes.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

using namespace kernel;

bool Values::moves(AxisId axis) const {
    return std::find(place.moving.begin(), place.moving.end(), axis) != place.moving.end();
}

bool Values::row_moves(const Access& access) const {
    if (access.row < 0) return false;
    const auto& axes = kernel_.nodes[std::size_t(access.row)].axes;
    return std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return moves(axis); });
}

Expression Values::offset_along(const Stride& stride) const {
    const Expression at{signature_.axis(stride.axis)};
    if (!stride.panel) return at * spell(stride.stride);
    const std::string panel = std::to_string(stride.panel);
    return Expression{at.text + " / " + panel, Binding::product} * spell(stride.stride) +
           Expression{at.text + " % " + panel, Binding::product} *
               Expression{std::to_string(stride.step)};
}

Expression Values::fixed_offset(const Access& access) {
    Expression offset{"0"};
    if (access.row >= 0 && !row_moves(access))
        offset = Expression{"i64(" + value(access.row).text + ")"} * spell(access.row_stride);
    for (const Stride& stride : access.strides)
        if (!moves(stride.axis)) offset = offset + offset_along(stride);
    return offset + spell(access.offset);
}

Expression Values::start(const Access& access) {
    return at_offset(signature_.buffer(access.buffer), fixed_offset(access));
}

std::string Values::start_of_row(const Access& access) {
    const auto row = rows_.find(std::to_string(access.buffer) + " " + fixed_offset(access).text);
    return row != rows_.end() ? row->second : start(access).text;
}

void Values::define_rows(const std::vector<Id>& nodes) {
    for (Id id : nodes) {
        const Access* access = access_of(kernel_, id);
        if (!access) continue;
        bool moving = row_moves(*access);
        for (const Stride& stride : access->strides) moving |= moves(stride.axis);
        const Expression offset = fixed_offset(*access);
        if (!moving || offset.text == "0") continue;
        const Buffer& buffer = kernel_.buffers[std::size_t(access->buffer)];
        if (buffer.optional) continue;  // no offset from a null pointer
        std::string& name = rows_[std::to_string(access->buffer) + " " + offset.text];
        if (!name.empty()) continue;
        std::string& known = row_names_[std::to_string(access->buffer) + " " + offset.text];
        if (known.empty()) known = signature_.fresh(signature_.buffer(access->buffer) + "_row");
        name = known;
        const bool is_pointer = !buffer.storage && !buffer.looked_up;
        writer_.line((is_pointer ? "" : "const ") + pointer_type(buffer) + " " + name + " = " +
                     start(*access).text + ";");
    }
}

Values::Address Values::address(const Access& access) {
    Address result{signature_.buffer(access.buffer), {"0"}};
    const Expression fixed = fixed_offset(access);
    const auto row = rows_.find(std::to_string(access.buffer) + " " + fixed.text);
    if (row != rows_.end()) result.pointer = row->second;
    else result.offset = fixed;
    if (row_moves(access) && !has_axis(access.row, place.lane))
        result.offset = result.offset + Expression{"i64(" + value(access.row).text + ")"} *
                                            spell(access.row_stride);
    const Dim row_stride = stride_along(access.strides, place.grouped);
    if (!place.row.empty() && row_stride != Dim(0))
        result.offset = result.offset + Expression{place.row} * spell(row_stride);
    const bool gathers = access.row >= 0 && has_axis(access.row, place.lane);
    for (const Stride& stride : access.strides) {
        if (!moves(stride.axis) || (gathers && stride.axis == place.lane)) continue;
        result.offset = result.offset + offset_along(stride);
    }
    return result;
}

Expression Values::make_load(Id id, const Load& load) {
    const Access& access = load.access;
    const Address at = address(access);
    const Expression pointer = at_offset(at.pointer, at.offset);
    if (is_of_group(id))
        return {"load_each(" + pointer.text + ", " +
                spell(stride_along(access.strides, place.grouped)).text + ", " + place.group + ")"};
    if (!is_vector(id)) {
        const bool half = is_half(kernel_.buffers[std::size_t(access.buffer)].dtype);
        const std::string element = at.pointer + "[" + at.offset.text + "]";
        return {half ? "to_float(" + element + ")" : element};
    }
    if (access.row >= 0 && has_axis(access.row, place.lane)) {
        Expression first = pointer;
        if (lane_stride(access) != Dim(0))
            first = first + Expression{signature_.axis(place.lane)} * spell(lane_stride(access));
        return {"load_rows(" + first.text + ", " + value(access.row).text + ", " +
                spell(access.row_stride).text + ", " + spell(lane_stride(access)).text + ", " +
                mask_or_all() + ")"};
    }
    if (lane_stride(access).is_one()) return {"load(" + pointer.text + mask_argument() + ")"};
    return {"load_strided(" + pointer.text + ", " + spell(lane_stride(access)).text + ", " +
            mask_or_all() + ")"};
}

void Values::write_store(const Store& store) {
    const Access& access = store.access;
    const DType dtype = kernel_.buffers[std::size_t(access.buffer)].dtype;
    const DType kept = widened(dtype);
    const bool gathers = access.row >= 0 && has_axis(access.row, place.lane);
    const Dim step = lane_stride(access);
    const bool vector = place.lane >= 0 && (gathers || step != Dim(0));
    const Address at = address(access);
    const std::string head = signature_.if_there(access.buffer);
    const std::string value_text = value(store.value, kept, vector).text;
    if (!vector && !place.group.empty()) {
        writer_.line(head + "store_each(" + at_offset(at.pointer, at.offset).text + ", " +
                     spell(stride_along(access.strides, place.grouped)).text + ", " + value_text +
                     ", " + place.group + ");");
        return;
    }
    if (!vector) {
        const std::string element = at.pointer + "[" + at.offset.text + "]";
        if (is_half(dtype)) {
            const std::string old = store.accumulate ? "to_float(" + element + ") + " : "";
            writer_.line(head + element + " = to_" + element_type(dtype) + "(" + old + value_text +
                         ");");
            return;
        }
        writer_.line(head + element + (store.accumulate ? " += " : " = ") + value_text + ";");
        return;
    }
    const Expression pointer = at_offset(at.pointer, at.offset);
    if (gathers) {
        if (store.accumulate)
            throw InternalError("kernel " + kernel_.name +
                                ": a scatter-add with rows in the lanes");
        Expression first = pointer;
        if (step != Dim(0)) first = first + Expression{signature_.axis(place.lane)} * spell(step);
        writer_.line(head + "store_rows(" + first.text + ", " + value(access.row).text + ", " +
                     spell(access.row_stride).text + ", " + spell(step).text + ", " + value_text +
                     ", " + mask_or_all() + ");");
        return;
    }
    const bool unit = step.is_one();
    const std::string where = pointer.text + (unit ? "" : ", " + spell(step).text);
    const std::string mask = unit ? mask_argument() : ", " + mask_or_all();
    const std::string old = (unit ? "load(" : "load_strided(") + where + mask + ") + ";
    writer_.line(head + (unit ? "store(" : "store_strided(") + where + ", " +
                 (store.accumulate ? old : "") + value_text + mask + ");");
}

}  // namespace fovea::emit
