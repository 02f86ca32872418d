//! The log as columns, the form in which a page takes it: small, and quick to take apart into typed
//! arrays.
//!
//! Nine parts, each after its size in four bytes (little endian): JSON with all that many items
//! share (messages, groups, threads, the texts of losses), five columns with a value for each item
//! in the order of time, the spans, and two columns that may be empty: requests and rates.
//!
//! | column | value |
//! |---|---|
//! | times | nanoseconds since the item before, zigzag |
//! | heads | of a loss `index * 2 + 1`; of a message `index * 16 + flags * 2`: [`GUESSED`], [`STACK`], [`WHOLE`] |
//! | threads | index |
//! | arguments | of a message: with [`STACK`] the index of a text; then a code for each conversion of its template, or with [`WHOLE`] the index of the whole text |
//! | texts | size in bytes, UTF-8 |
//! | requests | 0, or the number of the message's request, from 1 |
//! | rates | 0, or the number of the rate at which the message was kept by sampling, from 1 |
//!
//! [`SpanColumn`] says what a span has.
//!
//! All numbers are varints. A code is `2 * index` of a text, or `2 * zigzag + 1` of an integer that
//! is printed as it is.
//!
//! Invariant: the pieces of a template and the texts of its arguments, put together, are what
//! `read-log` prints: where they would not be (missing or extra values, a message in no
//! dictionary), the whole text stands in the columns. The reader says which they are, so that no
//! other text is put together; builds for tests compare all of them.

mod arguments;
mod numbered;
mod sampling;
mod spans;
mod template;
mod values;

use crate::logs::filter::Filter;
use arguments::ArgumentColumns;
use foldhash::{HashMap, HashMapExt as _};
use numbered::NumberedColumn;
use protolog_core::control::rate::Rate;
use protolog_core::{Conversion, Template, Verb, render_one};
use protolog_reader::{
    Arg, Entry, Item, Log, Loss, LossCause, LossReason, Message, Rendering, SpanSlice, Thread,
    Values, shortened,
};
use serde_json::{Value, json};
use spans::SpanColumn;
use std::fmt;
use template::{take_apart, verb_letter};
use values::{varint, zigzag};

/// The time is a guess.
const GUESSED: u64 = 1;
/// There is a stack trace.
const STACK: u64 = 2;
/// The text stands there whole.
const WHOLE: u64 = 4;
/// The greatest integer that stands there as a number: a page computes exactly up to 2^53, of which
/// the code takes some.
const GREATEST: i64 = 1 << 50;

/// The most items of a page: they take about a gigabyte in a browser.
const MOST_ITEMS: u64 = 16_000_000;

/// The most bytes of a name of a thread or a process, and of a loss in words, which may have the
/// name of a group: a trace has a long one once, and any number of what is named so.
const MAX_NAME: usize = 2048;

/// The most bytes of a page, whose parts have sizes and offsets of 32 bits.
const MOST_BYTES: u64 = u32::MAX as u64;

/// More than a page can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    Items,
    Bytes,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items => write!(f, "more than {MOST_ITEMS} messages are too many for a page"),
            Self::Bytes => f.write_str("messages of more than 4 GiB are too many for a page"),
        }
    }
}

/// The way in which a page may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Live {
    /// It is a file.
    No,
    /// It is served, and may switch programs or not.
    Served(bool),
}

/// Encodes the items of a log that are admitted. `traces` are the names to show, `problems` the
/// reasons why the log is not whole; `live` says whether there
/// may be more of it later.
pub(super) fn encode(
    log: &Log,
    filter: &Filter<'_>,
    traces: &[String],
    problems: &[&str],
    live: Live,
) -> Result<Vec<u8>, TooMuch> {
    encode_within(log, filter, (traces, problems, live), MOST_BYTES)
}

/// As [`encode`], of at most so many bytes.
fn encode_within(
    log: &Log,
    filter: &Filter<'_>,
    (traces, problems, live): (&[String], &[&str], Live),
    most: u64,
) -> Result<Vec<u8>, TooMuch> {
    let mut columns = Columns::new(log);
    let slices: Vec<_> = log.slices().iter().filter(|slice| filter.admits_slice(slice)).collect();
    for item in log.items().filter(|item| filter.admits(item)) {
        if columns.items + slices.len() as u64 >= MOST_ITEMS {
            return Err(TooMuch::Items);
        }
        match item {
            Item::Entry(entry) => columns.entry(&entry),
            Item::Loss(loss) => columns.loss(loss),
            Item::SpanBegin(_) | Item::SpanEnd(_) => {}
        }
        columns.check_size(most)?;
    }
    for slice in slices {
        columns.slice(slice);
        columns.check_size(most)?;
    }
    let all = columns.finish(traces, problems, live);
    if all.len() as u64 > most { Err(TooMuch::Bytes) } else { Ok(all) }
}

