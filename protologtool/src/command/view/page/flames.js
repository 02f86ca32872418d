// The strip of spans: for each thread its spans over time, the inner ones below the outer ones, on
// the time of the strip above.

const LANE_HEAD = 14, SPAN_ROW = 15;
/** The narrowest span that has its name in it, in pixels. */
const LEAST_NAMED = 16;

class Flames {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("spans");
    this.canvas = document.getElementById("flames");
    this.spacer = document.getElementById("spans-height");
    this.box.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("pointermove", (event) => this.describe(event));
    this.canvas.addEventListener("click", (event) => {
      const slice = this.sliceAt(event);
      if (slice !== null) this.app.chooseSpan(slice);
    });
    this.canvas.addEventListener("dblclick", () => this.app.chooseTime(null, null));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** The threads that are shown, each with its rows of spans and its place. */
  lanes() {
    const { data, filter } = this.app, lanes = [];
    let top = 0;
    for (const [thread, rows] of data.lanes()) {
      if (!filter.isThreadShown(thread)) continue;
      const bottom = top + LANE_HEAD + rows.length * SPAN_ROW;
      lanes.push({ thread, rows, top, bottom });
      top = bottom;
    }
    return lanes;
  }

  draw() {
    const { box, canvas, app } = this, { data } = app;
    const isHidden = data.slices.n === 0;
    if (box.parentElement.hidden !== isHidden) box.parentElement.hidden = isHidden;
    if (isHidden) return;
    const lanes = this.lanes(), total = lanes.length > 0 ? lanes[lanes.length - 1].bottom + 3 : LANE_HEAD;
    // One more for the line below.
    box.style.height = `${total + 1}px`;
    this.spacer.style.height = `${total}px`;
    const scale = devicePixelRatio || 1, width = box.clientWidth, height = box.clientHeight;
    if (width === 0) return;
    canvas.style.height = `${height}px`;
    canvas.style.marginBottom = `${-height}px`;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.translate(0, -box.scrollTop);
    context.textBaseline = "middle";
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches, style = getComputedStyle(document.documentElement);
    const faint = app.overview.color(style.getPropertyValue("--faint")), line = app.overview.color(style.getPropertyValue("--line"));
    for (const lane of lanes) {
      if (lane.bottom < box.scrollTop || lane.top > box.scrollTop + height) continue;
      context.fillStyle = line;
      if (lane.top > 0) context.fillRect(0, lane.top, width, 1);
      context.fillStyle = faint;
      context.font = "10px system-ui, sans-serif";
      context.fillText(this.laneText(lane.thread), 6, lane.top + LANE_HEAD / 2 + 1);
      lane.rows.forEach((row, depth) => this.drawRow(context, row, lane.top + LANE_HEAD + depth * SPAN_ROW, width, isDark));
    }
    this.drawChosen(context, style, total, width);
  }

