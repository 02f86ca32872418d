//! The messages that others repeat, which are only counted.
//!
//! A record of repeats has the id of the message. It is the last one of its thread with this id
//! before the first repeat, less than a second earlier. In a log that is read page by page it may
//! be in a page before: then its text is kept while pages turn. If it is not in the trace at all,
//! the template stands for it.
//!
//! Invariant: a trace may have any number of such records, of any text. Each is found without a
//! look at all messages, and has the beginning of a long text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::decode::collect::MessageRecord;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::render::{self, Rendering};
use crate::log::values::{CUT_TEXT, Values, beginning, shortened};
use crate::losses::loss::Loss;

/// The longest time between a message and the first of its repeats, in nanoseconds: a writer counts
/// them for a second, and its clocks may differ by as much.
const MAX_AGE: i64 = 2_000_000_000;

/// The most bytes of a text that repeats are shown with.
const MAX_TEXT: usize = 1024;

/// Texts of messages that repeats on later pages may be of, by thread and id, with their times.
pub(crate) type EarlierTexts = BTreeMap<(u32, u64), (i64, String)>;

/// The records of messages that a log's repeats may be of, by thread and id, in order.
pub(crate) type RepeatedRecords = HashMap<(u32, u64), Vec<u32>>;

impl Log {
    /// The message that those of a loss repeat, if it is in the log, or in the same page.
    pub fn repeated(&self, loss: &Loss) -> Option<Entry<'_>> {
        let (id, from) = (loss.message?, loss.from.unwrap_or(loss.time));
        let records = self.repeated_records.get_or_init(|| self.find_repeated());
        let of_message = records.get(&(loss.thread, id))?;
        let record = |index: &u32| self.records().get(*index as usize);
        let end = of_message
            .partition_point(|index| record(index).is_some_and(|it| it.moment.ns <= from));
        let last = record(of_message.get(end.checked_sub(1)?)?)?;
        is_near(last, from).then(|| Entry::new(self, last))
    }

    /// The records that the repeats of this log may be of.
    fn find_repeated(&self) -> RepeatedRecords {
        let keys = self.losses().iter().filter_map(|loss| Some((loss.thread, loss.message?)));
        let mut found: RepeatedRecords = keys.map(|key| (key, Vec::new())).collect();
        if !found.is_empty() {
            for (record, index) in self.records().iter().zip(0..) {
                let key = (record.thread, Entry::new(self, record).message_id());
                if let Some(of_message) = found.get_mut(&key) {
                    of_message.push(index);
                }
            }
        }
        found
    }

    /// The text of the message that those of a loss repeat: its template, if its arguments are not
    /// known. Of a long one the beginning. None of other losses.
    pub fn repeated_text(&self, loss: &Loss) -> Option<String> {
        let id = loss.message?;
        if let Some(entry) = self.repeated(loss) {
            return Some(short_text(&entry.values()));
        }
        let from = loss.from.unwrap_or(loss.time);
        let earlier = self.earlier_texts().get(&(loss.thread, id));
        let near = earlier.filter(|(time, _)| from.saturating_sub(*time) <= MAX_AGE);
        near.map(|(_, text)| text.clone())
            .or_else(|| Some(shortened(self.dictionary().message(id)?.template(), MAX_TEXT).into()))
    }

    /// A loss in words, as in `3 messages of demo::AppLog::Net: the buffer was full`, or `repeated
    /// 4711 times: no answer from 10.0.0.7`.
    pub fn describe(&self, loss: &Loss) -> String {
        let (Some(text), Some(count)) = (self.repeated_text(loss), loss.count) else {
            return loss.describe(self.dictionary());
        };
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        format!("repeated {times}: {text}")
    }

    /// The last messages of this page that repeats of later ones may be of: `ahead` are the losses
    /// of those.
    pub(crate) fn texts_for(&self, ahead: &[Loss]) -> EarlierTexts {
        let end = self.records().last().map_or(i64::MIN, |record| record.moment.ns);
        let is_soon = |loss: &&Loss| loss.from.unwrap_or(loss.time).saturating_sub(end) <= MAX_AGE;
        let ahead = ahead.iter().filter(|loss| loss.message.is_some()).take_while(is_soon);
        let mut wanted: BTreeSet<(u32, u64)> =
            ahead.filter_map(|loss| Some((loss.thread, loss.message?))).collect();
        let mut texts = EarlierTexts::new();
        for record in self.records().iter().rev().take_while(|record| is_near(record, end)) {
            if wanted.is_empty() {
                break;
            }
            let entry = Entry::new(self, record);
            let key = (record.thread, entry.message_id());
            if wanted.remove(&key) {
                texts.insert(key, (entry.time(), short_text(&entry.values())));
            }
        }
        let earlier = |key| Some((key, self.earlier_texts().get(&key)?.clone()));
        texts.extend(wanted.into_iter().filter_map(earlier));
        texts
    }
}

/// Returns whether repeats from a time on may be of a message before.
fn is_near(record: &MessageRecord, from: i64) -> bool {
    from.saturating_sub(record.moment.ns) <= MAX_AGE
}

/// The text, or its beginning, without making more of it.
fn short_text(values: &Values<'_>) -> String {
    let mut text = ShortText::default();
    // It takes no more where it is full.
    let _ = render::write(&mut text, Rendering::Full, values);
    text.0
}

/// See [`short_text`].
#[derive(Default)]
struct ShortText(String);

impl fmt::Write for ShortText {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = MAX_TEXT.saturating_sub(self.0.len());
        if piece.len() <= room {
            self.0.push_str(piece);
            return Ok(());
        }
        self.0.push_str(beginning(piece, room));
        self.0.push_str(CUT_TEXT);
        Err(fmt::Error)
    }
}
