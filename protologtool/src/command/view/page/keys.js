// The keys; the same table makes the help.

const KEYS = [
  [["j", "ArrowDown"], "next message", (app) => app.move(1)],
  [["k", "ArrowUp"], "previous message", (app) => app.move(-1)],
  [["PageDown", " "], "a page down", (app) => app.move(app.list.visibleRows)],
  [["PageUp"], "a page up", (app) => app.move(-app.list.visibleRows)],
  [["Home"], "first message", (app) => app.choose(0)],
  [["End", "G"], "last message", (app) => app.choose(app.list.count - 1)],
  [["e"], "next error", (app) => app.seek(1, (item) => app.isError(item), "no error after this")],
  [["E"], "previous error", (app) => app.seek(-1, (item) => app.isError(item), "no error before this")],
  [["/"], "filter by text or /regex/", (app) => app.text.focus()],
  [["m"], "mark matches only, or show nothing else", (app) => app.toggleMode()],
  [["n"], "next match", (app) => app.seek(1, (item) => app.isMatch(item), "no match after this")],
  [["N"], "previous match", (app) => app.seek(-1, (item) => app.isMatch(item), "no match before this")],
  [["t"], "next message of the same thread", (app) => app.seek(1, (item) => app.isSameThread(item), "no message of this thread after this")],
  [["T"], "previous message of the same thread", (app) => app.seek(-1, (item) => app.isSameThread(item), "no message of this thread before this")],
  [["s"], "only messages of this template, or all", (app) => app.onlyTemplate()],
  [["r"], "only messages of this request, or all", (app) => app.onlyRequest()],
  [["w"], "to the switches of this message, if its program runs", (app) => app.focusSwitches()],
  [["b"], "keep a bookmark, or remove it", (app) => app.bookmark()],
  [["]"], "next bookmark", (app) => app.seek(1, (item) => app.bookmarks.has(item), "no bookmark after this")],
  [["["], "previous bookmark", (app) => app.seek(-1, (item) => app.bookmarks.has(item), "no bookmark before this")],
  [["+", "="], "half the time that is shown, around the chosen message", (app) => app.zoom(0.5)],
  [["-"], "twice the time that is shown", (app) => app.zoom(2)],
  [["ArrowLeft"], "earlier, if not all time is shown", (app) => app.pan(-0.25)],
  [["ArrowRight"], "later", (app) => app.pan(0.25)],
  [["o"], "the time of the span around the message; again for the one around that", (app) => app.chooseSpanAround()],
  [["0"], "all time", (app) => app.chooseTime(null, null)],
  [["g"], "go to a time", (app) => app.askTime()],
  [["1", "2", "3", "4", "5", "6"], "this level (verbose to wtf) or more severe", (app, key) => app.leastLevel(Number(key) - 1)],
  [["c"], "copy as text", (app) => app.copy("text")],
  [["C"], "copy as JSON", (app) => app.copy("json")],
  [["l"], "copy a link to this", (app) => app.copy("link")],
  [["f"], "follow a running program", (app) => app.toggleFollow()],
  [["x"], "remove all filters", (app) => app.clear()],
  [["Escape"], "close, or leave the text field", (app) => app.escape()],
  [["?"], "this help", (app) => app.showKeys()],
];

function bindKeys(app) {
  const actions = new Map(KEYS.flatMap(([keys, , action]) => keys.map((key) => [key, action])));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // An open dialog has the keys.
    if (document.querySelector("dialog[open]")) return;
    const { target } = event, typing = target.matches("input[type=search]"), isButton = target.matches("button, input, summary");
    if (typing && event.key === "Enter") { app.list.grid.focus(); event.preventDefault(); return; }
    if (typing && event.key !== "Escape" || isButton && (event.key === " " || event.key === "Enter")) return;
    const action = actions.get(event.key);
    if (!action) return;
    event.preventDefault();
    action(app, event.key);
  });
}

function keysTable() {
  const names = { " ": "Space", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", PageDown: "Page ↓", PageUp: "Page ↑", Escape: "Esc" };
  // Two columns, to fit on small screens.
  const rows = KEYS.map(([keys, what]) => {
    const cell = element("td");
    keys.forEach((key) => cell.append(element("kbd", {}, names[key] ?? key), " "));
    return element("tr", {}, cell, element("td", {}, what));
  });
  const half = Math.ceil(rows.length / 2);
  // With the focus, so that its keys scroll where it does not fit.
  return element("div", { class: "tables", tabindex: 0 }, element("table", {}, ...rows.slice(0, half)), element("table", {}, ...rows.slice(half)));
}
