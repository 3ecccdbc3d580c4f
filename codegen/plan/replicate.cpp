#include "codegen/plan/replicate.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/base/long_dim.h"

namespace fovea::plan {

namespace {

/// `constant + factor * symbol`.
struct Amount {
    std::int64_t constant = 0, factor = 0;
    Symbol symbol{};

    Dim dim() const { return factor ? Dim::from({constant, {{factor, {symbol}}}}) : constant; }
    /// Makes it at least the other, whose symbol is the same or none.
    void enclose(const Amount& other) {
        constant = std::max(constant, other.constant);
        factor = std::max(factor, other.factor);
        if (other.symbol) symbol = other.symbol;
    }
};

/// Nothing where the sum has another form, or is large beyond reason.
std::optional<Amount> amount_of(const Dim& sum) {
    if (sum.mistake() != DimMistake::none) return {};
    Amount amount{.constant = sum.constant()};
    for (const DimTerm& term : sum.terms()) {
        if (!term.factor) continue;
        if (term.symbols.size() != 1 || (amount.symbol && amount.symbol != term.symbols[0]))
            return {};
        amount.factor += term.factor;
        amount.symbol = term.symbols[0];
    }
    if (amount.constant < 0 || amount.factor < 0) return {};
    return amount;
}

class Replication {
  public:
    Replication(Program& program, const std::vector<kernel::Kernel>& kernels)
        : program_(program), kernels_(kernels), writers_(program.tensors.size(), 0) {
        for (const std::vector<Step>* steps : {&program.prepare, &program.steps})
            for (const Step& step : *steps)
                for (std::size_t i = 0; i < step.arguments.size(); ++i)
                    if (writes(step, i)) ++writers_[std::size_t(step.arguments[i])];
    }

    void mark(std::int64_t most) {
        const Symbol symbol = usual_symbol(most);
        for (Step& step : program_.steps) {
            const std::optional<Amount> amount = small_amount(step, most);
            if (!amount || (amount->symbol && amount->symbol != symbol)) continue;
            set_replicated(step, true);
        }
    }

    void place(std::int64_t most) {
        for (std::size_t i = 0; i < program_.steps.size(); ++i)
            if (program_.steps[i].replicated && !is_read_in_phase(i))
                set_replicated(program_.steps[i], false);
        Amount largest;
        for (std::size_t i = 0; i < program_.steps.size(); ++i) {
            const Step& step = program_.steps[i];
            if (!step.replicated) continue;
            largest.enclose(*small_amount(step, most));
            for (std::size_t at = 0; at < step.arguments.size(); ++at)
                if (writes(step, at))
                    tensor(step.arguments[at]).slot = free_slot(i, step.arguments[at]);
        }
        program_.replicas = {largest.dim(), int(last_of_slot_.size())};
    }

  private:
    bool writes(const Step& step, std::size_t argument) const {
        return kernels_[std::size_t(step.kernel)].buffers[argument].written;
    }
    Tensor& tensor(int number) { return program_.tensors[std::size_t(number)]; }
    const Tensor& tensor(int number) const { return program_.tensors[std::size_t(number)]; }

    void set_replicated(Step& step, bool is) {
        step.replicated = is;
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (writes(step, i)) tensor(step.arguments[i]).replicated = is;
    }

    /// The numbers that the step touches, where each thread may run it for itself.
    std::optional<Amount> small_amount(const Step& step, std::int64_t most) const {
        const kernel::Kernel& kernel = kernels_[std::size_t(step.kernel)];
        const bool may = kernel.form == kernel::Form::rows || kernel.form == kernel::Form::tiles ||
                         kernel.form == kernel::Form::contraction;
        if (!may || !step.sites.empty()) return {};
        Dim sum = 0;
        for (std::size_t i = 0; i < step.arguments.size(); ++i) {
            const Tensor& own = tensor(step.arguments[i]);
            if (own.state || (writes(step, i) && !may_be_replicated(step.arguments[i]))) return {};
            if (own.role == Role::none) continue;
            Dim numbers = 1;
            for (const Dim& dim : own.shape) numbers = numbers * dim;
            sum = sum + numbers;
        }
        const std::optional<Amount> amount = amount_of(sum);
        if (!amount || amount->constant > most || amount->factor > most - amount->constant)
            return {};
        return amount;
    }
    bool may_be_replicated(int number) const {
        const Tensor& own = tensor(number);
        return own.role == Role::buffer && own.checks.empty() && own.over < 0 &&
               writers_[std::size_t(number)] == 1;
    }

    /// The symbol that most of such amounts have.
    Symbol usual_symbol(std::int64_t most) const {
        std::map<Symbol, int> count;
        for (const Step& step : program_.steps)
            if (const std::optional<Amount> amount = small_amount(step, most))
                if (amount->symbol) ++count[amount->symbol];
        const auto usual = std::ranges::max_element(
            count, {}, [](const std::pair<const Symbol, int>& entry) { return entry.second; });
        return usual == count.end() ? Symbol() : usual->first;
    }

    bool is_read_in_phase(std::size_t writer) const {
        const Step& from = program_.steps[writer];
        for (std::size_t i = writer + 1; i < program_.steps.size(); ++i) {
            const Step& to = program_.steps[i];
            if (to.phase != from.phase) return false;
            for (std::size_t at = 0; at < to.arguments.size(); ++at)
                if (!writes(to, at) && is_written_by(from, to.arguments[at])) return true;
        }
        return false;
    }
    bool is_written_by(const Step& step, int number) const {
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            if (step.arguments[i] == number && writes(step, i)) return true;
        return false;
    }

    /// A slot that nothing has which is read at this step or behind it.
    int free_slot(std::size_t step, int number) {
        std::size_t last = step;
        for (std::size_t i = step; i < program_.steps.size(); ++i)
            if (std::ranges::count(program_.steps[i].arguments, number)) last = i;
        std::size_t slot = 0;
        while (slot < last_of_slot_.size() && last_of_slot_[slot] >= step) ++slot;
        if (slot == last_of_slot_.size()) last_of_slot_.push_back(last);
        last_of_slot_[slot] = last;
        return int(slot);
    }

    Program& program_;
    const std::vector<kernel::Kernel>& kernels_;
    std::vector<int> writers_;  // how many steps write each tensor
    std::vector<std::size_t> last_of_slot_;  // the last step that reads what each holds
};

}  // namespace

void mark_replicated(Program& program, const std::vector<kernel::Kernel>& kernels,
                     std::int64_t most) {
    if (most > 0) Replication(program, kernels).mark(most);
}

void place_replicas(Program& program, const std::vector<kernel::Kernel>& kernels,
                    std::int64_t most) {
    if (most > 0) Replication(program, kernels).place(most);
}

}  // namespace fovea::plan
