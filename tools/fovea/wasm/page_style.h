// How the page looks: for light and for dark grounds, from the width of a telephone on.
#pragma once

#include <string_view>

namespace fovea::tool {

inline constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; --ground: #fff; --ink: #1b1b1d; --dim: #5d6066; --line: #d3d5da;
  --card: #f6f6f8; --accent: #0060a0; --on-accent: #fff; --heat: 0 96 160; --on-heat: #fff;
  --wrong: #a3210f; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16171a; --ink: #e6e6e8; --dim: #a2a5ab; --line: #3f4248; --card: #202226;
    --accent: #66b8ee; --on-accent: #10222e; --heat: 102 184 238; --on-heat: #10222e;
    --wrong: #ff9a86; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem 1rem 3rem; max-width: 56rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 0.25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.25rem; }
p { margin: 0.25rem 0 1rem; }
.dim { color: var(--dim); }
form { display: flex; gap: 0.5rem; }
input, button, select { font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
input { flex: 1; min-width: 0; background: var(--ground); }
button { cursor: pointer; }
form button { background: var(--accent); border-color: var(--accent); color: var(--on-accent);
  font-weight: 600; }
button:disabled { opacity: 0.5; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
#offered { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 0.75rem 0 0; }
#offered button { padding: 0.15rem 0.7rem; border-radius: 2rem; font-size: 0.9rem; }
#translation { display: block; margin-top: 1.25rem; padding: 0.9rem 1rem; min-height: 3.6rem;
  background: var(--card); border-radius: 0.5rem; font-size: 1.3rem; overflow-wrap: anywhere; }
#wrong { color: var(--wrong); margin: 0.75rem 0 0; overflow-wrap: anywhere; }
.choices { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 0.5rem 0 0.75rem; }
.choices label { display: flex; align-items: center; gap: 0.5rem; max-width: 100%; }
.choices select { min-width: 0; padding: 0.3rem 0.5rem; }
#map { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 2px; }
th { font-weight: 400; padding: 0 0.4rem; white-space: nowrap; }
thead th { vertical-align: bottom; padding: 0.3rem 0; }
thead th span { writing-mode: vertical-rl; transform: rotate(180deg); display: inline-block; }
tbody th { text-align: right; position: sticky; left: 0; background: var(--ground); }
td { width: 2.9rem; min-width: 2.1rem; height: 2.1rem; text-align: center; padding: 0;
  font-size: 0.75rem; font-variant-numeric: tabular-nums; border-radius: 0.2rem;
  background: rgb(var(--heat) / calc(0.05 + 0.95 * var(--weight))); }
td.highest { color: var(--on-heat); }
@media (prefers-color-scheme: dark) { td.high { color: var(--on-heat); } }
footer { margin-top: 2.5rem; font-size: 0.85rem; }
[hidden] { display: none !important; }
)css";

}  // namespace fovea::tool
