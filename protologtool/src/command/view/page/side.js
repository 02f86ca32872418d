// The choices beside the list, each with the number of items that it would show, and the table of templates.

const MOST_CHOICES = 200;

class Side {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("side");
    this.open = { levels: true, groups: true, threads: true, templates: true };
  }

  draw() {
    const { data, filter } = this.app, { meta } = data;
    const focused = document.activeElement?.dataset?.choice;
    const groupName = (group) => group === meta.groups.length ? "lost messages" : meta.groups[group].name;
    const tag = (group) => group === meta.groups.length ? "" : meta.groups[group].tag;
    const parts = [
      this.part("levels", "Level", LEVELS.map((_, level) => level).reverse(), (level) => LEVEL_NAMES[level], () => "", (level) => LEVELS[level]),
      this.part("groups", "Group", this.byCount("groups"), groupName, tag, () => ""),
      this.part("threads", "Thread", this.byCount("threads"), (thread) => this.threadName(thread), () => "", () => ""),
      this.templates(),
    ];
    this.box.replaceChildren(...parts);
    if (focused) this.box.querySelector(`[data-choice="${CSS.escape(focused)}"]`)?.focus();
  }

  byCount(facet) {
    const counts = this.app.filter.counts[facet], chosen = this.app.filter[facet];
    const all = Array.from(counts.keys()).filter((choice) => counts[choice] > 0 || chosen.has(choice));
    return all.sort((a, b) => counts[b] - counts[a]);
  }

  threadName(index) {
    const thread = this.app.data.meta.threads[index];
    const process = thread.process?.split("/").pop() || (thread.pid === null ? "" : `process ${thread.pid}`);
    return `${threadText(thread)}${process ? ` · ${process}` : ""}`;
  }

  part(facet, title, choices, name, more, style) {
    const { filter } = this.app, counts = filter.counts[facet];
    const shown = choices.filter((choice) => counts[choice] > 0 || filter[facet].has(choice)).slice(0, MOST_CHOICES);
    const label = (choice) => {
      const box = element("input", { type: "checkbox", "data-choice": `${facet}:${choice}`, on: { change: () => this.app.toggle(facet, choice) } });
      box.checked = filter[facet].has(choice);
      const text = visible(name(choice)), other = more(choice);
      const title = other && other !== text ? `${text}, tag ${visible(other)}` : text;
      return element("label", { class: counts[choice] ? style(choice) : "none", title }, box, element("span", {}, text), element("b", {}, countText(counts[choice])));
    };
    return this.details(facet, title, choices.length > MOST_CHOICES ? `${MOST_CHOICES} of ${choices.length}` : "", shown.map(label));
  }

  templates() {
    const { data, filter } = this.app, counts = filter.counts.templates;
    const [from, to] = this.app.overview.range(), seconds = (to - from) / 1e9;
    const known = this.byCount("templates").filter((template) => template < data.meta.messages.length);
    const lines = known.slice(0, MOST_CHOICES).map((template) => {
      const message = data.meta.messages[template], rate = counts[template] / seconds;
      const title = `${visible(message.template)}\n${visible(message.location)}\n${counts[template]} messages, ${rate.toPrecision(3)} a second`;
      const level = LEVELS[data.levels[template]];
      return element("button", {
        type: "button", class: `template ${level}`, title, "data-choice": `templates:${template}`,
        "aria-pressed": String(filter.templates.has(template)), on: { click: () => this.app.toggle("templates", template) },
      }, element("span", {}, visible(message.template)), element("b", {}, countText(counts[template])));
    });
    return this.details("templates", "Template", known.length > MOST_CHOICES ? `${MOST_CHOICES} of ${known.length}` : "", lines);
  }

  details(facet, title, note, children) {
    const details = element("details", { on: { toggle: (event) => { this.open[facet] = event.target.open; } } },
      element("summary", {}, title, " ", element("b", {}, note)), ...children);
    details.open = this.open[facet];
    return details;
  }
}
