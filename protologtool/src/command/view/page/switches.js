// The switches of a chosen message in the program that logs it, if that runs: its calls, and its
// group. The server asks the program (switching.rs); a trace tells nothing of that, and the process
// id in it may be another program's by now. So the text and the place beside the buttons are the
// program's: a trace may give an id any text.

/** Milliseconds for which an answer is taken for the state of a program. */
const FRESH_STATE = 2000;
/** Milliseconds that a message is chosen before its program is asked: keys go through many. */
const CHOSEN_FOR = 150;
const LEVEL_WORDS = ["verbose", "debug", "info", "warn", "error", "wtf", "off"];

class Switches {
  constructor(app, session) {
    this.app = app;
    this.session = session;
    /** The last answers, by process and message, each with its time; null for no such program. */
    this.known = new Map();
    this.wanted = null;
  }

  /** An element with the switches of a message, which is filled when the program has answered. */
  of(pid, message) {
    const box = element("div", { class: "switches", role: "group", "aria-label": "Switches of the running program" });
    const key = `${pid}/${message.id}`, known = this.known.get(key);
    this.wanted = key;
    if (known !== undefined) this.fill(box, key, message, known.state);
    this.lookIn(known === undefined ? CHOSEN_FOR : Math.max(CHOSEN_FOR, known.at + FRESH_STATE - performance.now()), key, message);
    return box;
  }

  /** Asks the program after a while, if the message is still chosen. */
  lookIn(delay, key, message) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.wanted !== key || this.app.chosen === null) return;
      if (document.hidden) this.lookIn(FRESH_STATE, key, message); else this.look(key, message);
    }, delay);
  }

  async look(key, message) {
    const { status, state } = await this.ask("GET", `switches/${key}`);
    this.take(key, message, status === 200 ? state : null);
  }

  /** Takes what a program says of itself; one that is there is asked again, since it may end. */
  take(key, message, state) {
    if (this.known.size > 1000) this.known.clear();
    this.known.set(key, { at: performance.now(), state });
    const box = document.querySelector("#detail .switches");
    if (this.wanted !== key || !box) return;
    this.fill(box, key, message, state);
    if (state !== null) this.lookIn(FRESH_STATE, key, message);
  }

  /** The status of an answer and its content; a status of 0 if there is none. */
  async ask(method, path) {
    try {
      const { status, bytes } = await this.session.ask(method, path);
      return { status, state: status === 200 ? JSON.parse(new TextDecoder().decode(bytes)) : {} };
    } catch {
      return { status: 0, state: {} };
    }
  }

  fill(box, key, message, state) {
    if (state === null) {
      delete box.dataset.state;
      return box.replaceChildren();
    }
    // Neither a focus nor a click is lost where nothing has changed.
    const text = JSON.stringify(state);
    if (box.dataset.state === text) return;
    box.dataset.state = text;
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.word : undefined;
    const button = (word, text, title) => element("button", { type: "button", title, "data-word": word, on: { click: () => this.rule(key, message, word) } }, text);
    const calls = state.calls === 1 ? "this call" : `these ${countText(state.calls)} calls`;
    const level = (word) => element("button", {
      type: "button", "data-word": `from-${word}`, title: `Record the group from ${word} on`, "aria-pressed": String(word === state.trace.toLowerCase()),
      on: { click: () => this.level(key, message, state.group, word) },
    }, word);
    box.replaceChildren(
      element("h3", {}, visible(`Now in ${state.program}`)),
      element("p", {}, element("code", {}, visible(state.template)), visible(` at ${state.file}:${state.line}`)),
      element("p", {}, `${calls}: ${state.rule === null ? "no rule" : visible(state.rule)} `, button("on", "Enable", "Record it, whatever its group records"),
        button("off", "Disable", "Neither record nor print it"), ...state.rule === null ? [] : [button("default", "Take back", "As its group, without a rule")]),
      element("p", {}, `group ${visible(shortName(state.group))} from: `, ...LEVEL_WORDS.map(level)));
    if (focused) (box.querySelector(`[data-word="${focused}"]`) ?? box.querySelector("button")).focus();
  }

  async rule(key, message, word) {
    const [pid, id] = key.split("/"), { status, state } = await this.ask("POST", `switch/${pid}/site/${id}/${word}`);
    if (this.isDone(status, state)) {
      this.app.note(`#${id} of process ${pid}: ${word}`);
      this.take(key, message, state);
    }
  }

  async level(key, message, group, word) {
    const name = toHex(new TextEncoder().encode(group).buffer), { status, state } = await this.ask("POST", `switch/${key.split("/")[0]}/group/${name}/${word}`);
    if (this.isDone(status, state)) this.app.note(`${visible(group)} is recorded from: ${word}`);
    await this.look(key, message);
  }

  /** Says why nothing was switched, if nothing was. */
  isDone(status, { error }) {
    if (status === 200 && error === undefined) return true;
    this.app.note(`nothing was switched: ${error === undefined ? "`protologtool view` refused, or has ended" : visible(error)}`);
    return false;
  }
}
