// The special tokens around those of a text.
#pragma once

#include <cstdint>
#include <vector>

#include "../field.h"

namespace fovea::runtime::tokens {

/// Ids with places for those of the text.
class Template {
  public:
    static constexpr std::int32_t kText = -1;

    explicit Template(std::vector<std::int32_t> ids) : ids_(std::move(ids)) {}

    std::vector<std::int32_t> filled(const std::vector<std::int32_t>& text) const;

  private:
    std::vector<std::int32_t> ids_;
};

/// The templates that the post-processor of a tokenizer.json applies to one text, one after
/// another. UserError for a type that is unknown.
std::vector<Template> read_post_processor(const Field& field);

}  // namespace fovea::runtime::tokens