/// The columns so far.
struct Columns<'a> {
    log: &'a Log,
    items: u64,
    start: Option<i64>,
    last: i64,
    times: Vec<u8>,
    heads: Vec<u8>,
    threads: Vec<u8>,
    args: ArgumentColumns,
    requests: NumberedColumn<&'a str>,
    rates: NumberedColumn<Rate>,
    spans: SpanColumn,
    /// By id, and by their place in memory: one id may stand for several.
    messages: HashMap<(u64, usize), usize>,
    parsed: Vec<PageMessage>,
    groups: Vec<Value>,
    group_index: HashMap<Option<u32>, usize>,
    thread_index: HashMap<&'a Thread, usize>,
    /// The thread of the item before, and its index: a thread logs several messages in turn.
    last_thread: Option<(&'a Thread, u64)>,
    thread_list: Vec<Value>,
    losses: Vec<String>,
    /// The bytes of names in `thread_list` and of texts in `losses`.
    described: u64,
    /// The indices of those that are of limits.
    limited: Vec<usize>,
    /// The same of messages that repeat others.
    repeats: Vec<usize>,
    /// The number of messages that were lost, as far as it is known.
    lost: u64,
    /// The item from which on the wall clock is so far from the trace's, and the wall clock's time
    /// at the start by that.
    wall: Vec<(u64, i64)>,
    room: Room<'a>,
}

/// Memory that each message uses again.
#[derive(Default)]
struct Room<'a> {
    args: Vec<Arg<'a>>,
    text: String,
}

/// A message, with its template taken apart.
struct PageMessage {
    /// Texts between the conversions, one more than these; of a text that is no template one,
    /// which is empty.
    pieces: Vec<String>,
    /// None of a text that is no template.
    conversions: Option<Vec<Conversion>>,
    json: Value,
}

impl PageMessage {
    /// The text that a page makes of these values, put together here to be compared.
    fn text(&self, args: &[Arg<'_>]) -> String {
        let mut all = self.pieces[0].clone();
        let conversions = self.conversions.iter().flatten();
        for ((arg, conversion), piece) in args.iter().zip(conversions).zip(&self.pieces[1..]) {
            render_one(&mut all, conversion, *arg).expect("a string takes every write");
            all.push_str(piece);
        }
        all
    }
}

impl<'a> Columns<'a> {
    fn new(log: &'a Log) -> Self {
        Self {
            log,
            items: 0,
            start: None,
            last: 0,
            times: Vec::new(),
            heads: Vec::new(),
            threads: Vec::new(),
            args: ArgumentColumns::default(),
            requests: NumberedColumn::default(),
            rates: NumberedColumn::default(),
            spans: SpanColumn::default(),
            messages: HashMap::new(),
            parsed: Vec::new(),
            groups: Vec::new(),
            group_index: HashMap::new(),
            thread_index: HashMap::new(),
            last_thread: None,
            thread_list: Vec::new(),
            losses: Vec::new(),
            described: 0,
            limited: Vec::new(),
            repeats: Vec::new(),
            lost: 0,
            wall: Vec::new(),
            room: Room::default(),
        }
    }

    fn entry(&mut self, entry: &Entry<'a>) {
        self.requests.push(self.items, entry.request());
        self.rates.push(self.items, entry.rate());
        self.begin(entry.time(), entry.thread());
        let values = entry.values();
        let index = self.message(&values);
        let mut flags = if entry.time_is_guess() { GUESSED } else { 0 };
        if let Some(stack) = entry.stack_trace() {
            flags |= STACK;
            self.args.push_text(stack, 0);
        }
        if !self.push_codes(index, &values) {
            flags |= WHOLE;
            self.room.text.clear();
            values.write(&mut self.room.text, Rendering::Full).expect("a string takes every write");
            self.args.push_text(&self.room.text, 0);
        }
        self.args.end_message();
        varint(&mut self.heads, (index as u64) << 4 | flags << 1);
    }

    fn loss(&mut self, loss: &'a Loss) {
        self.requests.push(self.items, None);
        self.rates.push(self.items, None);
        self.begin(loss.time, self.log.thread_of(loss));
        varint(&mut self.heads, (self.losses.len() as u64) << 1 | 1);
        let text = shortened(&self.log.describe(loss), MAX_NAME).into_owned();
        self.described += text.len() as u64;
        self.losses.push(text);
        if loss.reason == LossReason::Reported(LossCause::Limited) {
            self.limited.push(self.losses.len() - 1);
        }
        if loss.reason.is_repeat() {
            self.repeats.push(self.losses.len() - 1);
        }
        // Neither packets of any kind, nor messages of which an argument was cut off.
        let is_of_messages = match loss.reason {
            LossReason::Reported(cause) => !cause.is_in_log(),
            LossReason::ReportedUnknown(_) | LossReason::MissingState => true,
            _ => false,
        };
        if is_of_messages {
            self.lost = self.lost.saturating_add(loss.count.unwrap_or(0));
        }
    }

