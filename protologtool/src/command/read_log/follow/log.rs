//! A log that is followed, part by part: the decoder's state, and what was said about it.

use crate::command::recover::counted;
use protolog_reader::{Follower, Log, printable};
use std::path::Path;

/// See the module.
pub(super) struct FollowedLog {
    pub(super) follower: Follower,
    /// Its entries have times that can't be compared with those that are asked for, which was said.
    pub(super) is_left_out: bool,
    /// Bundles that were not read, of which it was said.
    pub(super) known: u64,
}

impl FollowedLog {
    pub(super) fn new(follower: Follower) -> Self {
        Self { follower, is_left_out: false, known: 0 }
    }

    /// Returns whether the program has not ended the session.
    pub(super) fn is_unended(&self) -> bool {
        self.follower.is_unended().unwrap_or(true)
    }

    /// Goes on with the next segment of the session.
    pub(super) fn next_trace(&mut self) {
        self.follower.next_trace();
        self.known = 0;
    }

    /// Bundles that can't be read.
    pub(super) fn unread_bundles(log: &Log) -> u64 {
        let stats = log.stats();
        stats.broken_bundles + stats.oversized_bundles + stats.cut_bundles
    }

    /// The warning for bundles that can't be read.
    pub(super) fn warning(bundles: u64, path: &Path) -> String {
        let counted = counted(bundles, "bundle", "bundles");
        let shown = printable(&path.to_string_lossy());
        format!("warning: {counted} of packets in `{shown}` can't be read, at least in part\n")
    }
}
