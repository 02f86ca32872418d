//! The summary of a session that goes on: messages written and dropped so far, by group.

use crate::session::arbiter::session_arbiter::Core;
use crate::session::life::forked;
use crate::session::packets::dictionary::Dictionary;
use crate::session::packets::gap::Gap;
use crate::session::ring::snapshot;
use crate::stats::Summary;
use crate::sync::Ordering;
use crate::sys::process::asked_id;
use crate::writer::Writer;
use crate::writer::arbiter::Arbiter;
use std::sync::Arc;
use std::time::Duration;

/// The longest that a flush is waited for.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the messages written and dropped so far. A session that streams is flushed first.
pub(crate) fn so_far(core: &Core) -> Summary {
    let (mut summary, mut reported) = (Summary::default(), Vec::new());
    let mut unwritten = Gap::default();
    if core.pid != asked_id() {
        // A forked child: it is the parent's, and its locks may be held.
        return Summary { why_empty: Some(forked::WHY_EMPTY.into()), ..summary };
    }
    let counts = if let Some(requests) = core.requests() {
        requests.flush_within(FLUSH_TIMEOUT, || core.wake());
        let so_far = requests.so_far();
        (summary.messages, summary.bytes, reported) =
            (so_far.messages, so_far.bytes, so_far.reported);
        (summary.groups, unwritten) = (so_far.earlier, so_far.unreported);
        so_far.counts
    } else {
        let messages = |writer: Arc<Writer>| writer.completed_messages.load(Ordering::Relaxed);
        summary.messages = core.all_writers().into_iter().map(messages).sum();
        snapshot::count(core)
    };
    let live = core.all_writers();
    let own = live.iter().flat_map(|writer| writer.losses.pending());
    let of_ring = |ring: &Arc<Arbiter>| [ring.reported.pending(), ring.unattributed.pending()];
    let losses = own.chain(core.arbiter.rings().flat_map(of_ring).flatten());
    let dictionary = Dictionary::known();
    let losses: Vec<_> = losses.chain(reported).chain(dictionary.unwritten(&unwritten)).collect();
    summary.losses = dictionary.losses(losses.iter().copied());
    summary.passed_over = dictionary.passed_over(losses);
    // The losses of files before this one are among them.
    summary.groups.iter_mut().for_each(|group| group.losses.clear());
    summary.add_groups(dictionary.groups(&counts, &summary.losses));
    summary.buffer = core.buffer.stats();
    summary.pinned_buffer = core.pinned().map(|pinned| pinned.buffer.stats());
    summary.has_spans = counts.has_spans();
    summary
}
