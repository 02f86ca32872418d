// Times that somebody types, and the time zone in which all are shown: that of the browser.

/** A time of day, with or without a date; the year may be left out. */
const TIME_FORM = /^(?:(?:(\d{4})-)?(\d{1,2})-(\d{1,2})(?:[T ] *|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?$/;

const HOUR = 3600000000000n;

/** The difference of the time zone from UTC at a moment: UTC+5:30. */
function zoneText(wall) {
  const minutes = -new Date(Number(wall / 1000000n)).getTimezoneOffset(), [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  if (minutes === 0) return "UTC";
  return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest > 0 ? `:${pad(rest, 2)}` : ""}`;
}

/** The zone of a log; two where clocks are put forward or back in it. */
function zonesText(data) {
  if (data.n === 0 || data.wall(0) === null) return "since boot";
  const [first, last] = [data.wall(0), data.wall(data.n - 1)].map(zoneText);
  return first === last ? first : `${first}/${last.replace("UTC", "") || "0"}`;
}

/**
 * The item at a time that is typed: seconds since boot, or a time of day. Of several days, that
 * after the item `chosen` is meant. With a note where the log has nothing at that time, and with an
 * error instead where it is no time.
 */
function findTime(data, text, chosen) {
  const seconds = /^(\d+)(?:\.(\d{1,9}))?$/.exec(text);
  const last = (item) => Math.min(item, data.n - 1);
  if (data.n === 0) return { error: "the log has no messages" };
  if (seconds) return { item: last(data.firstOf(BigInt(seconds[1]) * 1000000000n + BigInt((seconds[2] ?? "").padEnd(9, "0")))) };
  const parts = TIME_FORM.exec(text.replace(/^~/, ""));
  if (!parts || text === "") return { error: `not a time: ${text}` };
  if (data.wall(0) === null) return { error: "the log knows no time of day: use seconds since boot" };
  const [from, to] = data.wallRange(), { moments, isLeftOut } = momentsOf(parts, from, to);
  const inLog = moments.filter((moment) => moment >= from && moment <= to);
  if (moments.length === 0 || inLog.length === 0 && isLeftOut) return { error: `there is no such time: ${text}` };
  const after = chosen === null ? from - 1n : data.wall(chosen);
  if (inLog.length > 0) return { item: last(data.firstAtWall(inLog.find((moment) => moment > after) ?? inLog[0])) };
  const distance = (moment) => moment < from ? from - moment : moment - to;
  const nearest = moments.reduce((best, moment) => distance(moment) < distance(best) ? moment : best);
  return { item: last(data.firstAtWall(nearest)), note: `the log goes from ${momentText(from)} to ${momentText(to)}` };
}

/**
 * The moments, in nanoseconds since 1970, that a time of day means in a log from one moment to
 * another; and whether clocks leave it out there.
 */
function momentsOf([, year, month, day, hour = "0", minute = "0", second = "0", part = ""], from, to) {
  const days = [], dayOf = (wall) => new Date(Number(wall / 1000000n));
  const first = dayOf(from), end = dayOf(to);
  if (month === undefined) {
    // One more at both ends, for what is near the log.
    for (let at = -1, last; !(last > end); at++) {
      last = new Date(first.getFullYear(), first.getMonth(), first.getDate() + at);
      days.push([last.getFullYear(), last.getMonth(), last.getDate()]);
    }
  } else {
    const years = year === undefined ? [first.getFullYear(), end.getFullYear()] : [Number(year)];
    for (const each of new Set(years)) days.push([each, month - 1, Number(day)]);
  }
  let isLeftOut = false;
  const moments = days.flatMap(([year, month, day]) => {
    const date = new Date(year, month, day, hour, minute, second), moment = BigInt(date.getTime()) * 1000000n + BigInt(part.padEnd(9, "0"));
    if (date.getMonth() !== month || date.getDate() !== day || Number(minute) > 59 || Number(second) > 59) return [];
    // When clocks are put forward, an hour is not there, and the script takes one that is.
    const isThere = date.getHours() === Number(hour);
    isLeftOut ||= !isThere && moment >= from && moment - HOUR <= to;
    return isThere ? [moment] : [];
  });
  return { moments, isLeftOut };
}

function momentText(wall) {
  const date = new Date(Number(wall / 1000000n));
  return `${date.getFullYear()}-${pad(date.getMonth() + 1, 2)}-${pad(date.getDate(), 2)} ${timeText(wall, 0n, 0).slice(0, 8)}`;
}
