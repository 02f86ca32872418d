// Times and names as people read them.

const pad = (number, width) => String(number).padStart(width, "0");

/** Hour to nanosecond where the wall clock is known, else seconds since boot. */
function clockText(data, i) {
  const mark = data.isGuess(i) ? "~" : "";
  const wall = data.wall(i);
  if (wall === null) return mark + secondsText(BigInt(data.meta.start) + BigInt(data.time[i]));
  const second = wall / 1000000000n, ns = Number(wall % 1000000000n);
  const date = new Date(Number(second) * 1000);
  const micros = Math.floor(ns / 1000);
  return `${mark}${pad(date.getHours(), 2)}:${pad(date.getMinutes(), 2)}:${pad(date.getSeconds(), 2)}.${pad(micros, 6)}`;
}

function dateText(data, i) {
  const wall = data.wall(i);
  if (wall === null) return "";
  const date = new Date(Number(wall / 1000000n));
  return `${date.getFullYear()}-${pad(date.getMonth() + 1, 2)}-${pad(date.getDate(), 2)}`;
}

function secondsText(ns) {
  const sign = ns < 0n ? "-" : "", abs = ns < 0n ? -ns : ns;
  return `${sign}${abs / 1000000000n}.${pad(abs % 1000000000n / 1000n, 6)}`;
}

/** A duration in nanoseconds with three digits: 1.52 ms. */
function durationText(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
  for (const [size, name] of units) {
    if (Math.abs(ns) >= size) return `${(ns / size).toPrecision(Math.abs(ns / size) >= 100 ? Math.ceil(Math.log10(Math.abs(ns / size) + 1)) : 3)} ${name}`;
  }
  return `${ns} ns`;
}

function threadText(thread) {
  if (!thread) return "?";
  const id = thread.tid ?? "?";
  return thread.name ? `${thread.name} ${id}` : String(id);
}

function shortGroup(group) {
  if (!group) return "?";
  return group.tag || group.name.split(/::|\./).pop();
}

function countText(count) { return count.toLocaleString("en-US").replaceAll(",", "\u202f"); }
