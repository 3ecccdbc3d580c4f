// Post-processors by their type.
#include "post_processor.h"

#include "../models/token_ids.h"

namespace fovea::runtime::tokens {

namespace {

/// The ids that a template's special token stands for.
std::vector<std::int32_t> special_ids(const Field& field, const Field& token) {
    const Field name = token["id"], known = field["special_tokens"];
    const std::optional<Field> special = known.find(name.text());
    if (!special) name.refuse("is '{}', which special_tokens lacks", {name.text()});
    std::vector<std::int32_t> ids;
    for (const Field& id : special->items("ids")) ids.push_back(read_id(id));
    return ids;
}

Template read_template(const Field& field) {
    std::vector<std::int32_t> ids;
    bool has_text = false;
    for (const Field& part : field["single"].items()) {
        if (const auto token = part.find("SpecialToken")) {
            for (const std::int32_t id : special_ids(field, *token)) ids.push_back(id);
            continue;
        }
        const Field name = part["Sequence"]["id"];
        if (name.text() != "A") name.refuse("is '{}', and one text is A", {name.text()});
        if (has_text) name.refuse("is 'A' once more");
        has_text = true;
        ids.push_back(Template::kText);
    }
    return Template(std::move(ids));
}

/// The id of ["[SEP]", 102].
std::int32_t read_pair(const Field& field) {
    const std::vector<Field> pair = field.items();
    if (pair.size() != 2) field.refuse("is no pair of a token and its id");
    return read_id(pair[1]);
}

}  // namespace

std::vector<std::int32_t> Template::filled(const std::vector<std::int32_t>& text) const {
    std::vector<std::int32_t> all;
    for (const std::int32_t id : ids_) {
        if (id == kText) {
            all.insert(all.end(), text.begin(), text.end());
        } else {
            all.push_back(id);
        }
    }
    return all;
}

std::vector<Template> read_post_processor(const Field& field) {
    const Field type = field["type"];
    const std::string& name = type.text();
    if (name == "ByteLevel") return {};  // it moves offsets alone
    if (name == "TemplateProcessing") return {read_template(field)};
    if (name == "BertProcessing" || name == "RobertaProcessing")
        return {Template({read_pair(field["cls"]), Template::kText, read_pair(field["sep"])})};
    if (name != "Sequence") type.refuse("is '{}', a post-processor without code here", {name});
    std::vector<Template> all;
    for (const Field& step : field.items("processors"))
        for (Template& one : read_post_processor(step)) all.push_back(std::move(one));
    return all;
}

}  // namespace fovea::runtime::tokens