    /// Adds time and thread of an item.
    fn begin(&mut self, time: i64, thread: &'a Thread) {
        let start = *self.start.get_or_insert(time);
        // Of times that are centuries apart, all that is later than can be said is of one time.
        let since = time.saturating_sub(start);
        varint(&mut self.times, zigzag(since.wrapping_sub(self.last)));
        self.last = since;
        if let Some(wall) = self.log.wall_time(time) {
            let at_start = wall.saturating_sub(since);
            if self.wall.last().is_none_or(|(_, known)| *known != at_start) {
                self.wall.push((self.items, at_start));
            }
        }
        let index = self.thread(thread);
        varint(&mut self.threads, index);
        self.items += 1;
    }

    /// The index of a thread.
    fn thread(&mut self, thread: &'a Thread) -> u64 {
        let last = self.last_thread.filter(|(last, _)| std::ptr::eq(*last, thread));
        if let Some((_, index)) = last {
            return index;
        }
        let (log, next) = (self.log, self.thread_list.len());
        let index = *self.thread_index.entry(thread).or_insert(next);
        if index == next {
            let names = [thread.name.as_deref(), log.process_name(thread)];
            let [name, process] = names.map(|name| name.map(|name| shortened(name, MAX_NAME)));
            let shown = [&name, &process].into_iter().flatten();
            self.described += shown.map(|name| name.len()).sum::<usize>() as u64;
            self.thread_list.push(json!({
                "pid": thread.pid, "tid": thread.tid, "name": name, "process": process,
            }));
        }
        self.last_thread = Some((thread, index as u64));
        index as u64
    }

    fn slice(&mut self, slice: &'a SpanSlice) {
        let since = slice.begin.saturating_sub(*self.start.get_or_insert(slice.begin));
        let thread = self.thread(self.log.thread_of_slice(slice));
        self.spans.push(slice, since, thread, self.args.texts());
    }

    /// The index of the message of these values.
    fn message(&mut self, values: &Values<'a>) -> usize {
        let message = values.message();
        let key = (values.message_id(), message.map_or(0, |it| std::ptr::from_ref(it).addr()));
        if let Some(index) = self.messages.get(&key) {
            return *index;
        }
        let group = self.group(values);
        let template = message.map_or_else(String::new, |message| message.template().to_owned());
        let known = message.and_then(|message| Template::parse(message.template()).ok());
        let (pieces, conversions) = match known.as_ref().map(take_apart) {
            Some((pieces, conversions)) => (pieces, Some(conversions)),
            None => (vec![String::new()], None),
        };
        let id = format!("{:016x}", values.message_id());
        let mut json = json!({
            "id": id,
            "template": if message.is_some() { template } else { format!("#{id}") },
            "pieces": pieces,
            "verbs": conversions.iter().flatten().map(|it| verb_letter(it.verb)).collect::<String>(),
            "level": values.level().map(|level| level.letter().to_string()),
            "group": group,
            "location": message.map_or("", |message| &message.location),
        });
        if let Some(names) = message.map(Message::names).filter(|names| !names.is_empty()) {
            json["names"] = names.iter().collect();
        }
        self.parsed.push(PageMessage { pieces, conversions, json });
        self.messages.insert(key, self.parsed.len() - 1);
        self.parsed.len() - 1
    }

    fn group(&mut self, values: &Values<'a>) -> usize {
        let next = self.groups.len();
        let index = *self.group_index.entry(values.message().map(|it| it.group)).or_insert(next);
        if index == next {
            let group = values.group(self.log);
            let name = match (group, values.message()) {
                (Some(group), _) => group.name.clone(),
                (None, Some(message)) => format!("group {}", message.group),
                (None, None) => "in no dictionary".to_owned(),
            };
            self.groups.push(json!({"name": name, "tag": group.map_or("", |group| &group.tag)}));
        }
        index
    }

