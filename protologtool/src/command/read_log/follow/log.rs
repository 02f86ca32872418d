//! A log that is followed, part by part: the decoder's state, and what was said about it.

use crate::command::recover::counted;
use protolog_reader::{Follower, Log, printable};
use std::path::Path;

/// See the module.
pub(super) struct FollowedLog {
    pub(super) follower: Follower,
    /// Its entries have times that can't be compared with those that are asked for, which was said.
    pub(super) is_left_out: bool,
    /// Bundles that were not read, and texts that were left out, of which it was said.
    pub(super) known: [u64; 2],
}

impl FollowedLog {
    pub(super) fn new(follower: Follower) -> Self {
        Self { follower, is_left_out: false, known: [0; 2] }
    }

    /// Returns whether the program has not ended the session.
    pub(super) fn is_unended(&self) -> bool {
        self.follower.is_unended().unwrap_or(true)
    }

    /// Goes on with the next segment of the session.
    pub(super) fn next_trace(&mut self) {
        self.follower.next_trace();
        self.known = [0; 2];
    }

    /// Bundles that can't be read, and texts that are left out.
    pub(super) fn unread(log: &Log) -> [u64; 2] {
        let stats = log.stats();
        let bundles = stats.broken_bundles + stats.oversized_bundles + stats.cut_bundles;
        [bundles, stats.cut_texts]
    }

    /// The warnings for more of what is not read.
    pub(super) fn warning(unread: [u64; 2], known: [u64; 2], path: &Path) -> String {
        let shown = printable(&path.to_string_lossy());
        let [bundles, texts] = [0, 1].map(|kind| unread[kind].saturating_sub(known[kind]));
        let bundles = (bundles > 0).then(|| {
            let counted = counted(bundles, "bundle", "bundles");
            format!("warning: {counted} of packets in `{shown}` can't be read, at least in part\n")
        });
        let texts = (texts > 0).then(|| {
            let counted = counted(texts, "text", "texts");
            format!("warning: {counted} of messages in `{shown}` left out: it expands to more than its limit\n")
        });
        bundles.into_iter().chain(texts).collect()
    }
}
