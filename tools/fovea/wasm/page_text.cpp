// The page in one file: program, weights, style and script stand in it.
#include "tools/fovea/wasm/page_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "tools/fovea/chart/svg.h"
#include "tools/fovea/version.h"
#include "tools/fovea/wasm/page_script.h"
#include "tools/fovea/wasm/page_style.h"

namespace fovea::tool {

namespace {

/// JavaScript as it may stand in an element: nothing in it ends that. In a literal `<\/` is `</`.
std::string in_script(std::string text) {
    for (std::size_t at = 0; (at = text.find("</script", at)) != std::string::npos; at += 3)
        text.insert(at + 1, 1, '\\');
    return text;
}

std::string buttons(const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences)
        text += fmt::format("<button type=\"button\" disabled>{}</button>\n", escaped(sentence));
    return text;
}

}  // namespace

std::string base64(const std::string& bytes) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t place = at + i;
            group = group << 8 | (place < bytes.size() ? std::uint8_t(bytes[place]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i)
            text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

std::string page_text(const TranslatorPage& page) {
    const std::string first = page.sentences.empty() ? "" : page.sentences.front();
    return fmt::format(
        R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{0}</title>
<style>{1}</style>
</head>
<body>
<h1>{0}</h1>
<p class="dim">The model runs in this page, as WebAssembly; no sentence leaves it.</p>
<form id="form">
<input id="sentence" aria-label="Sentence" maxlength="2000" autocomplete="off" value="{2}">
<button id="go" disabled>Translate</button>
</form>
<div id="offered">
{3}</div>
<output id="translation" for="sentence"></output>
<p id="wrong" role="alert" hidden></p>
<section id="looked" hidden>
<h2>Where it looked</h2>
<p class="dim">The attention of each row's word over the words of the columns; a row's weights add
up to 1.</p>
<div class="choices">
<label>Module <select id="module"></select></label>
<label>Head <select id="head"></select></label>
</div>
<div id="map" tabindex="0" role="region" aria-label="Attention weights"></div>
</section>
<footer class="dim">Made by {4}.</footer>
<script id="weights" type="application/octet-stream">{5}</script>
<script>{6}</script>
<script>{7}</script>
</body>
</html>
)",
        escaped(page.title), kPageStyle, escaped(first), buttons(page.sentences),
        escaped(name_and_version()), base64(page.weights), in_script(page.program), kPageScript);
}

}  // namespace fovea::tool