    /// Adds the codes of the arguments; false unless they make the whole text.
    fn push_codes(&mut self, index: usize, values: &Values<'a>) -> bool {
        let (message, column) = (&self.parsed[index], &mut self.args);
        let Room { args, text } = &mut self.room;
        let Some(conversions) = message.conversions.as_ref().filter(|_| values.fill(args)) else {
            return false;
        };
        debug_assert_eq!(message.text(args), values.text(Rendering::Full));
        for (arg, conversion) in args.iter().zip(conversions) {
            let integer = match *arg {
                Arg::Int(value) => Some(value),
                Arg::Uint(value) => i64::try_from(value).ok(),
                Arg::Str(text) if conversion.is_bare() => {
                    column.push_text(text, 1);
                    continue;
                }
                _ => None,
            };
            let is_plain = conversion.is_bare() && conversion.verb == Verb::Decimal;
            match integer {
                Some(value) if is_plain && value.unsigned_abs() <= GREATEST as u64 => {
                    column.push_code(zigzag(value) << 1 | 1);
                }
                _ => {
                    text.clear();
                    render_one(text, conversion, *arg).expect("a string takes every write");
                    column.push_text(text, 1);
                }
            }
        }
        true
    }

    /// Looks whether the columns so far fit, before they take more memory.
    fn check_size(&self, most: u64) -> Result<(), TooMuch> {
        let Self { times, heads, threads, spans, .. } = self;
        let (requests, rates) = (self.requests.bytes(), self.rates.bytes());
        let parts = [times, heads, threads, spans.bytes(), requests, rates];
        let size: u64 = parts.into_iter().map(|part| part.len() as u64).sum();
        if size + self.described + self.args.size() > most { Err(TooMuch::Bytes) } else { Ok(()) }
    }

    fn finish(self, traces: &[String], problems: &[&str], live: Live) -> Vec<u8> {
        let (args, texts) = self.args.finish();
        let wall: Vec<Value> =
            self.wall.iter().map(|(item, ns)| json!([item, ns.to_string()])).collect();
        let messages: Vec<Value> = self.parsed.into_iter().map(|message| message.json).collect();
        let meta = json!({
            "traces": traces,
            "live": live != Live::No,
            "switches": live == Live::Served(true),
            "items": self.items,
            "texts": texts.count(),
            "slices": self.spans.count(),
            "start": self.start.unwrap_or(0).to_string(),
            "wall": wall,
            "messages": messages,
            "groups": self.groups,
            "threads": self.thread_list,
            "losses": self.losses,
            "limited": self.limited,
            "repeats": self.repeats,
            "problems": problems,
            "lost": self.lost,
            "requests": self.requests.values(),
            "rates": self.rates.values().iter().map(sampling::rate).collect::<Vec<_>>(),
            "passed": sampling::passed_over(self.log),
        });
        let meta = meta.to_string().into_bytes();
        let (texts, spans) = (texts.bytes(), self.spans.bytes());
        let (requests, rates) = (self.requests.bytes(), self.rates.bytes());
        let (times, heads, threads) = (&self.times, &self.heads, &self.threads);
        let parts = [&meta, times, heads, threads, &args, texts, spans, requests, rates];
        let mut all = Vec::with_capacity(parts.iter().map(|part| part.len() + 4).sum());
        for part in parts {
            all.extend((part.len() as u32).to_le_bytes());
            all.extend(part);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::filter::Filters;
    use clap::Parser as _;
    use protolog_reader::{Times, Trace};

    #[derive(clap::Parser)]
    struct Choice {
        #[command(flatten)]
        filters: Filters,
    }

    /// A message with a text of its own.
    fn message(number: u8) -> Vec<u8> {
        let text = [b'a' + number; 60];
        let string = [&[0x08, 1, 0x12, text.len() as u8][..], &text].concat();
        let strings = [&[0xa2, 0x02, string.len() as u8][..], &string].concat();
        let head = [0x40, number, 0x50, 1, 0x68, 1, 0x62, strings.len() as u8];
        let message = [0xc2, 0x06, 11, 9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x10, 1];
        let packet = [&head[..], &strings, &message].concat();
        [&[0x0a, packet.len() as u8][..], &packet].concat()
    }

    #[test]
    fn a_page_is_no_larger_than_its_sizes_and_offsets_can_be() {
        let trace: Vec<u8> = (1..4).flat_map(message).collect();
        let log = Trace::from_bytes(trace).read().unwrap();
        let choice = Choice::parse_from(["view"]);
        let filter = choice.filters.resolve(&log, &Times::utc(), 0).unwrap();
        let encode = |most| encode_within(&log, &filter, (&[], &[], Live::No), most);
        let all = encode(MOST_BYTES).unwrap();
        assert!(all.len() > 3 * 60);
        assert_eq!(encode(all.len() as u64).unwrap(), all);
        // Also where the texts alone are more.
        for most in [all.len() as u64 - 1, 150, 0] {
            assert_eq!(encode(most), Err(TooMuch::Bytes), "{most}");
        }
    }
}
