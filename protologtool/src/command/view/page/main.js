// The page: what is chosen, and what happens when something is.

/**
 * The seconds by which the rate of new messages is counted, and the milliseconds for which a log is
 * lively after its last one.
 */
const RATE_SECONDS = 10, LIVELY = 30000;

class App {
  constructor(data) {
    this.text = document.getElementById("text");
    this.follows = false;
    this.use(parseState(location.hash.slice(1), data));
    this.overview = new Overview(this);
    this.flames = new Flames(this);
    this.list = new LogList(this);
    this.side = new Side(this);
    this.detail = new Detail(this);
    this.bind();
  }

  /** Takes a state, with the data that it is of. */
  use({ filter, query, chosen, bookmarks, missing }) {
    this.filter = filter;
    this.data = filter.data;
    this.chosen = chosen;
    this.bookmarks = bookmarks;
    if (this.text.value !== query) this.text.value = query;
    if (missing.length > 0) this.note(`this log does not have ${missing.join(", ")}`);
    const { traces, problems, threads } = this.data.meta, title = document.getElementById("title");
    const names = traces.map((trace) => trace.split("/").pop() || trace);
    document.title = `${names.join(", ")} · protolog`;
    title.textContent = visible(names.join(", "));
    title.title = visible(traces.join("\n"));
    this.showProblems(problems);
    document.getElementById("zone").textContent = zonesText(this.data);
    document.getElementById("zone").title = Intl.DateTimeFormat().resolvedOptions().timeZone;
    document.body.classList.toggle("one-process", new Set(threads.map(processKey)).size < 2);
  }

  /**
   * The reasons why the log is not whole: one total where there are several, which opens to all of
   * them.
   */
  showProblems(problems) {
    const box = document.getElementById("problems"), text = problems.map(visible).join("\n"), { lost } = this.data.meta;
    box.hidden = problems.length === 0;
    // An unchanged alert is not read out again.
    if (box.dataset.text === text) return;
    box.dataset.text = text;
    if (problems.length < 2) return box.replaceChildren(text);
    const all = this.data.n - this.data.meta.losses.length + lost, share = lost === 0 ? "" : `${countText(lost)} messages were lost, ${percentText(lost / all)} of what was logged; `;
    box.replaceChildren(element("details", {}, element("summary", {}, `${share}${problems.length} notes`), text));
  }

  /** Takes the data of a log that has grown, with the choices as they are. */
  async update(data) {
    for (;;) {
      const before = stateText(this), state = parseState(before, data), { top } = this.list;
      const first = this.filter.shown[Math.floor(top)], key = first === undefined ? null : this.data.key(first);
      if (!await state.filter.apply() || stateText(this) !== before) continue;
      this.use(state);
      const item = data.itemOf(key);
      if (item !== null && this.list.top === top) this.list.top = state.filter.placeOf(item) + top % 1;
      return this.drawFiltered();
    }
  }

