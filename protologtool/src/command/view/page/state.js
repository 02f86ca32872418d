// What is chosen, in the part of the address behind `#`: a link shows the same. Choices are kept by name, not by number, so that a link
// also fits another trace of the same program.

function stateText(app) {
  const { data, filter } = app, { meta } = data, params = new URLSearchParams();
  const all = (name, values) => values.forEach((value) => params.append(name, value));
  all("level", [...filter.levels].map((level) => LEVELS[level]));
  all("group", [...filter.groups].map((group) => meta.groups[group]?.name ?? "!"));
  all("thread", [...filter.threads].map((thread) => threadText(meta.threads[thread])));
  all("template", [...filter.templates].map((template) => meta.messages[template]?.id ?? "!"));
  if (app.text.value) params.set("q", app.text.value);
  if (filter.markOnly) params.set("mark", "1");
  if (filter.from !== null) params.set("from", Math.round(filter.from));
  if (filter.to !== null) params.set("to", Math.round(filter.to));
  if (app.chosen !== null) params.set("at", app.chosen);
  if (app.bookmarks.size > 0) params.set("kept", [...app.bookmarks].join("-"));
  return params.toString();
}

function restoreState(app, text) {
  const { data, filter } = app, { meta } = data, params = new URLSearchParams(text);
  filter.clear();
  const add = (name, set, find) => {
    for (const value of params.getAll(name)) {
      const found = find(value);
      if (found >= 0) set.add(found);
    }
  };
  add("level", filter.levels, (letter) => LEVELS.indexOf(letter));
  add("group", filter.groups, (name) => name === "!" ? meta.groups.length : meta.groups.findIndex((group) => group.name === name));
  add("thread", filter.threads, (name) => meta.threads.findIndex((thread) => threadText(thread) === name));
  add("template", filter.templates, (id) => id === "!" ? meta.messages.length : meta.messages.findIndex((message) => message.id === id));
  app.text.value = params.get("q") ?? "";
  filter.search = parseSearch(app.text.value);
  filter.markOnly = params.get("mark") === "1";
  const number = (name) => params.has(name) && Number.isFinite(Number(params.get(name))) ? Number(params.get(name)) : null;
  filter.from = number("from");
  filter.to = number("to");
  const inside = (item) => Number.isInteger(item) && item >= 0 && item < data.n;
  const at = number("at");
  app.chosen = inside(at) && at !== null ? at : null;
  app.bookmarks = new Set((params.get("kept") ?? "").split("-").filter(Boolean).map(Number).filter(inside));
}
