// The choices beside the list, each with the number of items that it would show, and the table of
// templates with counts and rates.

const MOST_CHOICES = 200;

class Side {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("side");
    this.closed = new Set();
  }

  draw() {
    const focused = document.activeElement?.dataset?.choice, { scrollTop } = this.box;
    const { filter } = this.app;
    const isEmpty = ({ name }) => filter.chosen[name].size === 0 && filter.counts[name].every((count) => count === 0);
    const facets = filter.facets.filter((facet) => !facet.isUseless && !isEmpty(facet));
    this.box.replaceChildren(...facets.map((facet) => this.part(facet)));
    this.box.scrollTop = scrollTop;
    if (focused) this.box.querySelector(`[data-choice="${CSS.escape(focused)}"]`)?.focus();
  }

  part(facet) {
    const { filter } = this.app, counts = filter.counts[facet.name], chosen = filter.chosen[facet.name];
    const all = this.there(facet);
    if (facet.isOrdered) all.reverse(); else all.sort((a, b) => counts[b] - counts[a]);
    const isTemplate = facet.name === "templates";
    const lines = all.slice(0, MOST_CHOICES).map((choice) => isTemplate ? this.template(facet, choice) : this.choice(facet, choice));
    const left = all.length > MOST_CHOICES ? [element("small", {}, `and ${countText(all.length - MOST_CHOICES)} more; filter by text to see them`)] : [];
    const reset = chosen.size === 0 ? [] : [element("button", {
      type: "button", class: "all", title: `All: choose by no ${facet.title.toLowerCase()}`,
      on: { click: (event) => { event.preventDefault(); chosen.clear(); this.app.refresh(); } },
    }, "all")];
    const details = element("details", { on: { toggle: (event) => { if (event.target.open) this.closed.delete(facet.name); else this.closed.add(facet.name); } } },
      element("summary", {}, element("span", {}, facet.title), ...reset), ...lines, ...left);
    details.open = !this.closed.has(facet.name);
    return details;
  }

  /** The choices of a facet that are there: that would show an item, or are chosen. */
  there(facet) {
    const counts = this.app.filter.counts[facet.name], chosen = this.app.filter.chosen[facet.name];
    return Array.from({ length: facet.size }, (_, choice) => choice).filter((choice) => counts[choice] > 0 || chosen.has(choice));
  }

  choice(facet, choice) {
    const { filter } = this.app, count = filter.counts[facet.name][choice], more = facet.more?.(choice) ?? "";
    const box = element("input", {
      type: "checkbox", "data-choice": `${facet.name}:${choice}`, on: { change: () => this.app.toggle(facet.name, choice) },
    });
    box.checked = filter.chosen[facet.name].has(choice);
    const text = visible(facet.label(choice)), full = visible(facet.full?.(choice) ?? facet.label(choice)), title = more ? `${full}, ${visible(more)}` : full;
    const button = (name, hint, of) => element("button", {
      type: "button", class: "only", title: hint, "aria-label": `${hint}: ${full}`, "data-choice": `${facet.name}:${choice}:${name}`,
      on: { click: (event) => { event.preventDefault(); this.app.chooseOnly(facet.name, of); } },
    }, name);
    const others = () => this.there(facet).filter((other) => other !== choice);
    // The end of a long name says most.
    const name = element("span", {}, element("bdi", {}, text), more ? element("i", {}, ` ${visible(more)}`) : "");
    return element("label", { class: count ? facet.style?.(choice) : "none", title }, box, name,
      button("only", "Only this", () => [choice]), button("not", "All but this", others), element("b", {}, countText(count)));
  }

  template(facet, choice) {
    const { data, filter } = this.app, count = filter.counts.templates[choice], message = data.meta.messages[choice];
    // One message has no rate.
    const [from, to] = this.app.overview.range(), rate = count < 2 ? "" : ` · ${rateText(count / ((to - from) / 1e9))}`;
    const text = visible(facet.label(choice)), group = message ? ` · ${visible(shortGroup(data.meta.groups[message.group]))}` : "";
    return element("button", {
      type: "button", class: `template ${facet.style(choice)}`, title: message ? `${text}\n${visible(message.location)}` : text,
      "data-choice": `templates:${choice}`, "aria-pressed": String(filter.chosen.templates.has(choice)),
      on: { click: () => this.app.toggle("templates", choice) },
    }, element("span", {}, text), element("small", {}, `${countText(count)}${rate}${group}`));
  }
}
