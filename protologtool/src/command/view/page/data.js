// The log as columns: inflated, decoded once into typed arrays, one element for each item (a
// message or a loss) in the order of time. columns.rs describes the bytes. Texts become strings
// only when they are shown or searched.

const LEVELS = ["V", "D", "I", "W", "E", "F", "?", "X"];
const LEVEL_NAMES = ["Verbose", "Debug", "Info", "Warn", "Error", "WTF", "Unknown", "Lost"];
const ERROR = 4, UNKNOWN_LEVEL = 6, LOSS = 7;

const GUESSED = 1, STACK = 2, WHOLE = 4;

/** Kinds of arguments: a text, or a number that is printed as it is. */
const TEXT_ARG = 1, NUMBER_ARG = 2;

/** The bytes that a browser is given at once to be inflated. */
const INFLATED_AT_ONCE = 1 << 20;

/** Inflates bytes, which come in parts. */
async function inflate(parts) {
  const { readable, writable } = new DecompressionStream("deflate"), inflated = [];
  const write = async () => {
    const writer = writable.getWriter();
    for (const part of parts) {
      for (let at = 0; at < part.length; at += INFLATED_AT_ONCE) await writer.write(part.subarray(at, at + INFLATED_AT_ONCE));
    }
    await writer.close();
  };
  const read = async () => {
    const reader = readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) inflated.push(next.value);
  };
  await Promise.all([write(), read()]);
  const all = new Uint8Array(inflated.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of inflated) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Reads varints of a column: numbers, exact up to 2^53. */
class VarintReader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
  signed() { return unzigzag(this.next()); }

  /** Any 64 bits, with a sign, as a big integer. */
  signedBig() {
    let value = 0n, byte, shift = 0n;
    do {
      byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte >= 128);
    return value & 1n ? -(value + 1n >> 1n) : value >> 1n;
  }
}

function unzigzag(value) { return value % 2 === 1 ? -(value + 1) / 2 : value / 2; }

