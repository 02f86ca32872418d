//! The setting for forked children, and the settings of a child's session.

use crate::session::builder::Builder;
use crate::session::recording::recorder::RecordingPath;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

impl Builder {
    /// Goes on in forked children: each child that logs gets a session of its own with these
    /// settings, and a file of its own. That of the child with the process id 4711 is
    /// `app-4711.pftrace` beside the parent's `app.pftrace`. If somebody has put there an entry
    /// that may not be written, such as a link or a file of another user, the name has a random
    /// number, too.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-forks-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().follow_forks().start()?;
    /// // … fork workers, or become a daemon …
    /// protolog_rt::d!(AppLog::Net, "to the file of whichever process this is");
    /// session.stop()?; // that of this process, too
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The child's session starts with its first message that the parent's session would record, or
    /// with its first call of a method of the parent's [`Session`](crate::Session) that writes a
    /// file; from then on such calls are for the child's. A child that does neither, such as one
    /// that runs another program, has no file; nor has one that drops the parent's session, or
    /// starts one of its own, before it does. Where [`init`](crate::init()) listens to operators in
    /// the parent, it does in such a child, too, and [`stop_on_signals`](crate::stop_on_signals)
    /// holds there as in the parent. If the child's session can't start, since a directory is gone
    /// for example, a line on standard error says so, and the child's messages are not recorded.
    ///
    /// That first message starts a thread and makes a file, so it takes its time, and a signal
    /// handler should not log it. Fork while no other thread of the parent starts or ends: what the
    /// C library and Rust's have locked at that moment stays locked in the child, and then no
    /// thread starts there.
    ///
    /// It has no effect on a session of chosen threads ([`Self::this_thread`]).
    pub fn follow_forks(mut self) -> Self {
        self.follows_forks = true;
        self
    }

    /// Returns whether forked children go on with these settings.
    pub(super) fn is_inheritable(&self) -> bool {
        self.follows_forks && !self.is_scoped && !self.is_for_operator
    }

    /// The same for a forked child, with `label` in the names of its files.
    pub(in crate::session) fn for_child(mut self, label: &str) -> Self {
        self.path = self.path.map(|path| of_child(&path, label));
        if let Some(triggers) = &mut self.triggers {
            triggers.path = of_child(&triggers.path, label);
        }
        if let Some(RecordingPath::At(path)) = &mut self.record {
            *path = of_child(path, label);
        }
        self
    }
}

/// The file of the child with this label beside the parent's file at `path`.
fn of_child(path: &Path, label: &str) -> PathBuf {
    let mut name = path.file_stem().map_or_else(OsString::new, OsString::from);
    name.push(format!("-{label}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_s_file_lies_beside_its_parent_s() {
        for (parent, child) in [
            ("/var/log/app.pftrace", "/var/log/app-7.pftrace"),
            ("/app", "/app-7"),
            ("/app.2026.pftrace", "/app.2026-7.pftrace"),
            ("/.app", "/.app-7"),
        ] {
            assert_eq!(of_child(Path::new(parent), "7"), Path::new(child), "{parent}");
        }
    }
}
