//! Numbers in place of entries: by what they have in common, by call site, over time.

use super::estimate::{self, Estimate, GroupLevel, Interval, Unseen};
use super::output_format::OutputFormat;
use super::{EntryForm, columns};
use crate::exit::Failure;
use crate::logs::filter::argument;
use protolog_reader::{
    Item, Level, Log, Message, Rate, TimeFormat, TimeWriter, printable, printable_json, shortened,
};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The most bars of a histogram.
const BARS: u64 = 40;
/// The nanoseconds of a year.
const YEAR: u64 = 365 * 86_400_000_000_000;
/// The length of the longest bar, in characters.
const BAR: u64 = 50;
/// The size up to which names and templates tell entries apart, in bytes: each entry has them.
const SHOWN: usize = 1024;

/// The property that entries are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CountBy {
    Level,
    Group,
    Tag,
    Template,
    Process,
    Thread,
    Location,
    /// The value of an argument, which an option of its own names
    #[value(skip)]
    Argument,
}

/// The counts of a log.
pub(crate) struct Counts {
    by: Option<CountBy>,
    /// The numbers are of all messages that were logged, as far as can be told of sampled ones.
    is_estimate: bool,
    counted: HashMap<String, Amount>,
    unseen: Unseen,
    /// Times of entries, for the histogram, and the messages that each stands for.
    times: Vec<(i64, f64)>,
    /// For estimates: the randomness of those that were kept together, by their place in `times`.
    together: HashMap<usize, u64>,
    /// One was kept together with others of which nobody knows which.
    lacks_value: bool,
    span: Option<(i64, i64)>,
}

#[derive(Clone, Default)]
struct Amount {
    entries: u64,
    bytes: u64,
    /// For estimates.
    kinds: BTreeSet<GroupLevel>,
    estimate: Estimate,
    estimate_of_bytes: Estimate,
}

/// The part of an entry that is counted.
pub(crate) struct Counted {
    key: String,
    bytes: u64,
    time: i64,
    kind: GroupLevel,
    /// The messages that it stands for.
    weight: f64,
    draw: Draw,
}

/// The chance by which a message was kept.
#[derive(Clone, Copy)]
enum Draw {
    /// One of its own, or none.
    Own,
    /// That of all messages of this randomness.
    Value(u64),
    /// That of other messages, of which nobody knows which.
    LostValue,
}

impl Counted {
    /// The bytes that it has in memory beside its own.
    pub(crate) fn held_bytes(&self) -> usize {
        self.key.capacity()
    }
}

impl Counts {
    /// Counts by something, or by call site, with bytes; entries, or estimates of all messages.
    pub(crate) fn new(by: Option<CountBy>, is_estimate: bool) -> Self {
        Self {
            by,
            is_estimate,
            counted: HashMap::new(),
            unseen: Unseen::default(),
            times: Vec::new(),
            together: HashMap::new(),
            lacks_value: false,
            span: None,
        }
    }

    /// An error if there is no estimate of what was counted.
    pub(crate) fn check(&self, log: &Log) -> Result<(), Failure> {
        if !self.is_estimate {
            return Ok(());
        }
        if self.lacks_value {
            let failure = Failure::new(
                "no estimate: of a message that was kept by the value of an argument, that value is lost",
            );
            return Err(failure.help("count what is there, without `--estimate`"));
        }
        estimate::check(log, &self.unseen)
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, counted: Counted) {
        let Counted { key, bytes, time, kind, weight, draw } = counted;
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
        self.times.push((time, weight));
        let amount = self.counted.entry(key).or_default();
        amount.entries += 1;
        amount.bytes += bytes;
        if self.is_estimate {
            if weight > 1.0 {
                let is_own = matches!(draw, Draw::Own);
                self.unseen.note(kind, if is_own { weight } else { f64::INFINITY });
            }
            self.lacks_value |= matches!(draw, Draw::LostValue);
            let together = match draw {
                Draw::Value(randomness) => Some(randomness),
                Draw::Own | Draw::LostValue => None,
            };
            if let Some(randomness) = together {
                self.together.insert(self.times.len() - 1, randomness);
            }
            amount.kinds.insert(kind);
            amount.estimate.add(1.0, weight, together);
            amount.estimate_of_bytes.add(bytes as f64, weight, together);
        }
    }

