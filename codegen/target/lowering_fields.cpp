// The fields of how graphs are lowered.
#include "codegen/target/fields.h"

namespace fovea::target {

namespace {

using Low = Lowering;
using Choices = AttentionChoices;
using Loss = LossChoices;
using Costs = AttentionCosts;

/// The costs of attention in one form: `attention.plain_forward.run` and so on.
template <auto Form>
void add_costs(const std::string& form, std::vector<Field<Low>>& fields) {
    const std::string start = "attention." + form + ".";
    const auto add = [&]<auto Cost>(const char* name, const char* about) {
        fields.push_back(field<&Low::attention, Form, Cost>(start + name, costs(),
                                                            std::string("ns of ") + about));
    };
    add.template operator()<&Costs::run>("run", "a run");
    add.template operator()<&Costs::point>("point", "a head of a batch element");
    add.template operator()<&Costs::row>("row", "a query");
    add.template operator()<&Costs::row_element>("row_element", "an element of a query");
    add.template operator()<&Costs::pair>("pair", "a (query, key) pair");
    add.template operator()<&Costs::multiply_add>("multiply_add", "one in a product");
    add.template operator()<&Costs::operation>("operation", "an operation of the score");
    add.template operator()<&Costs::transcendental>("transcendental", "a tanh, exp, ... of it");
    add.template operator()<&Costs::dropout>("dropout", "a factor drawn");
    add.template operator()<&Costs::tensor_byte>("tensor_byte", "a byte of tensors, not cached");
    add.template operator()<&Costs::pair_byte>("pair_byte", "a byte of scores, not cached");
}

std::vector<Field<Low>> all_fields() {
    std::vector<Field<Low>> fields = {
        field<&Low::row_blocks>("row_blocks", between(1, 1024), "that a sum over rows is cut into"),
        field<&Low::panel_vectors>("panel_vectors", between(1, 4),
                                   "of 16 columns in a panel of weights"),
        field<&Low::other_panel_vectors>("other_panel_vectors", between(1, 4),
                                         "where these divide the columns, the others do not"),
        field<&Low::packed_weights>("packed_weights", between(0, 2e9),
                                    "elements from which training copies no weights"),
        field<&Low::steps_passed_over>("steps_passed_over", between(1, 64),
                                       "kernels that wait, for one that need not"),
        field<&Low::replicated_numbers>("replicated_numbers", between(0, 65536),
                                        "that a kernel touches which each thread runs for itself"),
        field<&Low::attention, &Choices::patience>(
            "attention.patience", {.least = 0, .most = 1000, .whole = false},
            "times as long as plain ops one kernel may take, for the memory it saves"),
        field<&Low::attention, &Choices::cache_bytes>("attention.cache_bytes", between(0, 1e12),
                                                      "that stay for the next kernel"),
        field<&Low::attention, &Choices::tile>("attention.tile", between(1, 4096),
                                               "queries of a tile, as estimates take them"),
        field<&Low::attention, &Choices::tasks>(
            "attention.tasks", between(1, 256),
            "of the heads of one position, whose keys are split; 1: they are not"),
        field<&Low::loss, &Loss::chunk_floats>("loss.chunk_floats", between(1, 1e9),
                                               "logits of a chunk of tokens, about"),
        field<&Low::loss, &Loss::most_rows>("loss.most_rows", between(16, 4096),
                                            "tokens of a chunk, at most"),
        field<&Low::loss, &Loss::least_rows>("loss.least_rows", between(16, 4096),
                                             "tokens of a chunk, at least"),
        field<&Low::loss, &Loss::tile>("loss.tile", between(1, 65536),
                                       "classes whose weights are taken together"),
        field<&Low::loss, &Loss::least_classes>("loss.least_classes", between(0, 1e9),
                                                "from so many classes on logits are not stored")};
    add_costs<&Choices::plain_forward>("plain_forward", fields);
    add_costs<&Choices::plain_both>("plain_both", fields);
    add_costs<&Choices::fused_forward>("fused_forward", fields);
    add_costs<&Choices::fused_both>("fused_both", fields);
    return fields;
}

}  // namespace

const std::vector<Field<Lowering>>& lowering_fields() {
    static const std::vector<Field<Lowering>> fields = all_fields();
    return fields;
}

const std::vector<Field<Lowering>>& splitting_fields() {
    static const std::vector<Field<Lowering>> fields = {
        field<&Low::product_blocks>("product_blocks", between(1, 64),
                                    "that long sums with few results are cut into (split K)"),
        field<&Low::few_results>("few_results", between(0, 1e9), "at most so many are few"),
        field<&Low::many_terms>("many_terms", between(1, 1e9), "from so many on, a sum is long")};
    return fields;
}

}  // namespace fovea::target
