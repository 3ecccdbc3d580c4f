// How the page of a report looks.
#pragma once

#include <string_view>

namespace fovea::tool {

/// Pictures are drawn for a white ground; on a dark one their lightness is turned around.
inline constexpr std::string_view kReportStyle = R"(
:root { color-scheme: light dark; --ground: #fff; --ink: #1b1b1d; --dim: #5d6066; --line: #dcdde1;
  --card: #f6f6f8; --bar: #0072b2; --off: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16171a; --ink: #e6e6e8; --dim: #a2a5ab; --line: #3a3c42; --card: #202226;
    --bar: #56b4e9; --off: #e69f00; }
  svg { filter: invert(0.91) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 100rem; background: var(--ground);
  color: var(--ink); font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0.3rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid var(--line); }
p { max-width: 50rem; }
.dim { color: var(--dim); }
.facts { display: flex; flex-wrap: wrap; gap: 0.6rem; padding: 0; list-style: none; }
.facts li { background: var(--card); border-radius: 0.5rem; padding: 0.4rem 0.9rem; }
.facts b { display: block; font-size: 1.15rem; }
.scroll { overflow: auto; max-height: 90vh; border: 1px solid var(--line); border-radius: 0.5rem; }
.scroll svg { display: block; }
.scroll + .scroll { margin-top: 0.5rem; }
.fit svg { width: 100%; height: auto; min-width: 34rem; max-width: 60rem; }
table { border-collapse: collapse; }
th, td { text-align: right; padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
details { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0.4rem 0; }
summary { cursor: pointer; padding: 0.4rem 0.8rem; overflow-wrap: anywhere; }
details > :not(summary) { margin: 0.4rem 0.8rem; }
pre { overflow-x: auto; background: var(--card); padding: 0.7rem; border-radius: 0.4rem;
  font: 12.5px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.kernel summary { display: grid; grid-template-columns: minmax(12rem, 3fr) 5.5rem 4rem
  minmax(6rem, 2fr) 11rem; gap: 0 1rem; align-items: center; }
.kernel summary span { text-align: right; font-variant-numeric: tabular-nums; }
.kernel summary span:first-child { text-align: left; font-weight: 600; }
.bar { background: var(--card); height: 0.8rem; border-radius: 0.2rem; overflow: hidden; }
.bar i { display: block; height: 100%; background: var(--bar); }
.reasons { padding-left: 1.2rem; max-height: 24rem; overflow-y: auto; }
.reasons li { overflow-wrap: anywhere; }
@media (max-width: 44rem) {
  .kernel summary { grid-template-columns: 1fr 1fr 2fr; }
  .kernel summary span:first-child, .kernel .bar { grid-column: 1 / -1; }
  .kernel summary span { text-align: left; }
  .kernel .bar { order: 1; }
  th, td { padding: 0.2rem 0.4rem; }
  th, td:first-child { white-space: normal; }
}
)";

}  // namespace fovea::tool