    /// The part of an item that is counted; losses have no place in a table of entries, and are
    /// reported as everywhere.
    ///
    /// An entry without the argument that is asked for has no place, either.
    pub(crate) fn of(form: &EntryForm, log: &Log, item: &Item<'_>) -> Option<Counted> {
        let Item::Entry(entry) = item else { return None };
        // But for an argument, nothing here is of an entry's values, which take longer than all the
        // rest.
        let (message, thread) = (entry.message(), entry.thread());
        let template = || template(message, || entry.message_id());
        let process = || {
            let pid = thread.pid.map_or("?".to_owned(), |pid| pid.to_string());
            entry.process_name().map_or(pid.clone(), |name| format!("{} {pid}", short(name)))
        };
        let key = match form.counted_by() {
            Some(CountBy::Level) => message
                .and_then(|message| message.level)
                .map_or("?".to_owned(), |it| it.name().to_owned()),
            Some(CountBy::Group) => group(log, message).0,
            Some(CountBy::Tag) => group(log, message).1,
            Some(CountBy::Template) => template(),
            Some(CountBy::Process) => process(),
            Some(CountBy::Thread) => {
                let tid = thread.tid.map_or("?".to_owned(), |tid| tid.to_string());
                thread.name.as_ref().map_or(tid.clone(), |name| format!("{} {tid}", short(name)))
            }
            Some(CountBy::Location) => location(message),
            Some(CountBy::Argument) => {
                let value = argument::value(&entry.values(), form.count_by_arg.as_deref()?)?;
                short(&columns::value_text(value))
            }
            None => {
                let level = message.and_then(|message| message.level).map_or('?', Level::letter);
                let (group, _) = group(log, message);
                format!("{level} {group}: {}  ({})", template(), location(message))
            }
        };
        let rate = entry.rate();
        let weight = rate.map_or(1.0, Rate::weight);
        let draw = match rate.and_then(Rate::by) {
            None => Draw::Own,
            Some(_) => entry.randomness().map_or(Draw::LostValue, Draw::Value),
        };
        // By what a program samples bytes by.
        let bytes = if form.estimate { entry.volume() } else { entry.encoded_size() as u64 };
        let time = entry.time();
        let kind = message.map_or((None, None), |message| (Some(message.group), message.level));
        Some(Counted { key, bytes, time, kind, weight, draw })
    }

    /// The number of all entries.
    pub(crate) fn total(&self, form: OutputFormat) -> String {
        let entries = self.times.len();
        match form {
            OutputFormat::Text => format!("{entries}\n"),
            OutputFormat::Json => format!("{}\n", json!({"entries": entries})),
            _ => {
                let cells = [("entries", entries.to_string())];
                head(form, "entries\r\n") + &columns::table_line(form, &cells)
            }
        }
    }

    /// The number of all messages that were logged: exact, or an estimate of those that the filter
    /// admits.
    fn estimated_total(&self, log: &Log) -> Interval {
        let exact = estimate::exact_total(log, self.times.len() as u64).map(Interval::exact);
        exact.unwrap_or_else(|| {
            let mut sum = Estimate::default();
            for (index, (_, weight)) in self.times.iter().enumerate() {
                sum.add(1.0, *weight, self.together.get(&index).copied());
            }
            let is_one = |kind| self.counted.values().any(|amount| amount.has(kind));
            sum.interval_with(|| self.unseen.most(log, is_one))
        })
    }

    /// The most messages of a line that may have been logged beside those that are there.
    fn unseen(&self, log: &Log, key: &str, amount: &Amount) -> f64 {
        let name = |(id, _): GroupLevel| log.dictionary().group(id?);
        self.unseen.most(log, |kind| match self.by {
            Some(CountBy::Level) => kind.1.is_some_and(|level| level.name() == key),
            Some(CountBy::Group) => name(kind).is_some_and(|group| short(&group.name) == key),
            Some(CountBy::Tag) => name(kind).is_some_and(|group| short(&group.tag) == key),
            Some(CountBy::Process | CountBy::Thread | CountBy::Argument) => true,
            Some(CountBy::Template | CountBy::Location) | None => amount.has(kind),
        })
    }

    /// As [`Self::total`], of all messages that were logged.
    pub(crate) fn total_estimate(&self, log: &Log, form: OutputFormat) -> String {
        let total = self.estimated_total(log);
        match form {
            OutputFormat::Text => format!("{}\n", total.text()),
            OutputFormat::Json => format!("{}\n", total.json()),
            _ => head(form, "estimate,low,high\r\n") + &columns::table_line(form, &total.cells()),
        }
    }

