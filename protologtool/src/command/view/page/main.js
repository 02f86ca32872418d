// The page: what is chosen, and what happens when something is.

class App {
  constructor(data) {
    this.text = document.getElementById("text");
    this.chosen = null;
    this.bookmarks = new Set();
    this.follows = false;
    this.take(data);
    this.overview = new Overview(this);
    this.list = new LogList(this);
    this.side = new Side(this);
    this.detail = new Detail(this);
    this.bind();
    restoreState(this, location.hash.slice(1));
  }

  /** Takes the data, at first or anew. */
  take(data) {
    const old = this.filter;
    this.data = data;
    this.filter = new LogFilter(data);
    if (old) for (const key of [...FACETS, "search", "markOnly", "from", "to"]) this.filter[key] = old[key];
    const { traces, problems } = data.meta;
    document.title = `${traces.join(", ")} · protolog`;
    document.getElementById("title").textContent = visible(traces.join(", "));
    const box = document.getElementById("problems");
    box.hidden = problems.length === 0;
    box.textContent = problems.map(visible).join("\n");
  }

  bind() {
    const on = (id, listener) => document.getElementById(id).addEventListener("click", listener);
    let typing;
    this.text.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.searchFor(this.text.value), 120);
    });
    on("mode", () => this.toggleMode());
    on("clear", () => this.clear());
    on("help", () => this.showKeys());
    on("live", () => this.toggleFollow());
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === stateText(this)) return;
      restoreState(this, location.hash.slice(1));
      this.refresh();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    bindKeys(this);
  }

  /** Filters anew and draws. */
  async refresh() {
    this.text.classList.toggle("wrong", this.filter.search.error !== null);
    this.text.title = this.filter.search.error ?? "";
    document.getElementById("mode").setAttribute("aria-pressed", String(this.filter.markOnly));
    if (!await this.filter.apply()) return;
    const { shown } = this.filter, all = this.data.n;
    document.getElementById("count").textContent = shown.length === all ? countText(all) : `${countText(shown.length)} of ${countText(all)}`;
    // It takes its room from the list.
    this.detail.draw();
    this.list.resize();
    if (this.follows) this.list.scrollTo(Infinity);
    else if (this.chosen !== null) this.list.show(this.filter.placeOf(this.chosen));
    this.drawAll();
  }

  drawAll() {
    this.side.draw();
    this.overview.draw();
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
  chooseTime(from, to) { [this.filter.from, this.filter.to] = [from, to]; return this.refresh(); }

  clear() {
    this.filter.clear();
    this.text.value = "";
    return this.searchFor("");
  }

  leastLevel(least) {
    const all = [0, 1, 2, 3, 4, 5].filter((level) => level >= least);
    this.filter.levels = new Set(least === 0 ? [] : [...all, LOSS]);
    return this.refresh();
  }

  onlyTemplate() {
    if (this.chosen === null || this.data.isLoss(this.chosen)) return;
    const template = this.data.message(this.chosen), isOnly = this.filter.templates.has(template);
    this.filter.templates = new Set(isOnly ? [] : [template]);
    this.refresh();
  }

  /** Chooses what is shown at a place. */
  choose(place) {
    const { shown } = this.filter;
    if (shown.length === 0) return;
    const at = Math.max(0, Math.min(place, shown.length - 1));
    this.chosen = shown[at];
    this.detail.draw();
    this.list.show(at);
    this.overview.draw();
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
  isMatch(item) { return this.filter.search.test !== null && this.filter.search.test(this.data.text(item)); }
  isSameThread(item) { return this.chosen !== null && this.data.thread[item] === this.data.thread[this.chosen]; }

  goToTime(time) { this.choose(this.filter.placeOf(this.data.firstAt(time))); }

  askTime() {
    const answer = prompt("Go to a time: hours:minutes[:seconds], or seconds since boot");
    if (!answer) return;
    const time = this.parseTime(answer.trim());
    if (time === null) this.note(`not a time: ${answer}`); else this.goToTime(time);
  }

  /** The nanoseconds from the beginning that a text means; null for none. */
  parseTime(text) {
    if (/^\d+(\.\d+)?$/.test(text)) return Number(BigInt(Math.round(Number(text) * 1e6)) * 1000n - BigInt(this.data.meta.start));
    const parts = /^(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?$/.exec(text);
    if (!parts || this.data.n === 0 || this.data.wall(0) === null) return null;
    const first = this.data.wall(0), day = new Date(Number(first / 1000000n));
    day.setHours(Number(parts[1]), Number(parts[2]), 0, 0);
    return Number(BigInt(day.getTime()) * 1000000n - first) + Number(parts[3] ?? 0) * 1e9;
  }

  bookmark() {
    if (this.chosen === null) return;
    if (!this.bookmarks.delete(this.chosen)) this.bookmarks.add(this.chosen);
    this.list.draw();
    this.save();
  }

  async copy(form) {
    if (form !== "link" && this.chosen === null) return this.note("choose a message first");
    const forms = { text: () => this.lineOf(this.chosen), json: () => JSON.stringify(this.jsonOf(this.chosen)), link: () => location.href };
    try {
      await navigator.clipboard.writeText(forms[form]());
      this.note("copied");
    } catch {
      prompt("Copy this:", forms[form]());
    }
  }

  lineOf(item) {
    const { data } = this, group = data.isLoss(item) ? "LOST" : shortGroup(data.groupOf(item)), thread = data.threadOf(item);
    return `${dateText(data, item)} ${clockText(data, item)} ${thread?.pid ?? "?"} ${thread?.tid ?? "?"} ${LEVELS[data.level(item)]} ${group}: ${data.text(item)}`.trim();
  }

  jsonOf(item) {
    const { data } = this, message = data.messageOf(item), wall = data.wall(item);
    const base = { ts: String(BigInt(data.meta.start) + BigInt(data.time[item])), wall: wall === null ? undefined : String(wall), ...data.threadOf(item), text: data.text(item) };
    if (!message) return { type: "loss", ...base };
    return { type: "message", ...base, level: message.level, group: data.groupOf(item).name, template: message.template, location: message.location, id: message.id, stack: data.stack(item) ?? undefined };
  }

  toggleFollow() {
    if (!this.data.meta.live) return this.note("this page is a file: nothing follows");
    this.follows = !this.follows;
    document.getElementById("live").setAttribute("aria-pressed", String(this.follows));
    if (this.follows) this.list.scrollTo(Infinity);
  }

  onUserScroll() { if (this.follows && this.list.top < this.list.last) this.toggleFollow(); }

  escape() {
    if (this.text === document.activeElement) this.list.box.focus();
    else { this.chosen = null; this.refresh(); }
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
    this.noteTimer = setTimeout(() => box.classList.remove("shown"), 2500);
  }
}

/** Takes new data as they come, no faster than it takes to take them. */
async function poll(app, tag) {
  for (let pause = 1000; ; ) {
    await new Promise((next) => setTimeout(next, pause));
    try {
      const begun = performance.now(), reply = await fetch("data", { headers: { "If-None-Match": tag } });
      if (reply.status === 304) continue;
      if (!reply.ok) throw new Error(reply.statusText);
      tag = reply.headers.get("ETag");
      app.take(new LogData(await inflate(new Uint8Array(await reply.arrayBuffer()))));
      await app.refresh();
      pause = Math.max(1000, 4 * (performance.now() - begun));
    } catch {
      app.note("the log is no longer served: `protologtool view` has ended");
      return;
    }
  }
}

async function start() {
  const embedded = document.getElementById("data").textContent.trim();
  let bytes, tag = null;
  if (embedded) bytes = fromBase64(embedded);
  else {
    const reply = await fetch("data");
    tag = reply.headers.get("ETag");
    bytes = new Uint8Array(await reply.arrayBuffer());
  }
  document.getElementById("data").remove();
  const app = new App(new LogData(await inflate(bytes)));
  // For tests, and for who wants to ask the log something in the console.
  globalThis.protolog = app;
  document.getElementById("live").hidden = !app.data.meta.live;
  document.getElementById("live").setAttribute("aria-pressed", "false");
  await app.refresh();
  app.list.box.focus();
  // Until the first rows are there.
  await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
  app.openedIn = performance.now();
  document.documentElement.dataset.ready = "true";
  if (app.data.meta.live) poll(app, tag);
}

start().catch((error) => {
  const box = document.getElementById("problems");
  box.hidden = false;
  box.textContent = `this page can't show the log: ${error.message}`;
});
