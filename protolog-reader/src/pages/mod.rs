//! A trace page by page: its entries in the order of time, without all of it in memory.
//!
//! A survey goes over the trace first. It collects the dictionary, the threads, the relations of
//! clocks and the losses, and of each segment of about 64 KiB the times of its entries. So it is
//! known how far each page may go: up to the first entry of all segments that follow. Later entries
//! are held back for the next page. A segment also says where the state of its sequences was set
//! up, so that reading can begin in the middle.
//!
//! Segments are read by time, as far as their sequences allow
//! ([`segment_order`](crate::decode::segment_order)).
//!
//! Traces that are damaged or of several clocks are read whole, by [`Trace`](crate::Trace): see
//! [`Pages::survey`].
//!
//! Spans are all collected by the survey, since one may end in any later page; of their begins and
//! ends, a page has those of its time.
//!
//! A thread of its own may read the next page while one is shown ([`read_ahead`]); the dictionary
//! and the threads are shared.
//!
//! Invariants: the items of all pages are those of the whole trace, in the same order, but that a
//! run of malformed packets is a loss of each page that it is in. Memory is at most a constant
//! factor times the bytes of a page, of the entries that are held back, of the strings and states
//! of sequences, and of the losses.

pub(crate) mod page_options;
pub(crate) mod read_ahead;
pub(crate) mod survey;

use std::io;
use std::thread;

use crate::bytes::source::ByteSource;
use crate::clocks::TRACE_CLOCK;
use crate::decode::collect::{Collected, MessageRecord};
use crate::decode::compact;
use crate::decode::decoder::Decoder;
use crate::decode::entry_choice::Choice;
use crate::decode::record_order;
use crate::decode::segment::Segment;
use crate::log::Log;
use crate::log::completed_stats;
use crate::losses::loss::{Loss, LossReason};
use crate::losses::stats::{EndReason, Stats};
use crate::pages::page_options::PageOptions;
use crate::pages::read_ahead::{Page, ReadAhead, ReadPages};
use crate::pages::survey::survey;
use crate::sequences::thread::Thread;

/// A log page by page.
#[derive(Debug)]
pub struct Pages {
    log: Log,
    /// None for a log that is whole, and one page.
    rest: Option<Box<Unread>>,
    has_begun: bool,
}

/// The pages that follow, and what is said at the end.
#[derive(Debug)]
struct Unread {
    reader: PageReader,
    /// All losses, by time.
    losses: Vec<Loss>,
    /// Statistics of the survey, and of the entries so far.
    surveyed: Stats,
    read: Stats,
    /// A page that nobody needs any more.
    used: Collected,
}

/// The part of a trace that follows the pages so far.
#[derive(Debug)]
enum PageReader {
    /// Read when it is asked for.
    Here(Box<Remainder>),
    /// Read ahead, with the time before which none of it is.
    Ahead(ReadAhead, Option<i64>),
    Done,
}

/// The part of a trace that follows the pages so far.
#[derive(Debug)]
struct Remainder {
    source: Box<dyn ByteSource>,
    decoder: Decoder,
    segments: Vec<Segment>,
    /// For each segment, the first entry of it and of those after it.
    first: Vec<i64>,
    /// The segment that is next.
    next: usize,
    /// The first segment of which entries are wanted; of those before it, only the state of
    /// sequences.
    wanted: usize,
    /// Losses by time, and the number of those that were in pages.
    losses: Vec<Loss>,
    shown_losses: usize,
    /// Losses that only the entries have told of, and that are too late for the page.
    found: Vec<Loss>,
    /// The least size of segments of a page, in bytes.
    page: usize,
}

impl Pages {
    /// A log of one page.
    pub fn of(log: Log) -> Self {
        Self { log, rest: None, has_begun: false }
    }

    /// Surveys a trace. None if it is to be read whole, by [`Trace`](crate::Trace): it is damaged,
    /// empty or no trace at all, is compressed as a whole, its entries are of other clocks than the
    /// trace, or the first ones have no time.
    ///
    /// `find` supplies dictionaries that the trace names by their hash and that are not among
    /// `dictionaries`.
    ///
    /// # Errors
    ///
    /// If the trace can't be read.
    pub fn survey(
        source: impl ByteSource + 'static,
        dictionaries: &[viewer_config::Dictionary],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
    ) -> io::Result<Option<Self>> {
        Self::survey_with(source, dictionaries, find, &PageOptions::default())
    }

