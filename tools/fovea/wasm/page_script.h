// What the page does: it reads the weights that it holds, translates, and draws where it looked.
#pragma once

#include <string_view>

namespace fovea::tool {

/// Texts of users and words of the weights reach the page as text alone (textContent).
inline constexpr std::string_view kPageScript = R"js(
"use strict";
const part = id => document.getElementById(id);
const kWeights = "/weights.safetensors";
let program = null, answer = null;

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent.append(made);
  return made;
}
function complain(text) {
  part("wrong").textContent = text;
  part("wrong").hidden = !text;
}

// The tokens along an axis: what the decoder read is one behind what it wrote.
function tokens(axis, isQuery) {
  if (axis === "source") return answer.source;
  return isQuery ? answer.produced : answer.read;
}
function weightOf(map, head, query, key) {
  const at = h => map.weights[(h * map.queries + query) * map.keys + key];
  if (head >= 0) return at(head);
  let sum = 0;
  for (let h = 0; h < map.heads; ++h) sum += at(h);
  return sum / map.heads;
}
function drawMap() {
  const map = answer.maps[part("module").value], head = Number(part("head").value);
  const queries = tokens(map.query_axis, true), keys = tokens(map.key_axis, false);
  const table = document.createElement("table");
  const top = table.createTHead().insertRow();
  element("th", "", top);
  for (const key of keys) element("span", key, element("th", "", top)).parentNode.scope = "col";
  const body = table.createTBody();
  queries.forEach((query, q) => {
    const row = body.insertRow();
    element("th", query, row).scope = "row";
    keys.forEach((key, k) => {
      const weight = weightOf(map, head, q, k), cell = row.insertCell();
      cell.textContent = weight < 0.005 ? "" : weight.toFixed(2).replace(/^0/, "");
      cell.title = `${query} looks at ${key}: ${weight.toFixed(4)}`;
      cell.style.setProperty("--weight", weight);
      // From where on words are read better in the other colour, on dark grounds and on light ones.
      cell.classList.toggle("high", weight > 0.58);
      cell.classList.toggle("highest", weight > 0.75);
    });
  });
  part("map").replaceChildren(table);
}
function option(text, value, list) { element("option", text, list).value = value; }
function offerHeads() {
  const kept = part("head").value;
  part("head").replaceChildren();
  const heads = answer.maps[part("module").value].heads;
  if (heads > 1) option("mean of all", -1, part("head"));
  for (let h = 0; h < heads; ++h) option(String(h + 1), h, part("head"));
  if ([...part("head").options].some(o => o.value === kept)) part("head").value = kept;
}
// At first the last module that looks from the translation at the sentence.
function offerModules() {
  const list = part("module"), kept = list.options.length ? list.value : "";
  list.replaceChildren();
  let first = 0;
  answer.maps.forEach((map, i) => {
    option(map.name.replace(/\.weights$/, ""), i, list);
    if (map.query_axis === "target" && map.key_axis === "source") first = i;
  });
  list.value = kept === "" ? first : kept;
}

function translate(sentence) {
  part("sentence").value = sentence;
  answer = JSON.parse(program.ccall("fovea_translate", "string", ["string", "string"],
                                    [kWeights, sentence]));
  complain(answer.error || "");
  part("translation").textContent = answer.text || "";
  part("looked").hidden = !answer.maps;
  if (!answer.maps) return;
  offerModules();
  offerHeads();
  drawMap();
}

// A sentence behind # in the address is translated at once.
function asked() {
  const most = part("sentence").maxLength;
  try {
    return decodeURIComponent(location.hash.slice(1)).slice(0, most);
  } catch {
    return "";
  }
}
async function start() {
  program = await createFovea();
  const bytes = atob(part("weights").textContent.trim());
  program.FS.writeFile(kWeights, Uint8Array.from(bytes, c => c.charCodeAt(0)));
  part("go").disabled = false;
  part("form").addEventListener("submit", event => {
    event.preventDefault();
    translate(part("sentence").value);
  });
  for (const button of part("offered").children) {
    button.disabled = false;
    button.addEventListener("click", () => translate(button.textContent));
  }
  part("module").addEventListener("change", () => { offerHeads(); drawMap(); });
  part("head").addEventListener("change", drawMap);
  addEventListener("hashchange", () => translate(asked()));
  const first = asked() || part("sentence").value;
  if (first) translate(first);
}
start().catch(error => complain(`This browser cannot run the page: ${error}`));
)js";

}  // namespace fovea::tool
