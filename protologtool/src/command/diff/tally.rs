//! The contents of one run, in the form in which two of them can be compared: messages by text, with counts and values, and the
//! messages of each thread in their order.

use super::values::ArgColumn;
use protolog_reader::{Level, Log, Thread};
use std::collections::{BTreeMap, HashMap};

/// The identity of a message in all runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MessageKey {
    /// The group's full name; empty if it is not known.
    pub(super) group: String,
    pub(super) level: Option<Level>,
    /// The template, or the id of a message that is in no dictionary.
    pub(super) template: String,
}

/// A message of a run.
#[derive(Debug, Default)]
pub(super) struct MessageTally {
    /// The number of its entries.
    pub(super) count: u64,
    /// `path:line`; empty if not known.
    pub(super) location: String,
    /// The values of each argument.
    pub(super) columns: Vec<ArgColumn>,
}

/// The messages of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: BTreeMap<MessageKey, MessageTally>,
    /// The messages of each thread whose order can be compared, by the thread's name.
    pub(super) threads: BTreeMap<String, Vec<MessageKey>>,
    /// The number of entries.
    pub(super) entries: u64,
}

impl Tally {
    /// Counts the entries of `log` whose level and group are admitted.
    pub(super) fn of(log: &Log, admits: impl Fn(Option<Level>, &str) -> bool) -> Self {
        let mut tally = Self::default();
        let names = comparable_threads(log);
        for entry in log.entries() {
            let values = entry.values();
            let group = values.group(log).map(|group| group.name.clone()).unwrap_or_default();
            let level = values.level();
            if !admits(level, &group) {
                continue;
            }
            let (template, location) = match values.message() {
                Some(message) => (message.template().to_owned(), &*message.location),
                None => (format!("#{:016x}", values.message_id()), ""),
            };
            let key = MessageKey { group, level, template };
            tally.entries += 1;
            if let Some(name) = names.get(entry.thread()) {
                tally.threads.entry(name.clone()).or_default().push(key.clone());
            }
            let message = tally.messages.entry(key).or_default();
            message.count += 1;
            if message.location.is_empty() {
                location.clone_into(&mut message.location);
            }
            for (index, arg) in values.args().into_iter().enumerate() {
                if message.columns.len() == index {
                    message.columns.push(ArgColumn::default());
                }
                message.columns[index].add(arg);
            }
        }
        tally
    }
}

/// The names by which threads are found in the other run: of those that have a name of their own in their process, and of main threads.
fn comparable_threads(log: &Log) -> HashMap<&Thread, String> {
    let mut names: HashMap<&Thread, String> = HashMap::new();
    let mut uses: HashMap<String, u32> = HashMap::new();
    for thread in log.threads() {
        let is_main = thread.tid.is_some() && thread.tid == thread.pid;
        let process = thread.pid.and_then(|pid| log.process_name(pid)).unwrap_or_default();
        let own = match &thread.name {
            _ if is_main => "main",
            Some(name) => name,
            None => continue,
        };
        let name = if process.is_empty() { own.to_owned() } else { format!("{process}/{own}") };
        *uses.entry(name.clone()).or_default() += 1;
        names.insert(thread, name);
    }
    names.retain(|_, name| uses[name] == 1);
    names
}
