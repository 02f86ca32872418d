//! The budget of the texts that messages name: interned texts and templates stand in a trace once,
//! and a message names each in a few bytes, as often as it likes.
//!
//! A long text that does not fit is left out where it is named: its place in the message has a
//! mark. Short ones always stand, since to name them takes a good part of their size.
//!
//! Invariant: the long texts of all messages are no more than the limit, and of one message those
//! that it repeats are no more than [`REPEATED`].

use super::{CUT_STRING, CUT_TEMPLATE, Collected, NO_STRING};
use crate::damage::limits::Limits;
use crate::decode::value_fit::SHORT;
use crate::dictionary::Dictionary;
use crate::losses::stats::Stats;

/// The size of long texts in one message, of which some are the same, in bytes.
const REPEATED: u64 = 1 << 20;

/// Texts of a message that are compared with each other; all others count as repeated.
const COMPARED: usize = 64;

/// The bytes of long texts that messages may still name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextBudget(u64);

impl Default for TextBudget {
    fn default() -> Self {
        Self::new(&Limits::default())
    }
}

impl TextBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(limits.named_texts)
    }

    /// Adds room, as a trace grows.
    pub(crate) fn grow(&mut self, before: &Limits, now: &Limits) {
        self.0 = self.0.saturating_add(now.named_texts.saturating_sub(before.named_texts));
    }

    /// Takes a text. False if it does not fit.
    pub(crate) fn take(&mut self, size: usize) -> bool {
        if size <= SHORT {
            return true;
        }
        let rest = self.0.checked_sub(size as u64);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

impl Collected {
    /// Takes the texts of the message whose strings begin with this one from the budget. Returns
    /// its stack trace.
    #[inline]
    pub(super) fn take_texts(&mut self, first: usize, stack_trace: u32) -> u32 {
        let refs = self.string_refs.get(first..).unwrap_or_default();
        let long = |index: u32| match self.strings.get(index as usize) {
            Some(span) if span.len as usize > SHORT => u64::from(span.len),
            _ => 0,
        };
        let texts = refs.iter().map(|index| long(*index)).sum::<u64>();
        if texts == 0 && stack_trace == NO_STRING {
            return stack_trace;
        }
        let size = texts + long(stack_trace);
        if size <= REPEATED.min(self.texts.0) {
            self.texts.0 -= size;
            return stack_trace;
        }
        self.cut_texts(first, stack_trace)
    }

    #[cold]
    fn cut_texts(&mut self, first: usize, stack_trace: u32) -> u32 {
        let Self { string_refs, strings, texts, stats, .. } = self;
        let (refs, mut taken) = (&mut string_refs[first..], 0);
        let mut take = |index: u32, is_repeated: bool| {
            let size = strings.get(index as usize).map_or(0, |span| span.len as usize);
            let has_room = size <= SHORT || !is_repeated || taken + size as u64 <= REPEATED;
            let fits = has_room && texts.take(size);
            taken += if fits && size > SHORT { size as u64 } else { 0 };
            stats.cut_texts += u64::from(!fits);
            if fits { index } else { CUT_STRING }
        };
        for at in 0..refs.len() {
            let is_repeated = at >= COMPARED || refs[..at].contains(&refs[at]);
            refs[at] = take(refs[at], is_repeated);
        }
        take(stack_trace, false)
    }

    /// Takes the templates of entries from the budget, with a whole dictionary.
    pub(crate) fn take_templates(&mut self, ids: &[u64]) {
        let Self { dictionary, texts, stats, records, .. } = self;
        for (record, id) in records.iter_mut().zip(ids) {
            record.stack_trace = take_template(dictionary, *id, record.stack_trace, (texts, stats));
        }
    }
}

/// Takes the template of a message from the budget. Returns the text in place of its stack trace.
pub(super) fn take_template(
    dictionary: &Dictionary,
    id: u64,
    stack_trace: u32,
    (texts, stats): (&mut TextBudget, &mut Stats),
) -> u32 {
    let first = dictionary.message(id);
    let all = first.into_iter().chain(dictionary.others(id));
    let size = all.map(|message| message.template().len()).max();
    if size.is_none_or(|size| texts.take(size)) {
        return stack_trace;
    }
    stats.cut_texts += 1;
    CUT_TEMPLATE
}
