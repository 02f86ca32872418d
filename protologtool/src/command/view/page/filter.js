// Which items are shown. Choices of one kind add up, choices of different kinds must all hold, as in the developer tools of browsers.
// One pass over all items gives the result and, for each choice, the number of items that it would show beside the other choices.

const FACETS = ["levels", "groups", "threads", "templates"];

/** The text that is looked for; an error where it is no regular expression. */
function parseSearch(text) {
  if (text === "") return { test: null, find: null, error: null };
  const regex = /^\/(.*)\/([i]?)$/.exec(text);
  try {
    const source = regex ? regex[1] : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    // Without a capital letter, either case will do.
    const flags = regex ? regex[2] : /\p{Lu}/u.test(text) ? "" : "i";
    const one = new RegExp(source, flags), all = new RegExp(source, flags + "g");
    return { test: (string) => one.test(string), find: all, error: null };
  } catch (error) {
    return { test: null, find: null, error: error.message };
  }
}

class LogFilter {
  constructor(data) {
    this.data = data;
    this.run = 0;
    this.levels = new Set();
    this.groups = new Set();
    this.threads = new Set();
    this.templates = new Set();
    this.search = parseSearch("");
    this.markOnly = false;
    this.from = null;
    this.to = null;
    this.reset();
  }

  reset() {
    const { meta } = this.data;
    this.shown = new Uint32Array(0);
    this.counts = {
      levels: new Uint32Array(LEVELS.length),
      groups: new Uint32Array(meta.groups.length + 1),
      threads: new Uint32Array(meta.threads.length),
      templates: new Uint32Array(meta.messages.length + 1),
    };
  }

  get isEmpty() {
    const { search, from, to } = this;
    return FACETS.every((facet) => this[facet].size === 0) && (!search.test || this.markOnly) && from === null && to === null;
  }

  clear() {
    FACETS.forEach((facet) => this[facet].clear());
    this.from = this.to = null;
  }

  toggle(facet, choice) {
    const set = this[facet];
    if (!set.delete(choice)) set.add(choice);
  }

  /** Applies the filter in slices, so that the page stays usable. Resolves to false if another run began. */
  async apply() {
    const run = ++this.run, { data } = this, { meta } = data;
    const counts = { levels: new Uint32Array(LEVELS.length), groups: new Uint32Array(meta.groups.length + 1), threads: new Uint32Array(meta.threads.length), templates: new Uint32Array(meta.messages.length + 1) };
    const test = this.markOnly ? null : this.search.test;
    const first = this.from === null ? 0 : data.firstAt(this.from);
    const end = this.to === null ? data.n : data.firstAt(this.to);
    const lossGroup = meta.groups.length, lossTemplate = meta.messages.length;
    const admits = (set, choice) => set.size === 0 || set.has(choice);
    const levelOk = LEVELS.map((_, level) => admits(this.levels, level));
    const groupOk = Array.from(counts.groups, (_, group) => admits(this.groups, group));
    const threadOk = Array.from(counts.threads, (_, thread) => admits(this.threads, thread));
    const templateOk = Array.from(counts.templates, (_, template) => admits(this.templates, template));
    let shown = new Uint32Array(Math.max(end - first, 0)), size = 0;
    let deadline = performance.now() + 24;
    for (let i = first; i < end; i++) {
      if ((i & 1023) === 0 && performance.now() > deadline) {
        await new Promise((next) => setTimeout(next));
        if (run !== this.run) return false;
        deadline = performance.now() + 24;
      }
      const isLoss = data.isLoss(i), message = isLoss ? lossTemplate : data.message(i);
      const level = isLoss ? LOSS : data.levels[message];
      const group = isLoss ? lossGroup : meta.messages[message].group, thread = data.thread[i];
      const l = levelOk[level], g = groupOk[group], t = threadOk[thread], m = templateOk[message];
      const failed = !l + !g + !t + !m;
      if (failed > 1 || test !== null && !test(data.text(i))) continue;
      if (failed === 0) {
        shown[size++] = i;
        counts.levels[level]++; counts.groups[group]++; counts.threads[thread]++; counts.templates[message]++;
      } else if (!l) counts.levels[level]++;
      else if (!g) counts.groups[group]++;
      else if (!t) counts.threads[thread]++;
      else counts.templates[message]++;
    }
    this.shown = shown.subarray(0, size);
    this.counts = counts;
    return true;
  }

  /** The place in what is shown of an item, or of the first one after it. */
  placeOf(item) {
    let low = 0, high = this.shown.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.shown[middle] < item) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** The next place, in this direction, whose item meets `is`; -1 for none. */
  next(place, direction, is) {
    for (let at = place + direction; at >= 0 && at < this.shown.length; at += direction) {
      if (is(this.shown[at])) return at;
    }
    return -1;
  }
}