    /// As [`survey`](Self::survey), with other sizes of segments and pages, and with spans or
    /// without.
    #[doc(hidden)]
    pub fn survey_by(
        source: impl ByteSource + 'static,
        dictionaries: &[viewer_config::Dictionary],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
        (segment, page, has_slices): (usize, usize, bool),
    ) -> io::Result<Option<Self>> {
        let options = PageOptions { has_slices, sizes: (segment, page), ..PageOptions::default() };
        Self::survey_with(source, dictionaries, find, &options)
    }

    /// As [`survey`](Self::survey), with options.
    ///
    /// # Errors
    ///
    /// As [`survey`](Self::survey).
    pub fn survey_with(
        source: impl ByteSource + 'static,
        dictionaries: &[viewer_config::Dictionary],
        find: impl FnMut(u64) -> Option<viewer_config::Dictionary>,
        options: &PageOptions,
    ) -> io::Result<Option<Self>> {
        let mut decoder = options.decoder(source.size());
        let (segment, page) = options.sizes;
        let Some(segments) = survey(&source, &mut decoder, segment)? else { return Ok(None) };
        let mut collected = decoder.take();
        let is_damaged =
            collected.losses.0.iter().any(|it| it.loss.reason == LossReason::Malformed);
        let stats = &collected.stats;
        let trace_clock = collected.relations.trace_clock();
        let is_of_other_clock =
            |it: &Segment| it.has_several_clocks || ![trace_clock, TRACE_CLOCK].contains(&it.clock);
        if is_damaged
            || stats.damaged_bytes + stats.skipped_bytes > 0
            || !collected.has_framed_packets()
            || segments.iter().any(|it| is_of_other_clock(it) || it.has_unknown_times)
        {
            return Ok(None);
        }
        options.add_sizes(source.size(), &mut collected.stats);
        collected.stats.unended = collected.sessions.unended();
        let relations = collected.relations.clone();
        let mut log = Log::new(collected, dictionaries, find);
        completed_stats::complete_stats(&mut log);
        log.stats_mut().entries = segments.iter().map(|segment| segment.entries).sum();
        log.begin_pages(segments.iter().filter_map(|segment| segment.span));
        let mut first: Vec<i64> = segments
            .iter()
            .rev()
            .scan(i64::MAX, |least, segment| {
                *least = segment.span.map_or(*least, |(first, _)| first.min(*least));
                Some(*least)
            })
            .collect();
        first.reverse();
        let mut decoder = decoder.again();
        // All pages share the contents of the whole trace.
        let mut shared = log.collected_mut().take_page(Collected::default());
        log.collected_mut().stats = shared.stats.clone();
        shared.relations = relations;
        shared.begin_entries();
        shared.texts = log.collected_mut().texts;
        decoder.put_back(shared);
        let surveyed = log.stats().clone();
        let rest = Remainder {
            source: Box::new(source),
            decoder,
            segments,
            first,
            next: 0,
            wanted: 0,
            losses: log.losses().to_vec(),
            shown_losses: 0,
            found: Vec::new(),
            page,
        };
        let rest = Unread {
            reader: PageReader::Here(Box::new(rest)),
            losses: log.losses().to_vec(),
            surveyed,
            read: Stats::default(),
            used: Collected::default(),
        };
        Ok(Some(Self { log, rest: Some(Box::new(rest)), has_begun: false }))
    }

    /// The log: before the first page and after the last one all but its entries, and in between
    /// that of the page. The dictionary, the threads and the clocks are always those of the whole
    /// trace.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The log, for changes to it.
    pub fn log_mut(&mut self) -> &mut Log {
        &mut self.log
    }

