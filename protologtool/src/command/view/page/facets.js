// The facets to choose by: each takes the items apart, by their message, their thread or their
// request.
// Losses count as the messages of one more message, `lost`.

const LOST = "!";

/**
 * The facets of a log; those that would not take anything apart are left out of the page
 * (`isUseful`).
 */
function makeFacets(data) {
  const { messages, groups, threads, requests } = data.meta, lost = messages.length;
  const byMessage = (of, ofLost) => Uint32Array.from({ length: lost + 1 }, (_, message) => message === lost ? ofLost : of(messages[message], message));
  const tags = [...new Set(groups.map((group) => group.tag))];
  const processes = [...new Map(threads.map((thread) => [processKey(thread), thread])).values()];
  const processIndex = new Map(processes.map((thread, index) => [processKey(thread), index]));
  const orLost = (list, of) => (choice) => choice === list.length ? "lost messages" : of(list[choice]);
  const keyOrLost = (list, of) => (choice) => choice === list.length ? LOST : of(list[choice]);
  const common = commonPath(groups.map((group) => group.name));
  return [
    {
      name: "levels", param: "level", title: "Level", size: LEVELS.length, isOrdered: true,
      message: byMessage((_, message) => data.levels[message], LOSS),
      key: (level) => LEVELS[level], label: (level) => LEVEL_NAMES[level], more: (level) => LEVEL_NAMES[level][0] === levelSign(level) ? "" : levelSign(level), style: (level) => LEVELS[level],
    },
    {
      name: "groups", param: "group", title: "Group", size: groups.length + 1,
      message: byMessage((message) => message.group, groups.length),
      key: keyOrLost(groups, (group) => group.name), label: orLost(groups, (group) => group.name.slice(common)), full: orLost(groups, (group) => group.name),
      more: (choice) => groups[choice] === undefined ? "" : [groupTag(groups[choice]), passedText(data.passedOver(groups[choice].name))].filter((it) => it !== "").join(", "),
    },
    {
      // Where each group has a tag of its own, the groups say it all.
      name: "tags", param: "tag", title: "Tag", size: tags.length + 1, isUseless: tags.length < 2 || tags.length === groups.length,
      message: byMessage((message) => tags.indexOf(groups[message.group].tag), tags.length),
      key: keyOrLost(tags, String), label: orLost(tags, (tag) => tag || "none"),
    },
    {
      name: "processes", param: "process", title: "Process", size: processes.length, isUseless: processes.length < 2,
      thread: Uint32Array.from(threads, (thread) => processIndex.get(processKey(thread))),
      key: (choice) => processKey(processes[choice]), label: (choice) => processText(processes[choice]),
    },
    {
      name: "threads", param: "thread", title: "Thread", size: threads.length,
      thread: Uint32Array.from(threads.keys()),
      key: (thread) => threadKey(threads[thread]), label: (thread) => threadText(threads[thread]),
      more: (thread) => processes.length < 2 ? "" : processText(threads[thread]),
    },
    {
      name: "requests", param: "request", title: "Request", size: requests.length + 1, isUseless: requests.length === 0,
      request: Uint32Array.from({ length: requests.length + 1 }, (_, request) => request),
      // An id may be any text.
      key: (request) => request === 0 ? "" : `=${requests[request - 1]}`, label: (request) => request === 0 ? "in no request" : requests[request - 1],
    },
    {
      name: "templates", param: "template", title: "Template", size: lost + 1,
      message: byMessage((_, message) => message, lost),
      key: keyOrLost(messages, (message) => message.id), label: orLost(messages, (message) => message.template),
      style: (template) => LEVELS[data.levels[template]] ?? "X",
    },
  ];
}

/** The tag of a group, where it is another word than its name. */
function groupTag({ name, tag }) { return tag && tag !== shortName(name) ? tag : ""; }

function passedText(count) { return count === 0 ? "" : `${countText(count)} passed over`; }

/** The size of the path that all of these names begin with; 0 where one is nothing else. */
function commonPath(names) {
  const [first = "", ...others] = names;
  const ends = [...first.matchAll(/::|\./g)].map((end) => end.index + end[0].length).reverse();
  return ends.find((end) => end < first.length && others.every((name) => name.length > end && name.startsWith(first.slice(0, end)))) ?? 0;
}

function processKey(thread) { return `${thread.pid ?? "?"} ${thread.process ?? ""}`.trim(); }
function threadKey(thread) { return `${thread.pid ?? "?"}:${thread.tid ?? "?"} ${thread.name ?? ""}`.trim(); }
