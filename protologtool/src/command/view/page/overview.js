// The strip above the list: messages over time by level, losses marked. Dragging chooses a time.

class Overview {
  constructor(app) {
    this.app = app;
    this.canvas = document.getElementById("strip");
    this.drag = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      this.drag = [event.offsetX, event.offsetX];
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return;
      this.drag[1] = event.offsetX;
      this.draw();
    });
    this.canvas.addEventListener("pointerup", () => this.choose());
    this.canvas.addEventListener("dblclick", () => this.app.chooseTime(null, null));
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
    const { data, filter } = this.app;
    const from = filter.from ?? (data.n ? data.time[0] : 0);
    const to = filter.to ?? (data.n ? data.time[data.n - 1] + 1 : 1);
    return [from, Math.max(to, from + 1)];
  }

  timeAt(x) {
    const [from, to] = this.range();
    return from + Math.max(0, Math.min(1, x / this.canvas.clientWidth)) * (to - from);
  }

  draw() {
    const { canvas } = this, { data, filter } = this.app;
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (width === 0) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    context.scale(scale, scale);
    const bins = Math.max(1, Math.floor(width / 3)), kinds = LEVELS.length;
    const counts = new Uint32Array(bins * kinds), [from, to] = this.range();
    for (const item of filter.shown) {
      const bin = Math.min(bins - 1, Math.floor((data.time[item] - from) / (to - from) * bins));
      if (bin >= 0) counts[bin * kinds + data.level(item)]++;
    }
    let highest = 1;
    for (let bin = 0; bin < bins; bin++) {
      let sum = 0;
      for (let level = 0; level < LOSS; level++) sum += counts[bin * kinds + level];
      highest = Math.max(highest, sum);
    }
    const colors = LEVELS.map((letter) => style.getPropertyValue(`--${letter.toLowerCase()}`).trim() || style.getPropertyValue("--faint"));
    const step = width / bins, room = height - 8;
    for (let bin = 0; bin < bins; bin++) {
      let y = height;
      for (let level = 0; level < LOSS; level++) {
        const count = counts[bin * kinds + level];
        if (count === 0) continue;
        // What is there at all is seen.
        const part = Math.max(count / highest * room, 1);
        y -= part;
        context.fillStyle = this.color(colors[level]);
        context.fillRect(bin * step, y, Math.max(step - 1, 1), part);
      }
      if (counts[bin * kinds + LOSS] > 0) {
        context.fillStyle = this.color(style.getPropertyValue("--loss"));
        context.fillRect(bin * step, 0, Math.max(step - 1, 2), 6);
      }
    }
    this.drawChosen(context, style, width, height, from, to);
    document.getElementById("span").textContent = data.n ? durationText(to - from) : "";
  }

  drawChosen(context, style, width, height, from, to) {
    const { data, chosen } = this.app;
    context.fillStyle = this.color(style.getPropertyValue("--accent"));
    if (chosen !== null) context.fillRect((data.time[chosen] - from) / (to - from) * width, 0, 1, height);
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
    if (!both) return text;
    return (matchMedia("(prefers-color-scheme: dark)").matches ? both[2] : both[1]).trim();
  }
}