    /// Goes on to the next page. False if there is none: [`log`](Self::log) has the statistics of
    /// all then.
    ///
    /// # Errors
    ///
    /// If the trace can't be read any more.
    pub fn next_page(&mut self) -> io::Result<bool> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let Some(rest) = &mut self.rest else { return Ok(is_first) };
        let page = match &mut rest.reader {
            PageReader::Here(reader) if reader.is_done() => None,
            PageReader::Here(reader) => Some(reader.read(std::mem::take(&mut rest.used))),
            PageReader::Ahead(reader, _) => reader.next(),
            PageReader::Done => None,
        };
        let Some(page) = page else {
            self.skip_rest();
            return Ok(false);
        };
        let Page { collected, losses, limit, next_time, is_last } = page?;
        let used = self.log.turn_page(collected, losses, limit);
        completed_stats::complete_page_stats(&mut self.log);
        rest.read.add_page(self.log.stats());
        match &mut rest.reader {
            PageReader::Ahead(..) if is_last => rest.reader = PageReader::Done,
            PageReader::Ahead(reader, time) => {
                reader.give_back(used);
                *time = next_time;
            }
            PageReader::Here(_) | PageReader::Done => rest.used = used,
        }
        Ok(true)
    }

    /// Reads pages ahead from now on, by a thread of its own, if the machine has another core. To
    /// be called after [`skip_to`](Self::skip_to) and [`skip_to_last`](Self::skip_to_last).
    pub fn read_ahead(&mut self) {
        let has_cores = thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let next_time = self.next_time();
        let Some(rest) = self.rest.as_mut().filter(|_| has_cores) else { return };
        rest.reader = match std::mem::replace(&mut rest.reader, PageReader::Done) {
            PageReader::Here(reader) if !reader.is_done() => match ReadAhead::start(reader) {
                Ok(ahead) => PageReader::Ahead(ahead, next_time),
                Err(reader) => PageReader::Here(reader),
            },
            other => other,
        };
    }

    /// Leaves out all that follows.
    pub fn skip_rest(&mut self) {
        self.has_begun = true;
        if let Some(rest) = self.rest.take() {
            rest.finish(&mut self.log);
        }
    }

    /// Leaves out entries that are certain to be before `time`, in nanoseconds of the trace's
    /// clock. Before the first page only.
    pub fn skip_to(&mut self, time: i64) {
        if let Some(PageReader::Here(rest)) = self.rest.as_mut().map(|rest| &mut rest.reader) {
            let is_after = |segment: &Segment| segment.span.is_some_and(|(_, last)| last >= time);
            let first = rest.segments.iter().position(is_after);
            // Spans may follow the last entry, and are in the last page.
            let is_needed = usize::from(!self.log.slices().is_empty());
            rest.begin_at(first.unwrap_or(rest.segments.len().saturating_sub(is_needed)));
            self.log.skip_edges(time);
        }
    }

    /// Leaves out entries before `since` and from `until` on, in nanoseconds of the trace's clock,
    /// and those of threads that `admits` refuses: before their values are looked at, so that the
    /// statistics of values are of the others. Losses and spans stay, and so do the entries of a
    /// log that is whole. Before the first page only.
    pub fn choose(
        &mut self,
        since: Option<i64>,
        until: Option<i64>,
        admits: impl Fn(&Thread) -> bool,
    ) {
        if let Some(PageReader::Here(rest)) = self.rest.as_mut().map(|rest| &mut rest.reader) {
            let collected = rest.decoder.collected_mut();
            collected.choice = Choice::new(since, until, &collected.threads, admits);
        }
    }

    /// Leaves out entries that are certain not to be among the last `count` entries. Before the
    /// first page only.
    pub fn skip_to_last(&mut self, count: usize) {
        let Some(PageReader::Here(rest)) = self.rest.as_mut().map(|rest| &mut rest.reader) else {
            return;
        };
        let latest = rest.segments.iter().scan(i64::MIN, |latest, segment| {
            let before = *latest;
            *latest = segment.span.map_or(before, |(_, last)| last.max(before));
            Some(before)
        });
        let latest: Vec<i64> = latest.collect();
        // Only segments later than all before count.
        let has_enough = |begin: &usize| {
            let after = rest.segments[*begin..].iter();
            let later = after.filter(|it| it.span.is_some_and(|(first, _)| first > latest[*begin]));
            later.map(|segment| segment.entries).sum::<u64>() >= count as u64
        };
        // Most traces end with segments later than all others.
        let steps = std::iter::successors(Some(1_usize), |back| back.checked_mul(2));
        let begins = steps.map_while(|back| rest.segments.len().checked_sub(back));
        let begin = begins.take_while(|begin| *begin > 0).find(has_enough);
        let Some(begin) = begin else { return };
        rest.begin_at(begin);
        self.log.skip_edges(latest[begin].saturating_add(1));
    }

    /// The time before which no further item is, in nanoseconds of the trace's clock; none if it is
    /// not known, or none follows.
    pub fn next_time(&self) -> Option<i64> {
        let time = match &self.rest.as_ref()?.reader {
            PageReader::Here(reader) => reader.next_time(),
            PageReader::Ahead(_, time) => *time,
            PageReader::Done => None,
        };
        time.into_iter().chain(self.log.next_edge_time()).min()
    }
}

