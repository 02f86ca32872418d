//! A log that is followed, part by part: the decoder's state, and the reports about it.

use crate::logs::rescue::counted;
use protolog_reader::{Follower, Log, printable};
use std::path::Path;

/// See the module.
pub(super) struct FollowedLog {
    pub(super) follower: Follower,
    /// Its entries have times that can't be compared with those that are asked for, which was said.
    pub(super) is_left_out: bool,
    /// The unread parts that were reported; see [`Self::unread`].
    pub(super) known: [u64; 3],
    /// All of it was read; see [`Log::is_complete`].
    pub(super) is_whole: bool,
}

impl FollowedLog {
    pub(super) fn new(follower: Follower) -> Self {
        Self { follower, is_left_out: false, known: [0; 3], is_whole: true }
    }

    /// Returns whether the program has not ended the session.
    pub(super) fn is_unended(&self) -> bool {
        self.follower.is_unended().unwrap_or(true)
    }

    /// Goes on with the next segment of the session.
    pub(super) fn next_trace(&mut self) {
        self.follower.next_trace();
        self.known = [0; 3];
    }

    /// Bundles that can't be read, texts that are left out, and bytes that are skipped.
    pub(super) fn unread(log: &Log) -> [u64; 3] {
        let stats = log.stats();
        let bundles = stats.broken_bundles + stats.oversized_bundles + stats.cut_bundles;
        [bundles, stats.cut_texts, stats.skipped_bytes + stats.damaged_bytes]
    }

    /// The warnings for further unread parts.
    pub(super) fn warning(unread: [u64; 3], known: [u64; 3], path: &Path) -> String {
        let shown = printable(&path.to_string_lossy());
        let [bundles, texts, bytes] =
            [0, 1, 2].map(|kind| unread[kind].saturating_sub(known[kind]));
        let bundles = (bundles > 0).then(|| {
            let counted = counted(bundles, "bundle", "bundles");
            format!("warning: {counted} of packets in `{shown}` can't be read, at least in part\n")
        });
        let texts = (texts > 0).then(|| {
            let counted = counted(texts, "text", "texts");
            format!("warning: {counted} of messages in `{shown}` left out: it expands to more than its limit\n")
        });
        let bytes = (bytes > 0 && known[2] == 0).then(|| {
            format!("warning: bytes of `{shown}` that are zeros or damaged are skipped\n")
        });
        bundles.into_iter().chain(texts).chain(bytes).collect()
    }
}
