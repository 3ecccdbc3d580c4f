// Opens a page of `fovea page` in Chromium without a window, writes sentences into it and presses
// its button: node open_page.js PAGE PROFILE SENTENCE…
// Prints a line of JSON for each: what the page then shows. Whatever the page says on the console,
// and what goes wrong, stands on standard error, and the status is 1.
"use strict";
const { spawn } = require("node:child_process");

const [page, profile, ...sentences] = process.argv.slice(2);
const kMostSeconds = 240;

// Messages of the DevTools protocol go over two pipes, each ended by a zero.
const chromium = spawn("chromium", ["--headless", "--no-sandbox", "--disable-gpu",
  "--remote-debugging-pipe", `--user-data-dir=${profile}`],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const complaints = [];
const waiting = new Map();
let loaded = null, count = 0, rest = "";

function end(status) {
  for (const complaint of complaints) console.error(complaint);
  chromium.kill("SIGKILL");
  process.exit(status);
}
function received(message) {
  const says = { "Runtime.consoleAPICalled": p => p.args.map(a => a.value).join(" "),
    "Runtime.exceptionThrown": p => p.exceptionDetails.exception?.description,
    "Log.entryAdded": p => p.entry.text }[message.method];
  if (says) complaints.push(`${message.method}: ${says(message.params)}`);
  if (message.method === "Page.loadEventFired") loaded();
  const { resolve, reject } = waiting.get(message.id) ?? {};
  if (message.error) reject?.(new Error(message.error.message));
  else resolve?.(message.result);
}
chromium.stdio[4].setEncoding("utf8").on("data", text => {
  const parts = (rest + text).split("\0");
  rest = parts.pop();
  for (const part of parts) received(JSON.parse(part));
});
function send(method, params = {}, sessionId = undefined) {
  return new Promise((resolve, reject) => {
    waiting.set(++count, { resolve, reject });
    chromium.stdio[3].write(JSON.stringify({ id: count, method, params, sessionId }) + "\0");
  });
}

async function main() {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`, {}, sessionId);
  const evaluate = async expression => {
    const said = await send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (said.exceptionDetails) throw new Error(said.exceptionDetails.exception.description);
    return said.result.value;
  };
  const whole = new Promise(resolve => { loaded = resolve; });
  await send("Page.navigate", { url: `file://${page}` }, sessionId);
  await whole;
  await evaluate(`new Promise(done => {
    const look = () => part("go").disabled && part("wrong").hidden ? setTimeout(look, 20) : done();
    look();
  })`);
  for (const sentence of sentences) {
    const shown = await evaluate(`
      part("sentence").value = ${JSON.stringify(sentence)};
      part("go").click();
      ({ translation: part("translation").textContent, wrong: part("wrong").textContent,
         rows: [...document.querySelectorAll("tbody th")].map(word => word.textContent),
         columns: [...document.querySelectorAll("thead span")].map(word => word.textContent),
         weights: [...document.querySelectorAll("td")].map(
           cell => Number(cell.style.getPropertyValue("--weight"))),
         elements: document.body.querySelectorAll("*").length })`);
    console.log(JSON.stringify(shown));
  }
  end(complaints.length ? 1 : 0);
}
setTimeout(() => { complaints.push(`no answer in ${kMostSeconds} seconds`); end(1); },
  kMostSeconds * 1000);
main().catch(error => { complaints.push(String(error)); end(1); });
