// The message that was chosen: its template with the arguments, the values of a numeric argument over time, what the same thread logged
// before and after, the place in the source, and the stack.

const NEIGHBOURS = 4;
/** The most values that a plot has; more are thinned out evenly. */
const MOST_POINTS = 20000;

class Detail {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("detail");
  }

  draw() {
    const { data, chosen } = this.app;
    this.box.hidden = chosen === null;
    if (chosen === null) return;
    const message = data.messageOf(chosen), group = data.groupOf(chosen), thread = data.threadOf(chosen);
    const heading = element("h2", { class: LEVELS[data.level(chosen)] });
    data.pieces(chosen).forEach((piece, k) => heading.append(element("span", { class: k % 2 === 1 ? "arg" : null }, visible(piece))));
    const facts = element("dl");
    const fact = (name, value) => { if (value) facts.append(element("dt", {}, name), element("dd", {}, visible(value))); };
    fact("time", `${dateText(data, chosen)} ${clockText(data, chosen)}  (${secondsText(BigInt(data.meta.start) + BigInt(data.time[chosen]))} s since boot)`.trim());
    fact("thread", `${threadText(thread)}${thread?.process || thread?.pid ? ` of ${thread.process || "process"} ${thread.pid ?? ""}` : ""}`);
    if (message) {
      fact("group", `${group.name}${group.tag ? `, tag ${group.tag}` : ""}`);
      fact("template", message.template);
      fact("place", message.location);
      fact("id", message.id);
    }
    const parts = [heading, facts];
    if (message) parts.push(this.args(chosen));
    const stack = data.stack(chosen);
    if (stack !== null) parts.push(element("pre", { "aria-label": "Stack" }, stack.split("\n").map(visible).join("\n")));
    parts.push(this.neighbours(chosen));
    this.box.replaceChildren(...parts);
    this.box.querySelectorAll("canvas").forEach((canvas) => this.plot(canvas, Number(canvas.dataset.arg)));
  }

  args(item) {
    const { data } = this.app, table = element("table");
    if (data.flags(item) & WHOLE) return table;
    data.pieces(item).forEach((piece, k) => {
      if (k % 2 === 0) return;
      const row = element("tr", {}, element("td", {}, `argument ${(k + 1) / 2}`), element("td", { class: "arg" }, visible(piece)));
      if (numberOf(piece) !== null) row.append(element("td", {}, element("canvas", { "data-arg": k, width: 640, height: 80, role: "img", "aria-label": `argument ${(k + 1) / 2} over time` })));
      table.append(row);
    });
    return table;
  }

  /** Draws the values of an argument in all messages of this template that are shown. */
  plot(canvas, arg) {
    const { data, filter, chosen, overview } = this.app, template = data.message(chosen);
    const items = filter.shown.filter((item) => !data.isLoss(item) && data.message(item) === template && !(data.flags(item) & WHOLE));
    const every = Math.ceil(items.length / MOST_POINTS), points = [];
    let low = Infinity, high = -Infinity;
    for (let k = 0; k < items.length; k += every) {
      const value = numberOf(data.pieces(items[k])[arg]);
      if (value === null) continue;
      points.push([data.time[items[k]], value]);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (points.length === 0) return canvas.remove();
    const context = canvas.getContext("2d"), { width, height } = canvas, [from, to] = overview.range();
    const x = (time) => (time - from) / (to - from) * (width - 4) + 2;
    const y = (value) => high === low ? height / 2 : height - 4 - (value - low) / (high - low) * (height - 8);
    const style = getComputedStyle(document.documentElement);
    context.fillStyle = overview.color(style.getPropertyValue("--accent"));
    for (const [time, value] of points) context.fillRect(x(time) - 1, y(value) - 1, 3, 3);
    context.fillStyle = overview.color(style.getPropertyValue("--e"));
    context.fillRect(x(data.time[chosen]) - 1, 0, 2, height);
    const thinned = every > 1 ? `, every ${every}th shown` : "";
    canvas.title = `${items.length} values from ${low} to ${high}${thinned}`;
    canvas.after(element("small", {}, `${low} to ${high}, ${countText(items.length)} values${thinned}`));
  }

  neighbours(item) {
    const { data } = this.app, thread = data.thread[item], before = [], after = [];
    for (let at = item - 1; at >= 0 && before.length < NEIGHBOURS && item - at < 100000; at--) if (data.thread[at] === thread) before.unshift(at);
    for (let at = item + 1; at < data.n && after.length < NEIGHBOURS && at - item < 100000; at++) if (data.thread[at] === thread) after.push(at);
    const line = (at) => element("button", {
      type: "button", class: `near ${LEVELS[data.level(at)]}`, "aria-current": at === item ? "true" : null, on: { click: () => this.app.chooseItem(at) },
    }, `${clockText(data, at)}  ${LEVELS[data.level(at)]}  ${visible(data.text(at))}`);
    return element("div", { "aria-label": "Same thread" }, ...[...before, item, ...after].map(line));
  }
}

/** The number that a text stands for; null for none. */
function numberOf(text) {
  if (!/^\s*[-+]?[0-9]/.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
