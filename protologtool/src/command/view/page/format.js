// Times and names as people read them.

const pad = (number, width) => String(number).padStart(width, "0");

/**
 * Hour to microsecond where the wall clock is known, else seconds since boot; with a mark where it
 * is a guess.
 */
function clockText(data, i) {
  return (data.isGuess(i) ? "~" : "") + timeText(data.wall(i), data.stampOf(i));
}

/** The same of a time between items. */
function clockOfTime(data, time, digits = 6) {
  if (data.n === 0) return secondsText(BigInt(data.stamp(time)), digits);
  const near = Math.min(data.firstAt(time), data.n - 1), wall = data.wall(near);
  const since = BigInt(Math.round(time - data.time[near]));
  return timeText(wall === null ? null : wall + since, data.stampOf(near) + since, digits);
}

function timeText(wall, stamp, digits = 6) {
  if (wall === null) return secondsText(stamp, digits);
  const ns = Number(wall % 1000000000n), date = new Date(Number(wall / 1000000000n) * 1000);
  return `${pad(date.getHours(), 2)}:${pad(date.getMinutes(), 2)}:${pad(date.getSeconds(), 2)}.${pad(ns, 9).slice(0, digits)}`;
}

/**
 * The nanoseconds to add to a time so that round numbers of it are round on the clock that is
 * shown.
 */
function clockShift(data, time) {
  const near = Math.max(0, Math.min(data.firstAt(time), data.n - 1)), wall = data.wall(near), day = 86400000000000n;
  if (wall === null) return Number(data.stampOf(near) % day) - data.time[near];
  const zone = BigInt(new Date(Number(wall / 1000000n)).getTimezoneOffset()) * 60000000000n;
  return Number((wall - zone) % day) - data.time[near];
}

/** A time on a scale, to the digit that its steps need. */
function scaleText(data, time, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(step) - 1e-9))), text = clockOfTime(data, time, Math.max(6, digits));
  if (digits === 0) return step >= 6e10 && text.includes(":") ? text.slice(0, 5) : text.replace(/\.\d+$/, "");
  return text.replace(/(\.\d+)$/, (part) => part.slice(0, 1 + digits));
}

/** As in JSON of `read-log`: UTC, with as many digits as there are. */
function isoText(wall) {
  if (wall === null) return undefined;
  const ns = ((wall % 1000000000n) + 1000000000n) % 1000000000n, second = new Date(Number((wall - ns) / 1000000n)).toISOString().slice(0, 19);
  return second + (ns === 0n ? "" : `.${pad(ns, 9)}`.replace(/0+$/, "")) + "Z";
}

function dateText(data, i) {
  const wall = data.wall(i);
  if (wall === null) return "";
  const date = new Date(Number(wall / 1000000n));
  return `${date.getFullYear()}-${pad(date.getMonth() + 1, 2)}-${pad(date.getDate(), 2)}`;
}

function secondsText(ns, digits = 6) {
  const sign = ns < 0n ? "-" : "", abs = ns < 0n ? -ns : ns;
  return `${sign}${abs / 1000000000n}.${pad(abs % 1000000000n, 9).slice(0, digits)}`;
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

function processText(thread) {
  const name = thread?.process?.split("/").pop();
  return name ? `${name} ${thread.pid ?? "?"}` : String(thread?.pid ?? "?");
}

/** The sign of a level in a line, as `read-log` has it. */
function levelSign(level) { return level === LOSS ? "!" : LEVELS[level]; }

function shortName(name) { return name.split(/::|\./).pop(); }

function shortGroup(group) {
  if (!group) return "?";
  return group.tag || shortName(group.name);
}

function countText(count) { return count.toLocaleString("en-US").replaceAll(",", "\u202f"); }

/** A part of a whole. */
function percentText(part) { return part > 0 && part < 0.001 ? "less than 0.1 %" : `${Number((part * 100).toPrecision(3))} %`; }

/** The time since something, in seconds. */
function agoText(seconds) {
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"]].find(([size]) => seconds >= 2 * size) ?? [1, "s"];
  return seconds < 1 ? "now" : `${Math.floor(seconds / size)} ${unit} ago`;
}

/** Messages a second, with three digits. */
function rateText(rate) {
  if (rate === 0) return "0/s";
  const [size, unit] = rate >= 1e6 ? [1e6, " M"] : rate >= 1e4 ? [1e3, " k"] : [1, ""];
  return `${Number((rate / size).toPrecision(3))}${unit}/s`;
}