  drawRow(context, row, y, width, isDark) {
    const { data, overview } = this.app, { slices } = data, [from, to] = overview.range(), factor = width / (to - from);
    context.font = "10px system-ui, sans-serif";
    let drawn = -1;
    for (let at = Math.max(0, data.lastBegun(row, from)); at < row.length; at++) {
      const slice = row[at], begin = slices.begin[slice];
      if (begin >= to) break;
      const left = Math.max(0, (begin - from) * factor), right = Math.min(width, (data.sliceEnd(slice) - from) * factor);
      // Many on one pixel are drawn once.
      if (right < 0 || right <= drawn) continue;
      const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0)), name = data.textOf(slices.name[slice]);
      context.fillStyle = spanColor(name, isDark);
      context.fillRect(left, y, wide, SPAN_ROW - 2);
      if (data.slices.isEndLost[slice] || data.slices.duration[slice] < 0) this.drawOpenEnd(context, left, y, wide, isDark);
      drawn = Math.max(right, Math.floor(left) + 1);
      if (wide < LEAST_NAMED) continue;
      context.save();
      context.beginPath();
      context.rect(left, y, wide - 3, SPAN_ROW);
      context.clip();
      context.fillStyle = isDark ? "#eef0f4" : "#1b1e24";
      context.fillText(this.label(context, slice, wide - 7), left + 4, y + SPAN_ROW / 2 - 0.5);
      context.restore();
    }
  }

  /** The mark of a span whose end is not known: its end frays. */
  drawOpenEnd(context, left, y, wide, isDark) {
    const width = Math.min(wide, 12), from = left + wide - width;
    context.fillStyle = isDark ? "#15171c" : "#ffffff";
    for (let at = 0; at < width; at += 4) context.fillRect(from + at, y + (at / 4 % 2) * (SPAN_ROW - 2) / 2, 2, (SPAN_ROW - 2) / 2);
  }

  /**
   * The text in a span: its name with as many fields as there is room for, or else the field that
   * tells it from its neighbours; never a part of one.
   */
  label(context, slice, room) {
    const { data } = this.app, name = visible(data.sliceName(slice)), short = visible(data.textOf(data.slices.name[slice])), fits = (text) => text.length < 200 && context.measureText(text).width <= room;
    const fields = data.sliceArgs(slice).map(([field, value]) => visible(`${field}=${value}`));
    let label = fits(name) ? name : fits(short) ? short : "";
    for (const field of fields) {
      const longer = label === "" ? field : `${label} ${field}`;
      if (!fits(longer)) break;
      label = longer;
    }
    return label;
  }

  drawChosen(context, style, total, width) {
    const { data, chosen, overview } = this.app;
    if (chosen === null) return;
    const [from, to] = overview.range();
    context.fillStyle = overview.color(style.getPropertyValue("--accent"));
    context.fillRect((data.time[chosen] - from) / (to - from) * width, 0, 1.5, total);
  }

  laneText(thread) {
    const { data } = this.app, one = data.meta.threads[thread], isOne = document.body.classList.contains("one-process");
    return visible(isOne ? threadText(one) : `${processText(one)} · ${threadText(one)}`);
  }

  /** The slice below the pointer; null for none. */
  sliceAt(event) {
    const y = event.offsetY + this.box.scrollTop, lane = this.lanes().find(({ top, bottom }) => y >= top && y < bottom);
    const depth = lane ? Math.floor((y - lane.top - LANE_HEAD) / SPAN_ROW) : -1, row = lane?.rows[depth];
    if (!row) return null;
    const { data, overview } = this.app, [from, to] = overview.range(), near = (to - from) / this.canvas.clientWidth;
    const time = from + event.offsetX * near;
    for (let at = Math.max(0, data.lastBegun(row, time - near)); at < row.length; at++) {
      const slice = row[at];
      if (data.slices.begin[slice] > time + near) break;
      if (data.sliceEnd(slice) >= time - near) return slice;
    }
    return null;
  }

  describe(event) {
    const slice = this.sliceAt(event);
    this.canvas.style.cursor = slice === null ? "default" : "pointer";
    this.canvas.title = slice === null ? "" : `${spanText(this.app.data, slice)}\n${spanDuration(this.app.data, slice)}, of ${visible(this.app.data.textOf(this.app.data.slices.target[slice]))}`;
  }
}

/** The name and the fields of a span. */
function spanText(data, slice) {
  const args = data.sliceArgs(slice).map(([name, value]) => ` ${name}=${value}`).join("");
  return visible(data.sliceName(slice) + args);
}

function spanDuration(data, slice) {
  const { begin, duration, isEndLost, busy, age } = data.slices;
  if (duration[slice] < 0) return "no end in the trace";
  const text = durationText(data.sliceEnd(slice) - begin[slice]);
  if (isEndLost[slice]) return `at most ${text}, its end was lost`;
  return busy[slice] < 0 ? text : `${text} (${durationText(busy[slice])} of ${durationText(age[slice])} in all)`;
}

/** A hue by the name, the same on every page; as bright as the page wants it. */
function spanColor(name, isDark) {
  let hash = 7;
  for (let at = 0; at < name.length && at < 64; at++) hash = (hash * 31 + name.charCodeAt(at)) >>> 0;
  const hue = (hash * 137) % 360;
  return isDark ? `hsl(${hue} 32% 32%)` : `hsl(${hue} 58% 82%)`;
}