  bind() {
    const on = (id, listener) => document.getElementById(id).addEventListener("click", listener);
    let typing;
    this.text.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.searchFor(this.text.value), 120);
    });
    on("mode", () => this.toggleMode());
    on("cancel", () => this.cancelSearch());
    on("clear", () => this.clear());
    on("none-clear", () => this.clear());
    on("help", () => this.showKeys());
    on("live", () => this.toggleFollow());
    for (const [id, name] of [["filters", "with-side"], ["columns", "all-columns"]]) {
      on(id, () => document.getElementById(id).setAttribute("aria-pressed", String(document.body.classList.toggle(name))));
    }
    for (const button of document.querySelectorAll("button.fold")) {
      button.addEventListener("click", () => button.setAttribute("aria-expanded", String(!button.parentElement.classList.toggle("folded"))));
    }
    document.getElementById("wanted-time").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.takeTime(event.target.value);
    });
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === stateText(this)) return;
      this.use(parseState(location.hash.slice(1), this.data));
      this.refresh();
    });
    addEventListener("beforeprint", () => this.list.print());
    addEventListener("afterprint", () => document.getElementById("paper").replaceChildren());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    bindKeys(this);
  }

  /** Filters anew and draws. */
  async refresh() {
    const begun = performance.now();
    // One that takes longer is shown.
    if (!await this.filter.apply((part) => this.showProgress(performance.now() - begun > 150 ? part : null))) return;
    this.drawFiltered();
    if (this.chosen !== null && !this.follows) this.list.show(this.filter.placeOf(this.chosen));
  }

  /** Shows how far a search is; null for none. */
  showProgress(part) {
    this.isBusy = part !== null;
    document.getElementById("busy").hidden = !this.isBusy;
    if (this.isBusy) document.getElementById("progress").value = part;
  }

  drawFiltered() {
    const { shown, search } = this.filter, all = this.data.n;
    this.showProgress(null);
    this.text.classList.toggle("wrong", search.error !== null);
    this.text.setAttribute("aria-invalid", String(search.error !== null));
    this.text.title = search.error ?? "";
    const wrong = document.getElementById("wrong-text");
    wrong.hidden = search.error === null;
    if (wrong.textContent !== (search.error ?? "")) wrong.textContent = search.error ?? "";
    document.getElementById("mode").setAttribute("aria-pressed", String(this.filter.markOnly));
    const number = shown.length === all ? countText(all) : `${countText(shown.length)} of ${countText(all)}`, unit = all === 1 ? "message" : "messages";
    const marked = this.filter.markOnly && search.test !== null ? `, ${countText(this.filter.matches)} found` : "";
    document.getElementById("count").textContent = `${number} ${unit}${marked}`;
    const none = document.getElementById("none");
    none.hidden = shown.length > 0;
    none.firstChild.textContent = all === 0 ? "The log has no messages. " : "No message passes the filters. ";
    none.lastElementChild.hidden = all === 0;
    // It takes its room from the list.
    this.detail.draw();
    this.list.resize();
    if (this.follows) this.list.scrollTo(Infinity);
    this.drawAll();
  }

  drawAll() {
    this.side.draw();
    this.overview.draw();
    this.flames.draw();
    this.list.draw();
    this.save();
  }

  save() {
    const text = stateText(this);
    if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  toggle(facet, choice) { this.filter.toggle(facet, choice); return this.refresh(); }
  toggleMode() { this.filter.markOnly = !this.filter.markOnly; return this.refresh(); }
  searchFor(text) { this.filter.search = parseSearch(text); return this.refresh(); }

  /** Goes back from a search that is not finished to the last one that is. */
  cancelSearch() {
    const { filter } = this, last = filter.finished?.search.text ?? "";
    filter.cancel();
    this.showProgress(null);
    this.text.value = filter.search.text === last ? "" : last;
    this.note("the search was stopped");
    return this.searchFor(this.text.value);
  }

  chooseTime(from, to) { [this.filter.from, this.filter.to] = [from, to]; return this.refresh(); }

  /** Shows `factor` times as much time, around the chosen message, or else the middle. */
  zoom(factor) {
    const [first, end] = this.overview.all(), [from, to] = this.overview.range();
    const at = this.chosen === null ? from + (to - from) / 2 : Math.max(from, Math.min(to, this.data.time[this.chosen]));
    const start = Math.floor(Math.max(first, at - (at - from) * factor)), stop = Math.ceil(Math.min(end, at + (to - at) * factor));
    return this.chooseTime(start <= first ? null : start, stop >= end ? null : stop);
  }

  /** Moves the time that is shown by a part of it. */
  pan(part) {
    const [first, end] = this.overview.all(), [from, to] = this.overview.range();
    const by = Math.round(Math.max(first - from, Math.min(end - to, (to - from) * part)));
    if (by === 0) return this.note(part < 0 ? "nothing is earlier" : "nothing is later");
    return this.chooseTime(from + by, to + by);
  }

  clear() {
    this.filter.clear();
    this.text.value = "";
    return this.searchFor("");
  }

  /** Shows the time of a span. */
  chooseSpan(slice) {
    const begin = this.data.slices.begin[slice], end = this.data.sliceEnd(slice), margin = (end - begin) / 32;
    return this.chooseTime(Math.floor(begin - margin), Math.ceil(end + margin) + 1);
  }

  /**
   * Shows the time of the innermost span around the chosen message that is longer than what is
   * shown, or else of the innermost.
   */
  chooseSpanAround() {
    if (this.chosen === null) return this.note("choose a message first");
    const around = this.data.slicesAround(this.chosen).reverse(), [from, to] = this.overview.range();
    if (around.length === 0) return this.note("this message is in no span");
    const isShown = (slice) => this.data.slices.begin[slice] >= from && this.data.sliceEnd(slice) + 1 <= to;
    const isAll = this.filter.from === null && this.filter.to === null;
    return this.chooseSpan((isAll ? null : around.find((slice) => !isShown(slice))) ?? around[0]);
  }

  /** Chooses these of a facet, and no others. */
  chooseOnly(facet, of) {
    this.filter.chosen[facet] = new Set(of());
    return this.refresh();
  }

  leastLevel(least) {
    const all = [0, 1, 2, 3, 4, 5].filter((level) => level >= least);
    this.filter.chosen.levels = new Set(least === 0 ? [] : [...all, LOSS]);
    return this.refresh();
  }

  /** Chooses the request of the chosen message, and no other one; all of them if that is chosen. */
  onlyRequest() {
    const request = this.chosen === null ? 0 : this.data.requests?.[this.chosen] ?? 0;
    if (request === 0) return this.note(this.chosen === null ? "choose a message first" : "this message is in no request");
    const isOnly = this.filter.chosen.requests.has(request);
    return this.chooseOnly("requests", () => isOnly ? [] : [request]);
  }

  onlyTemplate() {
    if (this.chosen === null) return this.note("choose a message first");
    const template = this.data.kind(this.chosen), isOnly = this.filter.chosen.templates.has(template);
    this.filter.chosen.templates = new Set(isOnly ? [] : [template]);
    this.refresh();
  }

  /** Chooses what is shown at a place. */
  choose(place) {
    const { shown } = this.filter;
    if (shown.length === 0) return;
    const at = Math.max(0, Math.min(place, shown.length - 1));
    this.chosen = shown[at];
    if (this.follows && at < shown.length - 1) this.toggleFollow();
    this.detail.draw();
    this.list.show(at);
    this.overview.draw();
    this.flames.draw();
    this.save();
  }

  /** Chooses an item, without the filters if they hide it. */
  async chooseItem(item) {
    this.chosen = item;
    if (this.filter.shown[this.filter.placeOf(item)] !== item) {
      this.note("filters removed: they hid this message");
      await this.clear();
    }
    this.choose(this.filter.placeOf(item));
  }

  get place() { return this.chosen === null ? -1 : this.filter.placeOf(this.chosen); }

  move(by) { this.choose(this.chosen === null ? Math.floor(this.list.top) : this.place + by); }

  seek(direction, is, otherwise) {
    const from = this.chosen === null && direction < 0 ? this.filter.shown.length : this.place;
    const found = this.filter.next(from, direction, is);
    if (found < 0) this.note(otherwise); else this.choose(found);
  }

  isError(item) { const level = this.data.level(item); return level >= ERROR && level !== UNKNOWN_LEVEL; }
  isMatch(item) { return this.filter.searchIn()?.matches(item) ?? false; }
  isSameThread(item) { return this.chosen !== null && this.data.thread[item] === this.data.thread[this.chosen]; }

  goToTime(time) { this.choose(this.filter.placeOf(this.data.firstAt(time))); }

  askTime() {
    document.getElementById("wrong-time").textContent = "";
    document.getElementById("ask-time").showModal();
    document.getElementById("wanted-time").select();
  }

  takeTime(text) {
    const { item, note, error } = findTime(this.data, text.trim(), this.chosen);
    if (error) {
      document.getElementById("wrong-time").textContent = error;
      return;
    }
    document.getElementById("ask-time").close();
    if (note) this.note(note);
    this.choose(this.filter.placeOf(item));
  }

  bookmark() {
    if (this.chosen === null) return;
    if (!this.bookmarks.delete(this.chosen)) this.bookmarks.add(this.chosen);
    this.list.draw();
    this.detail.draw();
    this.overview.draw();
    this.save();
  }

  async copy(form) {
    if (form !== "link" && this.chosen === null) return this.note("choose a message first");
    const forms = { text: () => this.lineOf(this.chosen), json: () => this.jsonOf(this.chosen), link: () => location.href };
    try {
      await navigator.clipboard.writeText(forms[form]());
      this.note("copied");
    } catch {
      prompt("Copy this:", forms[form]());
    }
  }

  lineOf(item) {
    const { data } = this, group = data.isLoss(item) ? "lost" : shortGroup(data.groupOf(item)), thread = data.threadOf(item);
    return `${dateText(data, item)} ${clockText(data, item)} ${thread?.pid ?? "?"} ${thread?.tid ?? "?"} ${levelSign(data.level(item))} ${group}: ${data.text(item)}`.trim();
  }

  /**
   * The line of `read-log --format json`; arguments that are no whole numbers are as they are
   * shown.
   */
  jsonOf(item) {
    const { data } = this, message = data.messageOf(item), group = data.groupOf(item), thread = data.threadOf(item);
    const rest = {
      ts_guessed: data.isGuess(item) || undefined, time: isoText(data.wall(item)), pid: thread.pid ?? undefined, tid: thread.tid ?? undefined,
      thread: thread.name ?? undefined, process: thread.process ?? undefined, request: data.requestOf(item) ?? undefined,
    };
    if (message) {
      const isKnown = data.level(item) !== UNKNOWN_LEVEL;
      Object.assign(rest, {
        level: isKnown ? LEVEL_NAMES[data.level(item)].toUpperCase() : undefined, tag: isKnown ? group.tag : undefined, group: isKnown ? group.name : undefined,
        id: message.id, template: isKnown ? message.template : undefined, args: data.argValues(item) ?? undefined, message: data.text(item),
        location: message.location || undefined, stack_trace: data.stack(item) ?? undefined,
      });
    } else {
      rest.message = data.text(item);
    }
    // The time has more digits than a number of the script.
    return `{"type":"${message ? "message" : "loss"}","ts":${data.stampOf(item)},${JSON.stringify(rest).slice(1)}`;
  }

  toggleFollow() {
    if (!this.data.meta.live) return this.note("this page is a file: nothing follows");
    this.follows = !this.follows;
    this.showLive();
    if (this.follows) this.list.scrollTo(Infinity);
  }

  /**
   * The state of a log that may grow: whether new messages are scrolled to, how many come, and when
   * the last one came.
   */
  showLive() {
    const button = document.getElementById("live"), { data } = this, last = data.n > 0 ? data.wall(data.n - 1) : null;
    button.setAttribute("aria-pressed", String(this.follows));
    button.textContent = this.follows ? "Following" : "Follow";
    if (last === null) return;
    const now = BigInt(Date.now()) * 1000000n, ago = Number(now - last) / 1e9;
    const since = data.n - data.firstAtWall(now - BigInt(RATE_SECONDS) * 1000000000n), rate = since > 0 ? `${rateText(since / RATE_SECONDS)}, ` : "";
    document.getElementById("age").textContent = `${rate}last message ${agoText(ago)}`;
  }

  focusSwitches() {
    const first = document.querySelector("#detail .switches button:not([hidden])");
    if (first) first.focus(); else this.note(this.chosen === null ? "choose a message first" : "no running program has this message, or this page can't switch any");
  }

  /** True if the newest message came a moment ago: then it is what one looks for. */
  get isLively() {
    const last = this.data.n > 0 ? this.data.wall(this.data.n - 1) : null;
    return last !== null && Math.abs(Date.now() - Number(last / 1000000n)) < LIVELY;
  }

  onUserScroll() { if (this.follows && this.list.top < this.list.last) this.toggleFollow(); }

  escape() {
    if (this.isBusy) this.cancelSearch();
    else if (this.text === document.activeElement) this.list.grid.focus();
    else { this.chosen = null; this.refresh(); this.list.grid.focus(); }
  }

  showKeys() {
    const dialog = document.getElementById("keys");
    dialog.replaceChildren(keysTable());
    if (!dialog.open) dialog.showModal();
  }

  note(text) {
    const box = document.getElementById("note");
    box.textContent = text;
    box.classList.add("shown");
    clearTimeout(this.noteTimer);
    this.noteTimer = setTimeout(() => box.classList.remove("shown"), 4000);
  }
}

