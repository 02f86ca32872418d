//! The messages of a session that keeps the newest ones that are to outlive all others: which, and
//! how many bytes of them.
//!
//! Invariant: what is pinned does not change while the session runs.

use protolog_core::Level;
use protolog_core::control::{levels_at_least, matches_group};

/// The default size of the ring, in bytes.
const BYTES: usize = 256 << 10;

/// The messages that a session keeps in a ring of their own, for
/// [`Builder::pin`](crate::Builder::pin).
///
/// ```
/// use protolog_rt::{Level, Pinned, ProtoLogGroup, Session, d, i, w};
///
/// #[derive(ProtoLogGroup)]
/// enum AppLog {
///     Net,
///     Audit,
/// }
///
/// # let dir = std::env::temp_dir().join(format!("protolog-pinned-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// let pinned = Pinned::new().level(Level::Warn).group("Audit", Level::Info);
/// let builder = Session::builder().file(dir.join("app.pftrace")).enable_all();
/// let session = builder.buffer_size(64 << 10).pin(pinned).start()?;
/// i!(AppLog::Audit, "user %d logged in", 7);
/// w!(AppLog::Net, "connection %d is slow", 7);
/// for packet in 0..100_000 {
///     d!(AppLog::Net, "packet %d", packet);
/// }
/// let summary = session.stop()?;
/// // The ring has some thousand packets, and both of the others.
/// let audit = summary.groups.iter().find(|it| it.group.as_deref().is_some_and(|it|
/// it.ends_with("Audit"))); assert_eq!(audit.map(|it| it.messages), Some(1));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "give it to `Builder::pin`"]
pub struct Pinned {
    /// The least severe level that is pinned of every group.
    level: Option<Level>,
    /// Patterns of groups, and the least severe level of each.
    groups: Vec<(String, Level)>,
    pub(in crate::session) bytes: usize,
}

impl Default for Pinned {
    fn default() -> Self {
        Self::new()
    }
}

impl Pinned {
    /// Nothing yet, in a ring of 256 KiB.
    pub fn new() -> Self {
        Self { level: None, groups: Vec::new(), bytes: BYTES }
    }

    /// Pins messages of `level` and of more severe ones, of all groups. At ERROR and WTF this costs
    /// other calls nothing. At lower levels each enabled call of the groups that have the level
    /// takes a longer way, out of line.
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Pins messages of `level` and of more severe ones of the groups that `pattern` names, as in
    /// [`Builder::group`](crate::Builder::group). What it costs, it costs calls of these groups.
    pub fn group(mut self, pattern: impl Into<String>, level: Level) -> Self {
        self.groups.push((pattern.into(), level));
        self
    }

    /// Sets the size of the ring in bytes, 64 KiB at least. It comes on top of
    /// [`Builder::buffer_size`](crate::Builder::buffer_size). Each thread that logs a pinned
    /// message takes a chunk of it, of 292 bytes at first, and of 4 KiB once it has logged some.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Returns the levels (bit = severity) that are pinned of the group with this full name.
    pub(in crate::session) fn levels(&self, group: &str) -> u8 {
        let of_all = self.level.map_or(0, |level| levels_at_least(Some(level)));
        let named = self.groups.iter().filter(|(pattern, _)| matches_group(pattern, group));
        named.fold(of_all, |all, (_, level)| all | levels_at_least(Some(*level)))
    }

    /// Returns whether it names no message.
    pub(in crate::session) fn is_empty(&self) -> bool {
        self.level.is_none() && self.groups.is_empty()
    }

    /// Iterates over the patterns of groups.
    pub(in crate::session) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(pattern, _)| &**pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table has Java's groups, whose names have points in place of `::`.
    #[test]
    fn levels_match_the_vectors() {
        let table = include_str!("../../../protolog-core/testdata/pinned.tsv");
        for line in table.lines().skip(1) {
            let fields: Vec<_> = line.split('\t').collect();
            let level = |name: &str| name.parse::<Level>().expect("a level");
            let part = |pinned: Pinned, part: &str| match part.split_once(' ') {
                None => pinned.level(level(part)),
                Some((pattern, name)) => pinned.group(pattern, level(name)),
            };
            let pinned = fields[0].split(';').fold(Pinned::new(), part);
            assert_eq!(format!("{:02x}", pinned.levels(fields[1])), fields[2], "{line}");
        }
    }

    #[test]
    fn levels_are_those_of_all_groups_and_of_the_group() {
        let pinned = Pinned::new().level(Level::Error).group("Net", Level::Info);
        let pinned = pinned.group("app::Log", Level::Warn).group("Disk", Level::Wtf);
        assert_eq!(pinned.levels("app::Log::Net"), 0b11_1100);
        assert_eq!(pinned.levels("app::Log::Ui"), 0b11_1000);
        assert_eq!(pinned.levels("lib::Log::Disk"), 0b11_0000, "no fewer than of all");
        assert_eq!(Pinned::new().group("Net", Level::Error).levels("app::Log::Ui"), 0);
        assert!(Pinned::new().is_empty() && !Pinned::new().level(Level::Wtf).is_empty());
    }
}
