//! Which messages a session records: levels of groups, one thread or all, and those with a stack
//! trace.
//!
//! Invariant: a group that is named keeps its level, in whichever order the methods are called.

use super::Builder;
use crate::session::filter::{Config, GroupOverride, TracingMode};
use protolog_core::Level;

impl Builder {
    /// Records all levels of all groups that no [`Self::group`] names. Of this method and
    /// [`Self::log_from`] the later call wins.
    ///
    /// ```
    /// # use protolog_rt::{Level, ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net, Disk }
    /// # let path = std::env::temp_dir().join(format!("protolog-order-{}.pftrace", std::process::id()));
    /// let builder = Session::builder().file(&path).group("Disk", Level::Error);
    /// let session = builder.log_from(Level::Info).enable_all().start()?;
    /// assert!(AppLog::Net.is_enabled(Level::Verbose), "`enable_all` came later");
    /// assert!(!AppLog::Disk.is_enabled(Level::Warn), "a group that is named keeps its level");
    /// # session.stop()?;
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn enable_all(mut self) -> Self {
        self.config.tracing_mode = TracingMode::EnableAll;
        self.config.default_log_from = None;
        self.without_default_override()
    }

    /// Records `level` and more severe ones, of all groups that no [`Self::group`] names. Of this
    /// method and [`Self::enable_all`] the later call wins.
    pub fn log_from(mut self, level: Level) -> Self {
        self.config.default_log_from = Some(level);
        self.without_default_override()
    }

    /// Removes overrides of all groups, which a later choice replaces.
    fn without_default_override(mut self) -> Self {
        self.config.group_overrides.retain(|other| other.group != "*");
        self
    }

    /// Records `level` and more severe ones of the groups that `group` names, or nothing of them
    /// (`None`). It is a full name (`app::AppLog::Net`), its last segments (`Net`) or its first
    /// ones (`app`), in any case, as in the variable `PROTOLOG`. Last segments have to mean one
    /// group unless others begin with them (`net`, a crate; then all are meant). The closest name
    /// counts: the full one, then an end, then the longest beginning. It keeps the level that it
    /// has here, even if a later call sets all groups; of several calls with one name the last
    /// wins. See [`Config::group_overrides`].
    ///
    /// A name that no group has is no error, since its group may come with a library. If none came
    /// until the session ends, a line on standard error says so ([`Self::report_losses`]), and so
    /// do [`Summary::unknown_groups`](crate::Summary::unknown_groups) and `protologtool read-log`.
    pub fn group(mut self, group: impl Into<String>, level: impl Into<Option<Level>>) -> Self {
        let (group, log_from) = (group.into(), level.into());
        self.config.group_overrides.push(GroupOverride { group, log_from });
        self
    }

    /// Records only the thread that calls [`Self::start`], and threads that enter the session
    /// ([`Session::thread_scope`](crate::Session::thread_scope)). For tests, several of which log
    /// side by side in one process: `docs/guides/testing.md`.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-this-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().this_thread().start()?;
    /// std::thread::spawn(|| protolog_rt::d!(AppLog::Net, "not recorded")).join().unwrap();
    /// protolog_rt::d!(AppLog::Net, "recorded");
    /// assert_eq!(session.stop()?.messages, 1);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn this_thread(mut self) -> Self {
        self.is_scoped = true;
        self
    }

    /// Records each message of a group with the stack trace of its thread; the group is named as
    /// for [`Self::group`]. A stack trace costs some microseconds a message and some hundred bytes
    /// a frame, so this is for groups that log rarely. `protologtool read-log --symbolize` turns
    /// the addresses into names.
    pub fn collect_stacktrace(mut self, group: impl Into<String>) -> Self {
        self.config.collect_stacktrace.push(group.into());
        self
    }

    /// Replaces all earlier choices of groups and levels by `config`.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }
}