/** Takes new data as they come, no faster than it takes to take them, while somebody looks. */
async function poll(app, session, tag) {
  for (let pause = 1000; ; ) {
    await new Promise((next) => setTimeout(next, pause));
    if (document.hidden) await new Promise((next) => document.addEventListener("visibilitychange", next, { once: true }));
    const begun = performance.now();
    let reply;
    try {
      reply = await session.ask("GET", "data", tag);
    } catch (error) {
      const end = error instanceof Unproven ? "; another program answers at its address" : "";
      app.note(`the log is no longer served: \`protologtool view\` has ended${end}`);
      return;
    }
    if (reply.status === 200) {
      ({ tag } = reply);
      await app.update(new LogData(await inflate([new Uint8Array(reply.bytes)])));
    } else if (reply.status !== 304) {
      // It may be there again: a program that starts anew replaces its trace.
      app.note("the log can't be read now: see the messages of `protologtool view`");
    }
    pause = Math.max(1000, 4 * (performance.now() - begun));
  }
}

async function start() {
  const embedded = document.querySelectorAll("script.data");
  let parts = Array.from(embedded, (element) => fromBase64(element.textContent)), session, tag;
  if (parts.length === 0) {
    session = await Session.open();
    const reply = await session.ask("GET", "data");
    if (reply.status !== 200) throw new Error("see the messages of `protologtool view`");
    ({ tag } = reply);
    parts = [new Uint8Array(reply.bytes)];
  }
  for (const element of embedded) element.remove();
  const app = new App(new LogData(await inflate(parts)));
  if (session && app.data.meta.switches) app.switches = new Switches(app, session);
  // For tests, and for who wants to ask the log something in the console.
  globalThis.protolog = app;
  for (const id of ["live", "age"]) document.getElementById(id).hidden = !app.data.meta.live;
  app.follows = app.data.meta.live && app.isLively && app.chosen === null && app.filter.from === null && app.filter.to === null;
  await app.refresh();
  if (app.data.meta.live) {
    app.showLive();
    setInterval(() => app.showLive(), 1000);
  }
  app.list.grid.focus();
  // Until the first rows are there.
  await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
  app.openedIn = performance.now();
  document.documentElement.dataset.ready = "true";
  if (session) poll(app, session, tag);
}

start().catch((error) => {
  const box = document.getElementById("problems");
  box.hidden = false;
  box.textContent = `this page can't show the log: ${error.message}`;
});
