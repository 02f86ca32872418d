// The strip above the list: messages over time by level, losses marked, the time below. Dragging
// chooses a time.

/** The height of the scale below, in pixels. */
const SCALE = 14;
/** The least height of what is there at all; errors have more, as they are few. */
const LEAST = [1, 1, 1, 1, 3, 3, 1, 0];

/** The least time that a whole log takes, in nanoseconds. */
const LEAST_TIME = 1000;

class Overview {
  constructor(app) {
    this.app = app;
    this.canvas = document.getElementById("strip");
    this.reset = document.getElementById("range");
    this.drag = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.drag = [event.offsetX, event.offsetX];
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return this.describe(event.offsetX);
      this.drag[1] = event.offsetX;
      this.draw();
    });
    this.canvas.addEventListener("pointerup", () => { if (this.drag) this.choose(); });
    this.canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
    this.canvas.addEventListener("dblclick", () => this.app.chooseTime(null, null));
    this.reset.addEventListener("click", () => this.app.chooseTime(null, null));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  choose() {
    const [from, to] = this.drag.sort((a, b) => a - b);
    this.drag = null;
    if (to - from > 3) this.app.chooseTime(this.timeAt(from), this.timeAt(to));
    else this.app.goToTime(this.timeAt(from));
  }

  /** The time that is drawn: the chosen one, or all. */
  range() {
    const { filter } = this.app, [first, end] = this.all();
    const from = filter.from ?? first;
    return [from, Math.max(filter.to ?? end, from + 1)];
  }

  /** The time of all items; a single moment is in the middle. */
  all() {
    const { data } = this.app, margin = Math.max(0, (LEAST_TIME - (data.last - data.first)) / 2);
    return [Math.floor(data.first - margin), Math.ceil(data.last + margin) + 1];
  }

  timeAt(x) {
    const [from, to] = this.range();
    return Math.round(from + Math.max(0, Math.min(1, x / this.canvas.clientWidth)) * (to - from));
  }

  describe(x) {
    const { data } = this.app;
    if (data.n) this.canvas.title = clockOfTime(data, this.timeAt(x));
  }

  draw() {
    const { canvas } = this, { data, filter } = this.app;
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight - SCALE;
    if (width === 0) return;
    canvas.width = width * scale;
    canvas.height = canvas.clientHeight * scale;
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    context.scale(scale, scale);
    const [from, to] = this.range(), bins = Math.max(1, Math.floor(width / 3));
    const counts = this.binned(bins, from, to);
    this.drawScale(context, style, width, height, from, to);
    this.drawBars(context, style, counts, bins, width, height);
    this.drawChosen(context, style, width, height, from, to);
    const [first, end] = this.all(), isPart = filter.from !== null || filter.to !== null;
    this.reset.hidden = !isPart;
    this.reset.textContent = `${durationText(to - from)} of ${durationText(end - first)} ×`;
  }

  /** The numbers of items, by bin and level. */
  binned(bins, from, to) {
    const { data, filter } = this.app, kinds = LEVELS.length, counts = new Uint32Array(bins * kinds);
    for (const item of filter.shown) {
      const bin = Math.min(bins - 1, Math.floor((data.time[item] - from) / (to - from) * bins));
      if (bin >= 0) counts[bin * kinds + data.level(item)]++;
    }
    return counts;
  }

  drawBars(context, style, counts, bins, width, height) {
    const kinds = LEVELS.length, step = width / bins, room = height - 8;
    const colors = LEVELS.map((letter) => this.color(style.getPropertyValue(`--${letter.toLowerCase()}`).trim() || style.getPropertyValue("--faint")));
    let highest = 1;
    for (let bin = 0; bin < bins; bin++) {
      let sum = 0;
      for (let level = 0; level < LOSS; level++) sum += counts[bin * kinds + level];
      highest = Math.max(highest, sum);
    }
    for (let bin = 0; bin < bins; bin++) {
      let y = height;
      for (let level = 0; level < LOSS; level++) {
        const count = counts[bin * kinds + level];
        if (count === 0) continue;
        const part = Math.max(count / highest * room, LEAST[level]);
        y -= part;
        context.fillStyle = colors[level];
        context.fillRect(bin * step, y, Math.max(step - 1, 1), part);
      }
      if (counts[bin * kinds + LOSS] > 0) {
        context.fillStyle = colors[LOSS];
        context.fillRect(bin * step, 0, Math.max(step - 1, 2), 6);
      }
    }
  }

  /** Times at round distances, about one for each 130 pixels. */
  drawScale(context, style, width, height, from, to) {
    const { data } = this.app;
    if (data.n === 0) return;
    const least = (to - from) / width * 130, power = 10 ** Math.floor(Math.log10(least));
    const minutes = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].map((seconds) => seconds * 1e9);
    const decimal = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
    const step = Math.max(1, decimal < 6e10 ? decimal : minutes.find((step) => step >= least) ?? decimal);
    // Round by the clock that is shown, in the user's time zone.
    const shift = clockShift(data, from), start = Math.ceil((from + shift) / step) * step - shift;
    context.font = `10px system-ui, sans-serif`;
    context.textBaseline = "bottom";
    for (let time = start, marks = 0; time < to && marks < 100; time += step, marks++) {
      const x = (time - from) / (to - from) * width;
      context.fillStyle = this.color(style.getPropertyValue("--line"));
      context.fillRect(Math.round(x), 0, 1, height + SCALE);
      context.fillStyle = this.color(style.getPropertyValue("--faint"));
      context.fillText(scaleText(data, time, step), Math.round(x) + 4, height + SCALE);
    }
    context.fillStyle = this.color(style.getPropertyValue("--line"));
    context.fillRect(0, height, width, 1);
  }

  drawChosen(context, style, width, height, from, to) {
    const { data, chosen, bookmarks } = this.app, x = (item) => (data.time[item] - from) / (to - from) * width;
    context.fillStyle = this.color(style.getPropertyValue("--accent"));
    for (const item of bookmarks) {
      context.beginPath();
      context.arc(x(item), height, 3, 0, 2 * Math.PI);
      context.fill();
    }
    if (chosen !== null) context.fillRect(x(chosen), 0, 1.5, height);
    if (this.drag) {
      const [a, b] = [...this.drag].sort((a, b) => a - b);
      context.globalAlpha = 0.25;
      context.fillRect(a, 0, b - a, height);
      context.globalAlpha = 1;
    }
  }

  /** A colour of the style sheet, `light-dark(…)` resolved. */
  color(text) {
    const both = /light-dark\(([^,]+),([^)]+)\)/.exec(text);
    if (!both) return text.trim();
    return (matchMedia("(prefers-color-scheme: dark)").matches ? both[2] : both[1]).trim();
  }
}