class LogData {
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    let at = 0;
    const part = () => {
      const size = view.getUint32(at, true), from = at + 4;
      at = from + size;
      return bytes.subarray(from, at);
    };
    this.meta = JSON.parse(new TextDecoder().decode(part()));
    const [times, heads, threads, args, texts, slices, requests, rates] = [part(), part(), part(), part(), part(), part(), part(), part()];
    const n = this.meta.items;
    this.n = n;
    this.time = new Float64Array(n);
    this.head = new Uint32Array(n);
    this.thread = new Uint32Array(n);
    this.argsAt = new Uint32Array(n);
    this.args = new VarintReader(args);
    this.readTexts(texts);
    const [time, head, thread] = [times, heads, threads].map((column) => new VarintReader(column));
    this.kindsAt = new Uint32Array(this.meta.messages.length);
    let kinds = 0;
    this.meta.messages.forEach(({ pieces }, message) => { this.kindsAt[message] = kinds; kinds += pieces.length - 1; });
    this.kinds = new Uint8Array(kinds);
    this.readTimes(time);
    for (let i = 0; i < n; i++) {
      this.head[i] = head.next();
      this.thread[i] = thread.next();
      this.argsAt[i] = this.args.at;
      if (!this.isLoss(i)) this.skipArgs(i);
    }
    this.readSlices(slices);
    this.requests = this.readNumbers(this.meta.requests, requests);
    this.rates = this.readNumbers(this.meta.rates, rates);
    this.limited = new Set(this.meta.limited);
    this.repeats = new Set(this.meta.repeats);
    this.levels = this.meta.messages.map((message) => {
      const level = LEVELS.indexOf(message.level);
      return level < 0 ? UNKNOWN_LEVEL : level;
    });
  }

  /**
   * Reads the times: numbers, and big integers too where they are farther from the first than
   * numbers are exact, 104 days.
   */
  readTimes(reader) {
    this.exact = null;
    for (let i = 0, now = 0; i < this.n; i++) {
      const { at } = reader, next = now + reader.signed();
      // Twice as much, since a step has its sign in it.
      if (this.exact === null && Number.isSafeInteger(2 * (next - now)) && Number.isSafeInteger(next)) {
        this.time[i] = now = next;
        continue;
      }
      if (this.exact === null) {
        this.exact = new BigInt64Array(this.n);
        for (let before = 0; before < i; before++) this.exact[before] = BigInt(this.time[before]);
      }
      reader.at = at;
      this.exact[i] = (i > 0 ? this.exact[i - 1] : 0n) + reader.signedBig();
      this.time[i] = Number(this.exact[i]);
    }
  }

  /** Nanoseconds since the first item, as a big integer. */
  since(i) { return this.exact?.[i] ?? BigInt(this.time[i]); }

  /** Nanoseconds from one item to another one. */
  between(from, to) { return this.exact === null ? this.time[to] - this.time[from] : Number(this.since(to) - this.since(from)); }

  readTexts(bytes) {
    const reader = new VarintReader(bytes), count = this.meta.texts;
    this.textAt = new Uint32Array(count);
    this.textSize = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      this.textSize[i] = reader.next();
      this.textAt[i] = reader.at;
      reader.at += this.textSize[i];
    }
    this.textBytes = bytes;
    this.textCache = new Array(count);
    this.decoder = new TextDecoder();
  }

  /**
   * Reads the spans: begin and duration in nanoseconds, indices of thread and texts, and the number
   * of the span, 0 if it is not known. The duration is -1 without an end, and the most that it was
   * if the end was lost. Then come the time of all its slices until the end of this one, -1 without
   * others, and that since it was made.
   */
  readSlices(bytes) {
    const n = this.meta.slices, reader = new VarintReader(bytes);
    this.slices = {
      n, reader, begin: new Float64Array(n), duration: new Float64Array(n), isEndLost: new Uint8Array(n), thread: new Uint32Array(n), depth: new Uint32Array(n),
      name: new Uint32Array(n), target: new Uint32Array(n), argsAt: new Uint32Array(n), number: new Float64Array(n), busy: new Float64Array(n), age: new Float64Array(n),
    };
    const { begin, duration, isEndLost, thread, depth, name, target, argsAt, number, busy, age } = this.slices;
    let now = 0, last = this.n > 0 ? this.time[this.n - 1] : 0;
    for (let i = 0; i < n; i++) {
      now += reader.signed();
      begin[i] = now;
      duration[i] = reader.next() - 1;
      if (duration[i] < 0) {
        duration[i] = reader.next() - 1;
        isEndLost[i] = duration[i] < 0 ? 0 : 1;
      }
      thread[i] = reader.next();
      depth[i] = reader.next();
      name[i] = reader.next();
      target[i] = reader.next();
      number[i] = reader.next();
      busy[i] = reader.next() - 1;
      if (busy[i] >= 0) age[i] = reader.next();
      argsAt[i] = reader.at;
      for (let left = reader.next(); left > 0; left--) { reader.next(); reader.next(); }
      last = Math.max(last, now + Math.max(duration[i], 0));
    }
    /** The times of the first and of the last of all, items or spans. */
    this.first = Math.min(this.n > 0 ? this.time[0] : Infinity, n > 0 ? begin[0] : Infinity);
    if (!Number.isFinite(this.first)) this.first = 0;
    this.last = last;
  }

  /**
   * Reads the number of each item's value in a list, from 1; 0 for none. There are none of a log
   * without values.
   */
  readNumbers(values, bytes) {
    if (values.length === 0) return null;
    const numbers = new Uint32Array(this.n), reader = new VarintReader(bytes);
    for (let i = 0; i < this.n; i++) numbers[i] = reader.next();
    return numbers;
  }

  /** The id of the request that an item belongs to; null for none. */
  requestOf(i) { return this.meta.requests[(this.requests?.[i] ?? 0) - 1] ?? null; }

  /** The rate at which an item was kept by sampling; null if each such message was. */
  rateOf(i) { return this.meta.rates[(this.rates?.[i] ?? 0) - 1] ?? null; }

  /** True for messages that a limit has suppressed. */
  isLimited(i) { return this.isLoss(i) && this.limited.has(this.message(i)); }

  /** True for messages that say the same as one before, and are only counted. */
  isRepeat(i) { return this.isLoss(i) && this.repeats.has(this.message(i)); }

  /** The number of messages of a group that sampling passed over, of one level or of all. */
  passedOver(group, letter = null) {
    const all = this.meta.passed.filter((one) => one.group === group && (letter === null || one.level === letter));
    return all.reduce((sum, { count }) => sum + count, 0);
  }

  /** The end of a span; that of all where it has none. */
  sliceEnd(slice) {
    const { begin, duration } = this.slices;
    return duration[slice] < 0 ? this.last : begin[slice] + duration[slice];
  }

  /** The name of a span, with its number. */
  sliceName(slice) {
    const name = this.textOf(this.slices.name[slice]), number = this.slices.number[slice];
    return number > 0 ? `${name}#${number}` : name;
  }

  /** Names and values of the fields of a span; of two values of one, the newest. */
  sliceArgs(slice) {
    const { reader, argsAt } = this.slices, fields = new Map();
    reader.at = argsAt[slice];
    for (let left = reader.next(); left > 0; left--) {
      const name = this.textOf(reader.next());
      fields.set(name, this.textOf(reader.next()));
    }
    return [...fields];
  }

  /** The spans of each thread by depth, by their begin. */
  lanes() {
    if (this.knownLanes) return this.knownLanes;
    const { n, thread, depth } = this.slices, lanes = new Map();
    for (let slice = 0; slice < n; slice++) {
      if (!lanes.has(thread[slice])) lanes.set(thread[slice], []);
      const rows = lanes.get(thread[slice]);
      while (rows.length <= depth[slice]) rows.push([]);
      rows[depth[slice]].push(slice);
    }
    return this.knownLanes = lanes;
  }

  /**
   * The place in a row of spans of the last one that begins at this time or before; -1 for none.
   */
  lastBegun(row, time) {
    const { begin } = this.slices;
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (begin[row[middle]] <= time) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  /** The spans that a message's thread was in, outermost first. */
  slicesAround(i) {
    const rows = this.lanes().get(this.thread[i]) ?? [], time = this.time[i];
    return rows.map((row) => row[this.lastBegun(row, time)]).filter((slice) => slice !== undefined && this.sliceEnd(slice) >= time);
  }

  textOf(index) {
    const known = this.textCache[index];
    if (known !== undefined) return known;
    const at = this.textAt[index];
    return this.textCache[index] = this.decoder.decode(this.textBytes.subarray(at, at + this.textSize[index]));
  }

  isLoss(i) { return this.head[i] % 2 === 1; }
  flags(i) { return (this.head[i] >>> 1) & 7; }
  /** The index of the item's message; of a loss, of its text. */
  message(i) { return this.isLoss(i) ? this.head[i] >>> 1 : this.head[i] >>> 4; }
  isGuess(i) { return !this.isLoss(i) && (this.flags(i) & GUESSED) !== 0; }
  level(i) { return this.isLoss(i) ? LOSS : this.levels[this.message(i)]; }
  /** The index of the item's message; one for all losses. */
  kind(i) { return this.isLoss(i) ? this.meta.messages.length : this.head[i] >>> 4; }
  messageOf(i) { return this.isLoss(i) ? null : this.meta.messages[this.message(i)]; }
  groupOf(i) { const message = this.messageOf(i); return message ? this.meta.groups[message.group] : null; }
  threadOf(i) { return this.meta.threads[this.thread[i]]; }

  /** Skips the arguments of an item, and notes of which kind they are. */
  skipArgs(i) {
    const flags = this.flags(i), args = this.args, message = this.message(i);
    if (flags & STACK) args.next();
    if (flags & WHOLE) { args.next(); return; }
    const end = this.kindsAt[message + 1] ?? this.kinds.length;
    for (let kind = this.kindsAt[message]; kind < end; kind++) this.kinds[kind] |= args.next() % 2 === 0 ? TEXT_ARG : NUMBER_ARG;
  }

  /** The kinds that an argument of a message is of, in all items. */
  argKinds(message, arg) {
    const kinds = this.kinds[this.kindsAt[message] + arg];
    return { hasTexts: (kinds & TEXT_ARG) !== 0, hasNumbers: (kinds & NUMBER_ARG) !== 0 };
  }

  /** The reader at the codes of an item's arguments. */
  argsOf(i) {
    this.args.at = this.argsAt[i];
    if (this.flags(i) & STACK) this.args.next();
    return this.args;
  }

  /** The index of the text that is the whole of an item; -1 if it is made of pieces. */
  wholeText(i) { return !this.isLoss(i) && this.flags(i) & WHOLE ? this.argsOf(i).next() : -1; }

  /**
   * The pieces of an item's text: strings in turn of the template and of an argument, the
   * template's first.
   */
  pieces(i) {
    if (this.isLoss(i)) return [this.meta.losses[this.message(i)]];
    const args = this.argsOf(i);
    if (this.flags(i) & WHOLE) return [this.textOf(args.next())];
    const fixed = this.messageOf(i).pieces, all = [fixed[0]];
    for (let k = 1; k < fixed.length; k++) all.push(this.arg(args.next()), fixed[k]);
    return all;
  }

  /**
   * The arguments of an item: whole numbers, and texts as they are shown; null where only the whole
   * text is known.
   */
  argValues(i) {
    if (this.isLoss(i) || this.flags(i) & WHOLE) return null;
    const pieces = this.pieces(i), kinds = this.messageOf(i).pieces.length, values = [];
    const args = this.argsOf(i);
    for (let k = 1; k < kinds; k++) {
      const code = args.next(), text = pieces[2 * k - 1];
      values.push(code % 2 === 1 && Number.isSafeInteger(Number(text)) ? Number(text) : text);
    }
    return values;
  }

  arg(code) { return code % 2 === 1 ? String(unzigzag((code - 1) / 2)) : this.textOf(code / 2); }

  text(i) { const pieces = this.pieces(i); return pieces.length === 1 ? pieces[0] : pieces.join(""); }

  stack(i) {
    if (this.isLoss(i) || !(this.flags(i) & STACK)) return null;
    this.args.at = this.argsAt[i];
    return this.textOf(this.args.next());
  }

  /** The first item at this time or later. */
  firstAt(time) {
    let low = 0, high = this.n;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  /**
   * Nanoseconds since 1970, as a big integer; null where the trace does not know the wall clock.
   */
  wall(i) {
    const steps = this.meta.wall;
    if (steps.length === 0) return null;
    let low = 0, high = steps.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (steps[middle][0] <= i) low = middle; else high = middle - 1;
    }
    return BigInt(steps[low][1]) + this.since(i);
  }

  /** Nanoseconds of the trace's clock, as a big integer. */
  stampOf(i) { return BigInt(this.meta.start) + this.since(i); }

  /** The same of any time, as text: they need more digits than a number has. */
  stamp(time) { return String(BigInt(this.meta.start) + BigInt(Math.round(time))); }

  /** The time of such a text, in nanoseconds since the first item; null if it is none. */
  timeOfStamp(text) { return /^-?\d{1,19}$/.test(text ?? "") ? Number(BigInt(text) - BigInt(this.meta.start)) : null; }

  /**
   * Names an item by its time, and its number among those of that time: this stays while a log
   * grows, at either end.
   */
  key(i) {
    const first = this.firstOf(this.stampOf(i));
    return this.stampOf(i) + (i > first ? `.${i - first}` : "");
  }

  /** The item of such a name; null if it is not there. */
  itemOf(key) {
    const [text, at] = (key ?? "").split(".");
    if (!/^-?\d{1,19}$/.test(text)) return null;
    const item = this.firstOf(BigInt(text)) + Number(at ?? 0);
    return item < this.n && this.stampOf(item) === BigInt(text) ? item : null;
  }

  /** The first item at this time of the trace's clock, or later. */
  firstOf(stamp) {
    let item = this.firstAt(Number(stamp - BigInt(this.meta.start)));
    // Far from the first, several times are one number.
    while (item < this.n && this.stampOf(item) < stamp) item++;
    return item;
  }

  /** The first and the last time of the wall clock; it may have been set back. */
  wallRange() {
    const { wall } = this.meta, ends = wall.flatMap(([from], k) => [this.wall(from), this.wall((wall[k + 1]?.[0] ?? this.n) - 1)]);
    return [ends.reduce((a, b) => a < b ? a : b), ends.reduce((a, b) => a > b ? a : b)];
  }

  /**
   * The first item at this time of the wall clock or later, as far as the clock was not set; null
   * if it is not known.
   */
  firstAtWall(wall) {
    const steps = this.meta.wall;
    for (let k = 0; k < steps.length; k++) {
      const [from, end] = [steps[k][0], steps[k + 1]?.[0] ?? this.n];
      let item = Math.max(from, this.firstAt(Number(wall - BigInt(steps[k][1]))));
      while (item < end && this.wall(item) < wall) item++;
      if (item < end) return item;
    }
    return steps.length === 0 ? null : this.n;
  }
}
