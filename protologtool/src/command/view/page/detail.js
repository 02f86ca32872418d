// The message that was chosen: its text with the arguments, the values of a numeric argument over
// time, what the same thread logged before and after, the place in the source, and the stack.

const NEIGHBOURS = 5;
/** The farthest that is looked for neighbours, in items. */
const FARTHEST = 100000;
/** The most values that a plot has; more are thinned out evenly. */
const MOST_POINTS = 20000;
/** The most values of an argument that are listed. */
const TOP_VALUES = 5;

class Detail {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("detail");
    new ResizeObserver(() => this.plotAll()).observe(this.box);
  }

  draw() {
    const { data, chosen } = this.app;
    this.box.hidden = chosen === null;
    if (chosen === null) return;
    const heading = element("h2", { class: LEVELS[data.level(chosen)] });
    data.pieces(chosen).forEach((piece, k) => heading.append(element("span", { class: k % 2 === 1 ? "arg" : null }, visible(piece))));
    const stack = data.stack(chosen), left = element("div", {}, this.facts(chosen), ...this.switches(chosen), ...this.spans(chosen), ...this.neighbours(chosen)), right = element("div", {}, ...this.args(chosen));
    if (stack !== null) {
      right.append(element("h3", {}, "Stack"), element("pre", { tabindex: 0, "aria-label": "Stack" }, stack.split("\n").map(visible).join("\n")));
    }
    const columns = element("div", { class: right.childElementCount > 0 ? "columns" : "" }, left, right);
    const key = data.key(chosen), top = key === this.drawn ? this.box.scrollTop : 0;
    this.drawn = key;
    // A log that grows is drawn anew while a key is on its way to a button.
    const word = this.box.contains(document.activeElement) ? document.activeElement.dataset.word : undefined;
    this.box.replaceChildren(this.actions(), heading, columns);
    if (word !== undefined) this.box.querySelector(`[data-word="${word}"]`)?.focus();
    this.box.scrollTop = top;
    this.plotAll();
  }

  actions() {
    const { app } = this, isKept = app.bookmarks.has(app.chosen);
    const button = (text, title, action, pressed) => element("button", { type: "button", title, "aria-pressed": pressed, on: { click: action } }, text);
    return element("div", { class: "actions" },
      button(isKept ? "★ Kept" : "☆ Keep", "Keep a bookmark, or remove it (b)", () => app.bookmark(), String(isKept)),
      button("Copy text", "Copy as text (c)", () => app.copy("text")),
      button("Copy JSON", "Copy as JSON (C)", () => app.copy("json")),
      button("Copy link", "Copy a link to this (l)", () => app.copy("link")),
      button("×", "Close (Esc)", () => app.escape()));
  }

  facts(item) {
    const { data } = this.app, message = data.messageOf(item), group = data.groupOf(item), thread = data.threadOf(item);
    const facts = element("dl");
    const fact = (name, value) => { if (value) facts.append(element("dt", {}, name), element("dd", {}, visible(value))); };
    const wall = data.wall(item), zone = wall === null ? "" : ` ${zoneText(wall)}`;
    fact("time", `${dateText(data, item)} ${clockText(data, item)}${zone}  (${secondsText(data.stampOf(item))} s since boot)`.trim());
    if (data.isGuess(item)) fact("", "a guess from neighbouring packets");
    fact("thread", `${threadText(thread)} of ${thread.process ?? "process"} ${thread.pid ?? "?"}`);
    fact("level", LEVEL_NAMES[data.level(item)]);
    const request = data.requestOf(item);
    if (request !== null) {
      const isOnly = this.app.filter.chosen.requests.has(data.requests[item]);
      fact("request", request);
      facts.lastElementChild.append(" ", element("button", {
        type: "button", class: "request", title: isOnly ? "Show all requests (r)" : "Show only this request (r)", "aria-pressed": String(isOnly),
        on: { click: () => this.app.onlyRequest() },
      }, "only"));
    }
    const rate = data.rateOf(item), passed = message ? data.passedOver(group.name, message.level) : 0;
    if (rate !== null) fact("sampled", `${rate.text}: ${rateMeaning(rate)}`);
    if (passed > 0) fact("", `${passedText(passed)} of this group and level in the log`);
    if (message) {
      fact("group", `${group.name}${group.tag && group.tag !== shortName(group.name) ? `, tag ${group.tag}` : ""}`);
      fact("template", message.template);
      fact("location", message.location);
      fact("id", message.id);
    }
    return facts;
  }

  /** The switches of a message in the program that logged it, once that has answered. */
  switches(item) {
    const { data } = this.app, message = data.messageOf(item), { pid } = data.threadOf(item);
    if (this.app.switches === undefined || !message || pid === null) return [];
    return [this.app.switches.of(pid, message)];
  }

  /** The spans that the message is in, each a button for its time. */
  spans(item) {
    const { data } = this.app, line = (slice) => element("button", {
      type: "button", class: "near span", title: `Show the time of this span of ${visible(data.textOf(data.slices.target[slice]))} (o)`,
      on: { click: () => this.app.chooseSpan(slice) },
    }, element("span", {}, spanDuration(data, slice)), element("span", {}, spanText(data, slice)));
    const lines = data.slicesAround(item).map(line);
    return lines.length === 0 ? [] : [element("h3", {}, "Spans"), ...lines];
  }

  args(item) {
    const { data } = this.app;
    if (data.isLoss(item) || data.flags(item) & WHOLE) return [];
    const rows = [], { verbs } = data.messageOf(item);
    data.pieces(item).forEach((piece, k) => {
      if (k % 2 === 0) return;
      const name = argName(data.messageOf(item), (k - 1) / 2), row = element("tr", {}, element("th", { scope: "row", title: visible(name) }, visible(name)), element("td", { class: "arg" }, element("div", {}, visible(piece))));
      if (numberOf(piece, verbs[(k - 1) / 2]) !== null) {
        const canvas = element("canvas", { "data-arg": k, role: "img", "aria-label": `${name} over time` });
        canvas.addEventListener("click", (event) => this.app.goToTime(this.app.overview.timeAt(event.offsetX / canvas.clientWidth * this.app.overview.canvas.clientWidth)));
        row.append(element("td", { class: "plot" }, canvas, element("small")));
      }
      else row.append(element("td", { class: "top", "data-arg": k }));
      rows.push(row);
    });
    return rows.length === 0 ? [] : [element("h3", {}, "Arguments"), element("table", {}, ...rows)];
  }

  plotAll() {
    if (this.app.chosen === null) return;
    const canvases = [...this.box.querySelectorAll("canvas")], tops = [...this.box.querySelectorAll("td.top")];
    if (canvases.length + tops.length === 0) return;
    const { data, filter, chosen } = this.app, template = data.kind(chosen);
    const items = filter.shown.filter((item) => data.kind(item) === template && !(data.flags(item) & WHOLE));
    canvases.forEach((canvas) => this.plot(canvas, items, Number(canvas.dataset.arg)));
    tops.forEach((cell) => this.listTop(cell, items, Number(cell.dataset.arg)));
  }

  /**
   * Lists the most frequent values of an argument in these messages, each a button that searches
   * for it.
   */
  listTop(cell, items, arg) {
    const { data } = this.app, every = Math.ceil(items.length / MOST_POINTS), counts = new Map();
    for (let k = 0; k < items.length; k += every) {
      const value = data.pieces(items[k])[arg];
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const top = [...counts].sort((a, b) => b[1] - a[1]).slice(0, TOP_VALUES), about = every > 1 ? "about " : "";
    const button = ([value, count]) => element("button", {
      type: "button", class: "near", title: `Search for ${visible(value)}`, on: { click: () => { this.app.text.value = value; this.app.searchFor(value); } },
    }, element("b", {}, about + countText(count * every)), element("span", {}, visible(value)));
    const left = counts.size > top.length ? [element("small", {}, `and ${countText(counts.size - top.length)} more values`)] : [];
    cell.replaceChildren(...(counts.size > 1 ? [...top.map(button), ...left] : [element("small", {}, items.length === 1 ? "the only value" : "always the same")]));
  }

  /** Draws the values of an argument in these messages, over the time of the strip above. */
  plot(canvas, items, arg) {
    const { data, chosen, overview } = this.app, every = Math.ceil(items.length / MOST_POINTS), points = [], verb = data.messageOf(chosen).verbs[(arg - 1) / 2];
    let low = Infinity, high = -Infinity, sum = 0;
    for (let k = 0; k < items.length; k += every) {
      const value = numberOf(data.pieces(items[k])[arg], verb);
      if (value === null) continue;
      points.push([data.time[items[k]], value]);
      low = Math.min(low, value);
      high = Math.max(high, value);
      sum += value;
    }
    const note = canvas.nextElementSibling;
    if (points.length === 0) {
      note.textContent = "none of the messages that are shown has a value";
      return;
    }
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d"), [from, to] = overview.range(), style = getComputedStyle(document.documentElement);
    context.scale(scale, scale);
    const x = (time) => (time - from) / (to - from) * (width - 4) + 2;
    const y = (value) => high === low ? height / 2 : height - 3 - (value - low) / (high - low) * (height - 6);
    context.fillStyle = overview.color(style.getPropertyValue("--accent"));
    // Many are drawn fainter, so that it shows where most are.
    context.globalAlpha = Math.max(0.15, Math.min(1, width * 2 / points.length));
    for (const [time, value] of points) context.fillRect(x(time) - 1, y(value) - 1, 2, 2);
    context.globalAlpha = 1;
    context.fillStyle = overview.color(style.getPropertyValue("--e"));
    context.fillRect(x(data.time[chosen]) - 0.5, 0, 1, height);
    const thinned = every > 1 ? `, every ${every}th shown` : "";
    const extent = low === high ? `always ${numberText(low, verb)}` : `${numberText(low, verb)} to ${numberText(high, verb)}, mean ${Number((sum / points.length).toPrecision(4))}`;
    note.textContent = items.length === 1 ? "the only value" : `${extent}, ${countText(items.length)} values${thinned}`;
  }

  neighbours(item) {
    const { data } = this.app, thread = data.thread[item], before = [], after = [];
    for (let at = item - 1; at >= 0 && before.length < NEIGHBOURS && item - at < FARTHEST; at--) if (data.thread[at] === thread) before.unshift(at);
    for (let at = item + 1; at < data.n && after.length < NEIGHBOURS && at - item < FARTHEST; at++) if (data.thread[at] === thread) after.push(at);
    const line = (at) => element("button", {
      type: "button", class: `near ${LEVELS[data.level(at)]}`, "aria-current": at === item ? "true" : null, on: { click: () => this.app.chooseItem(at) },
    }, element("span", {}, at === item ? clockText(data, at) : offsetText(data.between(item, at))), element("b", {}, levelSign(data.level(at))),
    element("span", {}, visible(data.text(at))));
    return [element("h3", {}, "Same thread"), element("div", { class: "near-list" }, ...[...before, item, ...after].map(line))];
  }
}

