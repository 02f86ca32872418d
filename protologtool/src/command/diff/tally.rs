//! The contents of one run, in the form in which two of them can be compared: messages by text,
//! with counts and values, and the messages of each thread in their order.

use super::noise::{self, ArgKind};
use super::values::ArgColumn;
use protolog_reader::{Level, Log, Message, Thread, Values, shortened};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// The identity of a message in all runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MessageKey {
    /// The group's full name, or the beginning of a long one; empty if it is not known.
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
    /// The list of the arguments' names.
    pub(super) names: String,
    /// The kinds of the arguments.
    pub(super) kinds: Vec<ArgKind>,
}

/// The messages of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: BTreeMap<Rc<MessageKey>, MessageTally>,
    /// The messages of each thread whose order can be compared, by the thread's name.
    pub(super) threads: BTreeMap<String, Vec<Rc<MessageKey>>>,
    /// The number of entries.
    pub(super) entries: u64,
}

impl Tally {
    /// Counts the entries of `log` whose level and group are admitted.
    pub(super) fn of(log: &Log, admits: impl Fn(Option<Level>, &str) -> bool) -> Self {
        let mut tally = Self::default();
        let names = comparable_threads(log);
        // A key is made once for its many entries: names and templates may be long.
        let mut known: HashMap<(u64, Option<*const Message>), Option<usize>> = HashMap::new();
        let mut places: BTreeMap<Rc<MessageKey>, usize> = BTreeMap::new();
        let mut all: Vec<(Rc<MessageKey>, MessageTally)> = Vec::new();
        for entry in log.entries() {
            let values = entry.values();
            let identity = (values.message_id(), values.message().map(std::ptr::from_ref));
            let place = known.entry(identity).or_insert_with(|| {
                // Before the name is cut, which is found by its end, too.
                let group = values.group(log).map_or("", |group| &*group.name);
                admits(values.level(), group).then(|| {
                    let key = Rc::new(MessageKey::of(&values, group));
                    let place = *places.entry(Rc::clone(&key)).or_insert(all.len());
                    if place == all.len() {
                        let kinds = noise::kinds(values.message().map_or("", |it| it.template()));
                        let names = values.message().map_or("", |it| it.names().list()).to_owned();
                        all.push((key, MessageTally { names, kinds, ..MessageTally::default() }));
                    }
                    let location = values.message().map_or("", |message| &*message.location);
                    if all[place].1.location.is_empty() {
                        location.clone_into(&mut all[place].1.location);
                    }
                    place
                })
            });
            let Some(place) = *place else { continue };
            let (key, message) = &mut all[place];
            tally.entries += 1;
            if let Some(name) = names.get(entry.thread()) {
                match tally.threads.get_mut(name) {
                    Some(keys) => keys.push(Rc::clone(key)),
                    None => drop(tally.threads.insert(name.clone(), vec![Rc::clone(key)])),
                }
            }
            message.count += 1;
            for (index, arg) in values.args().into_iter().enumerate() {
                if message.columns.len() == index {
                    message.columns.push(ArgColumn::default());
                }
                let thread = entry.thread();
                message.columns[index].add(arg, [thread.pid, thread.tid]);
            }
        }
        tally.messages = all.into_iter().collect();
        tally
    }
}

impl MessageKey {
    fn of(values: &Values<'_>, group: &str) -> Self {
        Self {
            group: shortened(group, SHOWN).into_owned(),
            level: values.level(),
            template: match values.message() {
                Some(message) => message.template().to_owned(),
                None => format!("#{:016x}", values.message_id()),
            },
        }
    }

    /// The template, or the beginning of a long one: the report may name it for each of its
    /// entries.
    pub(super) fn shown_template(&self) -> Cow<'_, str> {
        shortened(&self.template, SHOWN)
    }
}

/// The size up to which a template is shown, and the name of a group known, in bytes: many messages
/// may be of one group.
const SHOWN: usize = 1024;

/// The same for the name of a process, which each of its threads has.
const PROCESS: usize = 256;

/// The names by which threads are found in the other run: of those that have a name of their own in
/// their process, and of main threads. The process is named where there are several, without the
/// directory of its program; threads whose names differ by numbers alone are a pool, which shares
/// its work in another way at each run.
fn comparable_threads(log: &Log) -> HashMap<&Thread, String> {
    let all: HashSet<&Thread> = log.threads().iter().collect();
    let own = |thread: &Thread| match &thread.name {
        _ if thread.tid.is_some() && thread.tid == thread.pid => Some("main".to_owned()),
        name => name.clone(),
    };
    let named: Vec<(&Thread, String)> =
        all.into_iter().filter_map(|thread| Some((thread, own(thread)?))).collect();
    let processes: HashSet<Option<u32>> = named.iter().map(|(thread, _)| thread.pid).collect();
    let process = |thread: &Thread| {
        let path = log.process_name(thread).filter(|_| processes.len() > 1).unwrap_or_default();
        let name = path.rsplit('/').next().filter(|name| !name.is_empty());
        name.map(|name| format!("{}/", shortened(name, PROCESS)))
    };
    let full = |thread: &Thread, name: &str| process(thread).unwrap_or_default() + name;
    let mut uses: HashMap<String, u32> = HashMap::new();
    for (thread, name) in &named {
        *uses.entry(full(thread, &noise::without_numbers(name))).or_default() += 1;
    }
    let is_one =
        |thread: &Thread, name: &str| uses[&full(thread, &noise::without_numbers(name))] == 1;
    let alone = named.into_iter().filter(|(thread, name)| is_one(thread, name));
    alone.map(|(thread, name)| (thread, full(thread, &name))).collect()
}
