#include "codegen/kernel/maximum_of_softmax.h"

#include <algorithm>

namespace fovea::kernel {
namespace {

/// What follows a maximum: differences, their exponentials, and the sums of those.
class Softmax {
  public:
    Softmax(const Kernel& kernel, Id maximum) : kernel_(kernel), maximum_(maximum) {
        const Id operand = as<Reduce>(kernel, maximum)->operand;
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
            const Map* map = as<Map>(kernel, id);
            if (!map) continue;
            if (map->function == Elementwise::sub && map->operands[0] == operand &&
                map->operands[1] == maximum)
                inside_.push_back(id);
            else if ((map->function == Elementwise::exp || map->function == Elementwise::exp2) &&
                     is_inside(map->operands[0]))
                inside_.push_back(id), exponentials_.push_back(id);
        }
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
            const Reduce* sum = as<Reduce>(kernel, id);
            if (sum && sum->reduction == Reduction::sum &&
                sum->axes == as<Reduce>(kernel, maximum)->axes &&
                std::count(exponentials_.begin(), exponentials_.end(), sum->operand))
                sums_.push_back(id);
        }
    }

    bool is_whole() const {
        if (sums_.empty()) return false;
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (takes_part_of_it(id) && !takes_sum(id)) return false;
        return true;
    }

  private:
    bool is_inside(Id id) const {
        return std::find(inside_.begin(), inside_.end(), id) != inside_.end();
    }
    /// Whether a node outside takes the maximum or an exponential.
    bool takes_part_of_it(Id id) const {
        if (is_inside(id) || std::count(sums_.begin(), sums_.end(), id)) return false;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::any_of(operands.begin(), operands.end(),
                           [&](Id operand) { return operand == maximum_ || is_inside(operand); });
    }
    bool takes_sum(Id id) const {
        if (!as<Map>(kernel_, id)) return false;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::any_of(operands.begin(), operands.end(),
                           [&](Id operand) { return follows_sum(operand); });
    }
    bool follows_sum(Id id) const {
        if (std::count(sums_.begin(), sums_.end(), id)) return true;
        return as<Map>(kernel_, id) && takes_sum(id);
    }

    const Kernel& kernel_;
    Id maximum_;
    std::vector<Id> inside_, exponentials_, sums_;
};

}  // namespace

bool is_maximum_of_softmax(const Kernel& kernel, Id reduce) {
    const Reduce* maximum = as<Reduce>(kernel, reduce);
    return maximum && maximum->reduction == Reduction::max && Softmax(kernel, reduce).is_whole();
}

}  // namespace fovea::kernel
