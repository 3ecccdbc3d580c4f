#include "tools/fovea/report/attention_picture.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "codegen/base/error.h"
#include "runtime/files/files.h"
#include "runtime/translator/attention_svg.h"
#include "runtime/translator/saved_maps.h"

namespace fovea::tool {

namespace {

/// What a picture has that is not for a page, or nothing.
std::string why_not_on_a_page(const std::string& svg) {
    if (!svg.starts_with("<svg ") || svg.find("</svg>") == svg.npos)
        return "it does not begin with <svg";
    std::string lower;
    for (const char c : svg) lower += char(std::tolower(static_cast<unsigned char>(c)));
    for (const char* part :
         {"<script", "<foreignobject", "<image", "<use", "<style", "<!", "<?", "href", "url("})
        if (lower.find(part) != lower.npos) return fmt::format("it has {}", part);
    // Handlers: onload="…".
    for (std::size_t at = lower.find(" on"); at != lower.npos; at = lower.find(" on", at + 1)) {
        std::size_t end = at + 3;
        while (end < lower.size() && std::isalpha(static_cast<unsigned char>(lower[end]))) ++end;
        if (end > at + 3 && lower[end] == '=')
            return fmt::format("it has{}", lower.substr(at, end + 1 - at));
    }
    return "";
}

}  // namespace

AttentionPicture read_attention_picture(const std::string& path) {
    AttentionPicture picture{.name = std::filesystem::path(path).filename().string(), .svg = {}};
    if (path.ends_with(".svg")) {
        const std::vector<std::byte> bytes = runtime::read_file(path);
        picture.svg.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const std::string reason = why_not_on_a_page(picture.svg);
        if (!reason.empty())
            throw UserError(fmt::format(
                "'{}' is not a picture that translate --attention wrote: {}", path, reason));
        return picture;
    }
    if (!path.ends_with(".safetensors"))
        throw UserError(
            fmt::format("--attention takes files that end in .safetensors or .svg, "
                        "which translate --attention writes; not '{}'",
                        path));
    const runtime::SavedMaps saved = runtime::read_attention_maps(path);
    picture.svg = runtime::attention_svg(saved.maps, saved.tokens);
    return picture;
}

}  // namespace fovea::tool
