// Which items are shown. Choices of one facet add up, choices of different facets must all hold, as
// in the developer tools of browsers. One pass over all items gives the result and, for each
// choice, the number of items that it would show beside the other choices.

/** The longest that a slice takes, in milliseconds; and the part of a search that its texts are. */
const SLICE = 24, TEXTS_PART = 0.2;

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
    /**
     * The number of items that match, of those that are shown; and the last search that was
     * finished.
     */
    this.matches = 0;
    this.finished = null;
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

  /** For each message, each thread, or each request, the facets that refuse it, a bit each. */
  refusals(by, size) {
    const refused = new Uint8Array(size);
    this.facets.forEach((facet, bit) => {
      const set = this.chosen[facet.name];
      if (facet[by] && set.size > 0) facet[by].forEach((choice, index) => { if (!set.has(choice)) refused[index] |= 1 << bit; });
    });
    return refused;
  }

  /** The search in these data; null for none. */
  searchIn() {
    if (this.search.test === null) return null;
    if (this.finished?.search.text === this.search.text) return this.finished;
    return this.running = this.running?.search.text === this.search.text ? this.running : new LogSearch(this.search, this.data);
  }

  /** Ends a run, with what is shown as it is. */
  cancel() { this.run++; }

  /**
   * Applies the filter in slices, so that the page stays usable, and reports the part that is done
   * after each. Resolves to false if another run began, or this one was cancelled.
   */
  async apply(report = () => {}) {
    const run = ++this.run, { data, facets, markOnly } = this, { meta } = data, search = this.searchIn();
    let deadline = performance.now() + SLICE;
    const pause = async (part) => {
      if (performance.now() <= deadline) return true;
      report(part);
      await new Promise((next) => setTimeout(next));
      deadline = performance.now() + SLICE;
      return run === this.run;
    };
    if (search !== null && !await search.prepare((part) => pause(part * TEXTS_PART))) return false;
    const counts = facets.map(({ size }) => new Uint32Array(size));
    const first = this.from === null ? 0 : data.firstAt(this.from);
    const end = this.to === null ? data.n : data.firstAt(this.to);
    const kinds = meta.messages.length + 1;
    const byMessage = this.refusals("message", kinds), byThread = this.refusals("thread", meta.threads.length);
    const byRequest = this.refusals("request", meta.requests.length + 1), { requests } = data;
    const ofMessage = new Uint32Array(kinds), ofThread = new Uint32Array(meta.threads.length), ofRequest = new Uint32Array(meta.requests.length + 1);
    const shown = new Uint32Array(Math.max(end - first, 0));
    let size = 0, matches = 0;
    for (let i = first; i < end; i++) {
      if ((i & 255) === 0 && !await pause(TEXTS_PART + (1 - TEXTS_PART) * (i - first) / (end - first))) return false;
      const message = data.kind(i), thread = data.thread[i], request = requests === null ? 0 : requests[i];
      const refused = byMessage[message] | byThread[thread] | byRequest[request];
      // An item that two facets refuse would be shown by no single choice.
      if ((refused & (refused - 1)) !== 0) continue;
      const isMatch = search === null || search.matches(i);
      if (!isMatch && !markOnly) continue;
      if (refused === 0) {
        if (isMatch) matches++;
        shown[size++] = i;
        ofMessage[message]++;
        ofThread[thread]++;
        ofRequest[request]++;
      } else {
        const at = 31 - Math.clz32(refused), facet = facets[at];
        counts[at][facet.message?.[message] ?? facet.thread?.[thread] ?? facet.request[request]]++;
      }
    }
    facets.forEach((facet, at) => {
      ofMessage.forEach((count, message) => { if (facet.message) counts[at][facet.message[message]] += count; });
      ofThread.forEach((count, thread) => { if (facet.thread) counts[at][facet.thread[thread]] += count; });
      ofRequest.forEach((count, request) => { if (facet.request) counts[at][facet.request[request]] += count; });
      this.counts[facet.name] = counts[at];
    });
    this.shown = shown.subarray(0, size);
    [this.matches, this.finished] = [matches, search];
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
