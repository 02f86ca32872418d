//! The messages that others repeat, which are only counted.
//!
//! A record of repeats has the id of the message. It is the last one of its thread with this id
//! before the first repeat, less than a second earlier. In a log that is read page by page it may
//! be in a page before: then its text is kept while pages turn. If it is not in the trace at all,
//! the template stands for it.

use std::collections::BTreeMap;

use crate::decode::collect::MessageRecord;
use crate::log::Log;
use crate::log::entry::Entry;
use crate::log::render::Rendering;
use crate::losses::loss::Loss;

/// The longest time between a message and the first of its repeats, in nanoseconds: a writer counts
/// them for a second, and its clocks may differ by as much.
const MAX_AGE: i64 = 2_000_000_000;

/// Texts of messages that repeats on later pages may be of, by thread and id, with their times.
pub(crate) type EarlierTexts = BTreeMap<(u32, u64), (i64, String)>;

impl Log {
    /// The message that those of a loss repeat, if it is in the log, or in the same page.
    pub fn repeated(&self, loss: &Loss) -> Option<Entry<'_>> {
        let (id, from) = (loss.message?, loss.from.unwrap_or(loss.time));
        let records = self.records();
        let end = records.partition_point(|record| record.moment.ns <= from);
        let near = |record: &&MessageRecord| from.saturating_sub(record.moment.ns) <= MAX_AGE;
        let before = records.get(..end).unwrap_or_default().iter().rev().take_while(near);
        let of_thread = before.filter(|record| record.thread == loss.thread);
        of_thread.map(|record| Entry::new(self, record)).find(|entry| entry.message_id() == id)
    }

    /// The text of the message that those of a loss repeat: its template, if its arguments are not
    /// known. None of other losses.
    pub fn repeated_text(&self, loss: &Loss) -> Option<String> {
        let id = loss.message?;
        if let Some(entry) = self.repeated(loss) {
            return Some(entry.values().text(Rendering::Full));
        }
        let from = loss.from.unwrap_or(loss.time);
        let earlier = self.earlier_texts().get(&(loss.thread, id));
        let near = earlier.filter(|(time, _)| from.saturating_sub(*time) <= MAX_AGE);
        near.map(|(_, text)| text.clone())
            .or_else(|| self.dictionary().message(id).map(|it| it.template().to_string()))
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
        let mut texts = EarlierTexts::new();
        let end = self.records().last().map_or(i64::MIN, |record| record.moment.ns);
        let is_near = |loss: &&Loss| loss.from.unwrap_or(loss.time).saturating_sub(end) <= MAX_AGE;
        for loss in ahead.iter().filter(|loss| loss.message.is_some()).take_while(is_near) {
            let Some(id) = loss.message else { continue };
            let key = (loss.thread, id);
            if texts.contains_key(&key) {
                continue;
            }
            let at_end = Loss { from: Some(end), ..*loss };
            if let Some(entry) = self.repeated(&at_end) {
                texts.insert(key, (entry.time(), entry.values().text(Rendering::Full)));
            } else if let Some(known) = self.earlier_texts().get(&key) {
                texts.insert(key, known.clone());
            }
        }
        texts
    }
}
