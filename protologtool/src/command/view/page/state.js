// The choices, in the part of the address behind `#`: a link shows the same. Choices are kept by
// name and items by time, not by number, so that a link also fits a trace that has grown, or
// another one of the same program.

function stateText(app) {
  const { data, filter } = app, params = new URLSearchParams();
  for (const { name, param, key } of filter.facets) {
    for (const value of new Set([...filter.chosen[name]].map(key))) params.append(param, value);
  }
  if (app.text.value) params.set("q", app.text.value);
  if (filter.markOnly) params.set("mark", "1");
  if (filter.from !== null) params.set("from", data.stamp(filter.from));
  if (filter.to !== null) params.set("to", data.stamp(filter.to));
  if (app.chosen !== null) params.set("at", data.key(app.chosen));
  if (app.bookmarks.size > 0) params.set("kept", [...app.bookmarks].map((item) => data.key(item)).join("_"));
  return params.toString();
}

/**
 * The state of such a text for some data: a filter, what is chosen, and the names that the data do
 * not have.
 */
function parseState(text, data) {
  const params = new URLSearchParams(text), filter = new LogFilter(data), missing = [];
  for (const { name, param, key, size } of filter.facets) {
    const wanted = new Set(params.getAll(param));
    if (wanted.size === 0) continue;
    const found = new Set();
    for (let choice = 0; choice < size; choice++) {
      if (!wanted.has(key(choice))) continue;
      filter.chosen[name].add(choice);
      found.add(key(choice));
    }
    for (const value of wanted) if (!found.has(value)) missing.push(`${param} ${value}`);
  }
  const query = params.get("q") ?? "";
  filter.search = parseSearch(query);
  filter.markOnly = params.get("mark") === "1";
  filter.from = data.timeOfStamp(params.get("from"));
  filter.to = data.timeOfStamp(params.get("to"));
  const at = params.get("at"), kept = (params.get("kept") ?? "").split("_").filter(Boolean);
  const chosen = data.itemOf(at), bookmarks = kept.map((key) => data.itemOf(key)).filter((item) => item !== null);
  if (at !== null && chosen === null) missing.push("the chosen message");
  if (bookmarks.length < kept.length) missing.push(`${kept.length - bookmarks.length} of the bookmarks`);
  return { filter, query, chosen, bookmarks: new Set(bookmarks), missing };
}