/**
 * The name of an argument: the one that the call gives it, or the words of the template beside it;
 * its number where there are none.
 */
function argName({ pieces, verbs, names }, arg) {
  if (names?.[arg]) return `${names[arg]}=%${verbs[arg]}`;
  const words = (text) => text.split(/[\s,;:()[\]{}"|]+/).filter((word) => /\p{L}/u.test(word));
  // The text ends where it touches the argument: the word before `of %d` is `of`, and before `a=%d`
  // it is `a=`.
  const before = words(pieces[arg]).slice(-2).join(" "), after = words(pieces[arg + 1]).slice(0, 1).join(" "), verb = `%${verbs[arg]}`;
  if (before !== "") return `${before}${before.endsWith("=") ? "" : " "}${verb}`;
  return after === "" ? `argument ${arg + 1}` : `${verb} ${after}`;
}

function offsetText(ns) { return `${ns < 0 ? "−" : "+"}${durationText(Math.abs(ns))}`; }

/**
 * The number that a conversion has printed; null for none. A text is a number only if it is a plain
 * one: "1e5" may be the end of a commit's id.
 */
function numberOf(text, verb) {
  const trimmed = text.trim(), base = { x: 16, o: 8 }[verb];
  if (base) return /^[-+]?[0-9a-f]+$/i.test(trimmed) ? parseInt(trimmed, base) : null;
  const form = "fge".includes(verb) ? /^[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?$/i : /^[-+]?[0-9]+(\.[0-9]+)?$/;
  return form.test(trimmed) ? Number(trimmed) : null;
}

/** A number as its conversion prints it. */
function numberText(number, verb) {
  const base = { x: 16, o: 8 }[verb];
  return base ? `${number < 0 ? "-" : ""}${Math.abs(number).toString(base)}` : String(number);
}
