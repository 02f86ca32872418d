// The list: as many row elements as fit, filled anew while one scrolls. A list of a million rows is
// higher than browsers allow an element to be, so the scroll bar stands for a part of the list, and
// the wheel moves by rows.
//
// Text of the log is only ever the content of text nodes: nothing of it is parsed as HTML.

const ROW = 20;
const HIGHEST = 4000000;
/** The most rows that are printed: some two hundred pages. */
const MOST_PRINTED = 10000;

/**
 * Characters that control a terminal or the direction of a line, or that nobody sees, as escapes; a
 * line end as a sign.
 */
function visible(text) {
  return text.replace(/\n/g, "⏎").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g,
    (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

/** A name and an id, of which a name in a script from right to left leaves the id where it is. */
function isolated(text) {
  const [, name, id] = /^(.*) (\S+)$/s.exec(text) ?? [];
  return name === undefined || !RIGHT_TO_LEFT.test(name) ? visible(text) : `\u2068${visible(name)}\u2069 ${visible(id)}`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/**
 * Appends text to an element, visible, with what `find` matches as marks: in the text as it is, of
 * which a line may be the second one.
 */
function appendMarked(to, text, find) {
  let from = 0;
  if (find) {
    find.lastIndex = 0;
    for (let match = find.exec(text), marks = 0; match && marks < 100; match = find.exec(text), marks++) {
      if (match[0] === "") { find.lastIndex++; continue; }
      if (match.index > from) to.append(visible(text.slice(from, match.index)));
      to.append(element("mark", {}, visible(match[0])));
      from = match.index + match[0].length;
    }
  }
  if (from < text.length) to.append(visible(text.slice(from)));
}

/** The number of messages that one which was kept at a rate stands for, in words. */
function rateMeaning({ weight }) { return `it stands for ${weightText(weight)} messages`; }

function weightText(weight) { return weight < 100 && !Number.isInteger(weight) ? weight.toFixed(1) : countText(Math.round(weight)); }

class LogList {
  constructor(app) {
    this.app = app;
    this.grid = document.getElementById("table");
    this.box = document.getElementById("list");
    this.rows = document.getElementById("rows");
    this.spacer = document.getElementById("spacer");
    this.pool = [];
    this.top = 0;
    this.pending = false;
    this.expected = -1;
    this.box.addEventListener("scroll", () => this.onScroll());
    this.box.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.app.choose(Number(row.dataset.place));
    });
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  get count() { return this.app.filter.shown.length; }
  get visibleRows() { return Math.max(1, Math.floor(this.box.clientHeight / ROW)); }
  get last() { return Math.max(0, this.count - this.visibleRows); }

  /** Adapts to the number of items, and draws. */
  resize() {
    this.spacer.style.height = `${Math.min(this.count * ROW, HIGHEST)}px`;
    this.scrollTo(this.top);
  }

  /** Makes the row at `top`, which may be a fraction, the first one. */
  scrollTo(top) {
    this.top = Math.max(0, Math.min(top, this.last));
    const range = this.box.scrollHeight - this.box.clientHeight;
    const place = this.last === 0 ? 0 : Math.round(this.top / this.last * range);
    if (Math.abs(this.box.scrollTop - place) > 1) {
      this.expected = place;
      this.box.scrollTop = place;
    }
    this.draw();
  }

  onScroll() {
    if (Math.abs(this.box.scrollTop - this.expected) <= 1) return;
    this.expected = -1;
    const range = this.box.scrollHeight - this.box.clientHeight;
    this.top = range <= 0 ? 0 : this.box.scrollTop / range * this.last;
    this.app.onUserScroll();
    this.draw();
  }

  onWheel(event) {
    if (event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 1 : event.deltaMode === 2 ? this.visibleRows : 1 / ROW;
    this.scrollTo(this.top + event.deltaY * unit);
    this.app.onUserScroll();
  }

  /** Scrolls as little as needed to show a place. */
  show(place) {
    if (place < this.top) this.scrollTo(place);
    else if (place >= this.top + this.visibleRows) this.scrollTo(place - this.visibleRows + 1);
    else this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.fill();
    });
  }

  fill() {
    const { shown } = this.app.filter, { chosen } = this.app, first = Math.floor(this.top);
    const wanted = Math.min(this.visibleRows + 2, shown.length - first);
    while (this.pool.length < wanted) {
      const row = this.newRow();
      this.pool.push(row);
      this.rows.append(row);
    }
    const shift = (first - this.top) * ROW;
    this.pool.forEach((row, k) => {
      row.hidden = k >= wanted;
      row.style.display = row.hidden ? "none" : "";
      if (row.hidden) { row.removeAttribute("id"); return; }
      row.style.transform = `translateY(${Math.round(shift + k * ROW)}px)`;
      this.fillRow(row, first + k);
    });
    this.grid.setAttribute("aria-rowcount", String(shown.length + 1));
    const active = chosen === null ? null : this.pool.find((row) => !row.hidden && row.getAttribute("aria-selected") === "true");
    if (active) this.grid.setAttribute("aria-activedescendant", active.id); else this.grid.removeAttribute("aria-activedescendant");
  }

  newRow() {
    const cells = ["time", "delta", "process", "thread", "level", "group", "message", "place"].map((name) => element("span", { class: name, role: "gridcell" }));
    return element("div", { class: "row", role: "row" }, ...cells);
  }

  /**
   * Puts the rows that pass the filters onto paper, for the time of printing: the screen has only
   * those that fit.
   */
  print() {
    const { shown } = this.app.filter, printed = Math.min(shown.length, MOST_PRINTED), left = shown.length - printed;
    const said = [document.title, document.getElementById("zone").textContent, document.getElementById("count").textContent];
    if (left > 0) said.push(`${countText(left)} more are left out: filter to print them`);
    const lines = Array.from({ length: printed }, (_, place) => {
      const row = this.newRow();
      this.fillRow(row, place);
      row.removeAttribute("id");
      row.setAttribute("aria-selected", "false");
      return row;
    });
    document.getElementById("paper").replaceChildren(element("p", {}, said.map(visible).join(" · ")), ...lines);
  }

  fillRow(row, place) {
    const { data, filter, bookmarks, chosen } = this.app, item = filter.shown[place];
    const before = place > 0 ? data.between(filter.shown[place - 1], item) : null;
    const letter = LEVELS[data.level(item)], message = data.messageOf(item);
    row.className = `row ${letter}${bookmarks.has(item) ? " kept" : ""}${data.isLimited(item) ? " limited" : data.isRepeat(item) ? " repeat" : ""}`;
    row.dataset.place = place;
    row.id = `row-${place}`;
    row.setAttribute("aria-selected", String(item === chosen));
    row.setAttribute("aria-rowindex", place + 2);
    const [time, delta, process, thread, level, group, text, location] = row.children, of = data.threadOf(item);
    time.textContent = clockText(data, item);
    delta.textContent = before === null ? "" : "+" + durationText(before);
    process.textContent = isolated(processText(of));
    thread.textContent = isolated(threadText(of));
    level.textContent = levelSign(data.level(item));
    level.title = LEVEL_NAMES[data.level(item)];
    group.textContent = data.isLoss(item) ? (data.isLimited(item) ? "limited" : data.isRepeat(item) ? "repeated" : "lost")
      : visible(shortGroup(data.groupOf(item)));
    location.textContent = message ? visible(message.location.split("/").pop()) : "";
    this.fillText(text, item);
    const rate = data.rateOf(item);
    if (rate !== null) text.prepend(element("span", { class: "rate", title: `kept by sampling: ${rateMeaning(rate)}` }, visible(rate.text)));
  }

  /** The message: arguments in another colour, or matches marked. */
  fillText(cell, item) {
    const { data, filter } = this.app, { find } = filter.search;
    const pieces = data.pieces(item);
    cell.replaceChildren();
    if (find) {
      appendMarked(cell, pieces.join(""), find);
      return;
    }
    pieces.forEach((piece, k) => {
      if (piece === "") return;
      if (k % 2 === 1) cell.append(element("span", { class: "arg" }, visible(piece)));
      else cell.append(visible(piece));
    });
  }
}