    /// As [`Self::table`], of all messages that were logged, with the total of all lines at the
    /// end.
    pub(crate) fn estimates(&self, log: &Log, most: usize, form: OutputFormat) -> String {
        let (by_bytes, total) = (self.by.is_none(), self.estimated_total(log));
        let mut lines: Vec<_> = self.counted.iter().collect();
        let sum = |of: &Amount| {
            if by_bytes { of.estimate_of_bytes.sum() } else { of.estimate.sum() }
        };
        lines
            .sort_by(|(one, a), (other, b)| sum(b).total_cmp(&sum(a)).then_with(|| one.cmp(other)));
        let names = "key,estimate,low,high,bytes,low_bytes,high_bytes,entries\r\n";
        let mut out = head(form, names);
        let rest = lines.split_off(lines.len().min(most));
        for (key, amount) in lines {
            let Amount { entries, estimate, estimate_of_bytes, .. } = amount;
            let unseen = || self.unseen(log, key, amount);
            let count = estimate.interval_with(unseen);
            // Each as long as those that are there.
            let mean = amount.bytes as f64 / (*entries).max(1) as f64;
            let bytes = estimate_of_bytes.interval_with(|| unseen() * mean);
            let line = if form == OutputFormat::Json {
                let mut line = json!({"key": key, "entries": entries, "bytes": bytes.json()});
                if let (Value::Object(line), Value::Object(count)) = (&mut line, count.json()) {
                    line.extend(count);
                }
                writeln!(out, "{}", printable_json(&line.to_string()))
            } else if form != OutputFormat::Text {
                let mut cells = vec![("key", (*key).clone())];
                cells.extend(count.cells());
                let names = ["bytes", "low_bytes", "high_bytes"].into_iter();
                cells.extend(names.zip(bytes.cells().map(|(_, cell)| cell)));
                cells.push(("entries", entries.to_string()));
                out.push_str(&columns::table_line(form, &cells));
                Ok(())
            } else if by_bytes {
                let (bytes, count) = (bytes.text(), count.text());
                writeln!(out, "{bytes} bytes {count} messages  {}", printable(key))
            } else {
                writeln!(out, "{}  {}", count.text(), printable(key))
            };
            line.expect("a string takes every write");
        }
        if form == OutputFormat::Text {
            let more = rest.len();
            let more = if more > 0 { format!(", with {more} more lines") } else { String::new() };
            let _ = writeln!(out, "{}  in all{more}", total.text());
        }
        out
    }

    /// The table, the greatest amount first; with `by_bytes` of bytes, else of entries.
    pub(crate) fn table(self, most: usize, form: OutputFormat) -> String {
        let by_bytes = self.by.is_none();
        let seconds = self.span.map_or(0.0, |(first, last)| last.abs_diff(first) as f64 / 1e9);
        let mut lines: Vec<(String, Amount)> = self.counted.into_iter().collect();
        let amount = |amount: &Amount| if by_bytes { amount.bytes } else { amount.entries };
        lines
            .sort_by(|(one, a), (other, b)| amount(b).cmp(&amount(a)).then_with(|| one.cmp(other)));
        let mut out = head(form, "key,entries,bytes\r\n");
        let rest = lines.split_off(lines.len().min(most));
        for (key, Amount { entries, bytes, .. }) in &lines {
            let line = if form == OutputFormat::Json {
                let line: Value = json!({"key": key, "entries": entries, "bytes": bytes});
                writeln!(out, "{}", printable_json(&line.to_string()))
            } else if form != OutputFormat::Text {
                let [entries, bytes] = [entries, bytes].map(u64::to_string);
                let cells = [("key", key.clone()), ("entries", entries), ("bytes", bytes)];
                out.push_str(&columns::table_line(form, &cells));
                Ok(())
            } else if by_bytes {
                let rate = if seconds > 0.0 { *entries as f64 / seconds } else { 0.0 };
                writeln!(
                    out,
                    "{bytes:>12} bytes {entries:>10} entries {rate:>10.1}/s  {}",
                    printable(key)
                )
            } else {
                writeln!(out, "{entries:>10}  {}", printable(key))
            };
            line.expect("a string takes every write");
        }
        if !rest.is_empty() && form == OutputFormat::Text {
            let entries: u64 = rest.iter().map(|(_, amount)| amount.entries).sum();
            let _ = writeln!(out, "and {} more, with {entries} entries", rest.len());
        }
        out
    }