impl Unread {
    /// Completes the statistics at the end, with losses that only the entries have told of.
    fn finish(self, log: &mut Log) {
        let Self { mut surveyed, read, losses, .. } = self;
        let found = read.lost.iter().filter(|((reason, _), _)| *reason == LossReason::Malformed);
        for (reason, count) in found {
            *surveyed.lost.entry(*reason).or_default() += count;
        }
        surveyed.take_entries_of(&read);
        let mut collected = log.collected_mut().take_page(Collected::default());
        collected.stats = surveyed;
        collected.records.clear();
        log.end_pages(collected, losses);
    }
}

impl ReadPages for Remainder {
    fn read(&mut self, used: Collected) -> io::Result<Page> {
        self.read_page()?;
        let limit = self.first.get(self.next).copied();
        let is_before = |time: i64| limit.is_none_or(|limit| time < limit);
        let collected = self.decoder.collected_mut();
        let end = collected.records.partition_point(|record| is_before(record.moment.ns));
        if collected.has_guesses {
            let guessed = collected.records[..end].iter().filter(|record| record.moment.guessed);
            collected.stats.guessed_times = guessed.count() as u64;
        }
        let rest = &self.losses[self.shown_losses..];
        let known = rest.partition_point(|loss| is_before(loss.time));
        self.shown_losses += known;
        let found = collected.losses.0.iter();
        self.found.extend(
            found
                .filter(|it| it.loss.reason == LossReason::Malformed)
                .map(|found| found.converted(found.moment)),
        );
        let found = self.found.extract_if(.., |loss| is_before(loss.time));
        let mut losses: Vec<Loss> = rest[..known].iter().copied().chain(found).collect();
        losses.sort_by_key(|loss| (loss.time, loss.guessed));
        let mut page = collected.take_page(used);
        let (kept, sequences) = self.decoder.parts_mut();
        compact::compact(&mut page, end, kept, sequences);
        let (next_time, is_last) = (self.next_time(), self.is_done());
        Ok(Page { collected: page, losses, limit, next_time, is_last })
    }
}

impl Remainder {
    fn is_done(&self) -> bool {
        let is_read = self.next == self.segments.len() && self.held().is_empty();
        is_read && self.shown_losses == self.losses.len()
    }

    /// Entries that were read and are too late for the page, by time.
    fn held(&self) -> &[MessageRecord] {
        &self.decoder.collected().records
    }

    fn next_time(&self) -> Option<i64> {
        let held = self.held().first().map(|record| record.moment.ns);
        let entry = self.first.get(self.next).copied().into_iter().chain(held).min();
        let losses = self.losses.get(self.shown_losses).into_iter().chain(&self.found);
        entry.into_iter().chain(losses.map(|loss| loss.time)).min()
    }

    /// Begins with the entries of a segment, or before it with the state that they need.
    fn begin_at(&mut self, wanted: usize) {
        let segments = self.segments[wanted..].iter().filter(|segment| segment.entries > 0);
        let begin = segments.map(|segment| segment.begins_in as usize).min().unwrap_or(wanted);
        (self.wanted, self.next) = (wanted, begin.min(wanted));
    }

    /// Reads segments until there is something to show, by time.
    fn read_page(&mut self) -> io::Result<()> {
        let mut wanted = self.page.max(self.decoder.collected().blocks.size());
        loop {
            let mut size = 0;
            while let Some(segment) = self.segments.get(self.next).filter(|_| size < wanted) {
                let bytes = self.source.read_at(segment.offset, segment.len)?;
                size += bytes.len() + usize::try_from(segment.inflated).unwrap_or(usize::MAX);
                let collected = self.decoder.collected_mut();
                collected.is_skipping = self.next < self.wanted;
                collected.segment.index = segment.index;
                // A packet that is cut off is the last one, which the survey has found.
                let ended = self.decoder.segment(bytes, segment.offset);
                let is_known =
                    |it: EndReason| it == EndReason::Truncated || it == EndReason::Expansion;
                if ended.is_some_and(|ended| !is_known(ended.reason)) {
                    return Err(io::ErrorKind::OutOfMemory.into());
                }
                self.next += 1;
            }
            let records = &mut self.decoder.collected_mut().records;
            record_order::sort(records);
            let limit = self.first.get(self.next);
            let is_shown =
                |record: &MessageRecord| limit.is_none_or(|limit| record.moment.ns < *limit);
            let has_some = records.first().is_some_and(is_shown);
            // Of few entries that are wanted, the next may be far away: a page without any lets go
            // of the bytes so far.
            if limit.is_none() || has_some || self.decoder.collected().choice.is_made() {
                return Ok(());
            }
            wanted = wanted.saturating_mul(2);
        }
    }
}
