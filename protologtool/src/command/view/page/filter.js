// Which items are shown. Choices of one facet add up, choices of different facets must all hold, as in the developer tools of browsers.
// One pass over all items gives the result and, for each choice, the number of items that it would show beside the other choices.

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
    this.facets = makeFacets(data);
    this.run = 0;
    this.search = parseSearch("");
    this.markOnly = false;
    this.from = null;
    this.to = null;
    this.shown = new Uint32Array(0);
    /** Of each facet, the choices, and the number of items for each choice there is. */
    this.chosen = {};
    this.counts = {};
    for (const { name, size } of this.facets) {
      this.chosen[name] = new Set();
      this.counts[name] = new Uint32Array(size);
    }
  }

  clear() {
    this.facets.forEach(({ name }) => this.chosen[name].clear());
    this.from = this.to = null;
  }

  /** Returns whether the choices admit a thread. */
  isThreadShown(thread) {
    return this.facets.every((facet) => !facet.thread || this.chosen[facet.name].size === 0 || this.chosen[facet.name].has(facet.thread[thread]));
  }

  toggle(facet, choice) {
    const set = this.chosen[facet];
    if (!set.delete(choice)) set.add(choice);
  }

  /** For each message, or each thread, the facets that refuse it, a bit each. */
  refusals(by, size) {
    const refused = new Uint8Array(size);
    this.facets.forEach((facet, bit) => {
      const set = this.chosen[facet.name];
      if (facet[by] && set.size > 0) facet[by].forEach((choice, index) => { if (!set.has(choice)) refused[index] |= 1 << bit; });
    });
    return refused;
  }

  /** Applies the filter in slices, so that the page stays usable. Resolves to false if another run began. */
  async apply() {
    const run = ++this.run, { data, facets } = this, { meta } = data;
    const counts = facets.map(({ size }) => new Uint32Array(size));
    const test = this.markOnly ? null : this.search.test;
    const first = this.from === null ? 0 : data.firstAt(this.from);
    const end = this.to === null ? data.n : data.firstAt(this.to);
    const kinds = meta.messages.length + 1;
    const byMessage = this.refusals("message", kinds), byThread = this.refusals("thread", meta.threads.length);
    const ofMessage = new Uint32Array(kinds), ofThread = new Uint32Array(meta.threads.length);
    const shown = new Uint32Array(Math.max(end - first, 0));
    let size = 0, deadline = performance.now() + 24;
    for (let i = first; i < end; i++) {
      if ((i & 1023) === 0 && performance.now() > deadline) {
        await new Promise((next) => setTimeout(next));
        if (run !== this.run) return false;
        deadline = performance.now() + 24;
      }
      const message = data.kind(i), thread = data.thread[i], refused = byMessage[message] | byThread[thread];
      // An item that two facets refuse would be shown by no single choice.
      if ((refused & (refused - 1)) !== 0 || test !== null && !test(data.text(i))) continue;
      if (refused === 0) {
        shown[size++] = i;
        ofMessage[message]++;
        ofThread[thread]++;
      } else {
        const at = 31 - Math.clz32(refused), facet = facets[at];
        counts[at][facet.message ? facet.message[message] : facet.thread[thread]]++;
      }
    }
    facets.forEach((facet, at) => {
      ofMessage.forEach((count, message) => { if (facet.message) counts[at][facet.message[message]] += count; });
      ofThread.forEach((count, thread) => { if (facet.thread) counts[at][facet.thread[thread]] += count; });
      this.counts[facet.name] = counts[at];
    });
    this.shown = shown.subarray(0, size);
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