    /// Bars of the number of entries over time; times have a form that tells the bars apart, unless
    /// there is one.
    pub(crate) fn histogram(
        self,
        log: &Log,
        times: TimeWriter,
        format: Option<TimeFormat>,
        form: OutputFormat,
    ) -> String {
        let names =
            if self.is_estimate { "ts,ns,estimate,low,high\r\n" } else { "ts,ns,entries\r\n" };
        let mut out = head(form, names);
        let Some((first, last)) = self.span else { return out };
        // A time may be any number: sums of two need not be one.
        let step = round_step(last.abs_diff(first) / BARS + 1);
        let wide = i128::from(step);
        let start = i128::from(first).div_euclid(wide) * wide;
        let bar_of = |time: i64| ((i128::from(time) - start) / wide) as usize;
        let usual = match step {
            // The other forms have no year.
            _ if last.abs_diff(first) >= YEAR => TimeFormat::Iso,
            ..1000 => TimeFormat::Nanos,
            1000..1_000_000 => TimeFormat::Micros,
            _ => TimeFormat::Millis,
        };
        let mut times = times.with_format(format.unwrap_or(usual));
        let mut bars = vec![Estimate::default(); bar_of(last) + 1];
        for (index, (time, weight)) in self.times.into_iter().enumerate() {
            let together = self.together.get(&index).copied();
            bars[bar_of(time)].add(1.0, if self.is_estimate { weight } else { 1.0 }, together);
        }
        let most_unseen = if self.is_estimate { self.unseen.most(log, |_| true) } else { 0.0 };
        let bars = bars.into_iter().map(|bar| bar.interval_with(|| most_unseen));
        let bars: Vec<Interval> = bars.collect();
        let highest = bars.iter().map(|bar| bar.estimate).max().unwrap_or(1).max(1);
        for (index, interval) in bars.into_iter().enumerate() {
            let count = interval.estimate;
            let begin = start + index as i128 * wide;
            let begin = i64::try_from(begin).unwrap_or(i64::MIN);
            let line = if form == OutputFormat::Json {
                let mut line = json!({"ts": begin, "ns": step});
                let count =
                    if self.is_estimate { interval.json() } else { json!({"entries": count}) };
                if let (Value::Object(line), Value::Object(count)) = (&mut line, count) {
                    line.extend(count);
                }
                writeln!(out, "{line}")
            } else if form != OutputFormat::Text {
                let mut cells = vec![("ts", begin.to_string()), ("ns", step.to_string())];
                if self.is_estimate {
                    cells.extend(interval.cells());
                } else {
                    cells.push(("entries", count.to_string()));
                }
                out.push_str(&columns::table_line(form, &cells));
                Ok(())
            } else {
                let mut time = String::new();
                let _ = times.write(log, begin, &mut time);
                let bar = "█".repeat((count * BAR).div_ceil(highest) as usize);
                if self.is_estimate {
                    writeln!(out, "{time} {} {bar}", interval.text())
                } else {
                    writeln!(out, "{time} {count:>9} {bar}")
                }
            };
            line.expect("a string takes every write");
        }
        out
    }
}

impl Amount {
    /// True if it has messages of this kind, or of one that is not known.
    fn has(&self, kind: GroupLevel) -> bool {
        self.kinds.contains(&kind) || self.kinds.iter().any(|(group, _)| group.is_none())
    }
}

/// The head of a table in CSV; other forms have none.
fn head(form: OutputFormat, names: &str) -> String {
    if form == OutputFormat::Csv { names.to_owned() } else { String::new() }
}

/// Name and tag of the group.
fn group(log: &Log, message: Option<&Message>) -> (String, String) {
    let group = message.and_then(|message| log.dictionary().group(message.group));
    let known = group.map(|group| (short(&group.name), short(&group.tag)));
    known.unwrap_or_else(|| ("?".to_owned(), "?".to_owned()))
}

/// The template, told from others by its id where there is none or it is long.
fn template(message: Option<&Message>, id: impl FnOnce() -> u64) -> String {
    match message.map(Message::template) {
        Some(template) if template.len() > SHOWN => format!("{} #{:016x}", short(template), id()),
        Some(template) => template.to_owned(),
        None => format!("#{:016x}", id()),
    }
}

fn location(message: Option<&Message>) -> String {
    let known = message.map(|message| short(&message.location));
    known.filter(|location| !location.is_empty()).unwrap_or_else(|| "?".to_owned())
}

fn short(text: &str) -> String {
    shortened(text, SHOWN).into_owned()
}

/// The next of 1, 2, 5, 10, 20, … nanoseconds.
fn round_step(least: u64) -> u64 {
    let mut step = 1_u64;
    for factor in [2, 5, 10].into_iter().cycle() {
        if step >= least {
            break;
        }
        let power = 10_u64.pow(step.ilog10());
        step = power.saturating_mul(factor);
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 2, 3, 6, 11, 1_500_000].map(round_step), [1, 2, 5, 10, 20, 2_000_000]);
    }
}
