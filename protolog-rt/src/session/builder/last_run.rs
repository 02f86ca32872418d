//! The treatment of the trace that the last run left at a session's path.

use crate::session::builder::Builder;
use crate::session::earlier::earlier_runs::Earlier;

impl Builder {
    /// Sets how many traces of earlier runs are kept, 1 by default. When a session begins to write
    /// its file, a trace there is renamed: `app.pftrace` to `app.1.pftrace`, and that to
    /// `app.2.pftrace`. Older ones are removed.
    ///
    /// Of a run that crashed, the trace is first completed from its recording, as by
    /// [`recover_previous`](crate::recover_previous). It is kept for any `count`, read-only,
    /// until those of all crashed runs take more than 256 MiB or are more than 64; the newest one
    /// stays in any case. One line on standard error says so ([`Self::report_losses`]). With
    /// `count` 0 only those are kept. A smaller disk stays full of them until somebody removes
    /// some; [`Self::truncate`] leaves none.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-runs-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// for run in 1..=4 {
    ///     let builder = Session::builder().file(dir.join("app.pftrace")).enable_all();
    ///     let session = builder.keep_previous(2).start()?;
    ///     protolog_rt::d!(AppLog::Net, "run %d", run);
    ///     session.stop()?;
    /// }
    /// let mut traces: Vec<_> = std::fs::read_dir(&dir)?.map(|it| it.unwrap().file_name()).collect();
    /// traces.sort();
    /// assert_eq!(traces, ["app.1.pftrace", "app.2.pftrace", "app.pftrace"]);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A file under such a name that is no trace of this program is left alone, and its number left
    /// out. Where the trace can't be renamed, as in a directory that this user may not write to, it
    /// is overwritten, and the line says so. Segments have names of their own
    /// ([`Self::segment_bytes`]), and snapshots replace the file there.
    pub fn keep_previous(mut self, count: usize) -> Self {
        self.earlier = Earlier { keep: count, truncates: false };
        self
    }

    /// Empties or replaces the file that is there, as `File::create` does: also the trace of a run
    /// that crashed.
    ///
    /// ```
    /// # use protolog_rt::Session;
    /// # let path = std::env::temp_dir().join(format!("protolog-empties-{}.pftrace", std::process::id()));
    /// for _ in 0..2 {
    ///     Session::builder().file(&path).truncate().start()?.stop()?;
    /// }
    /// assert!(!path.with_extension("1.pftrace").exists());
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn truncate(mut self) -> Self {
        self.earlier.truncates = true;
        self
    }
}
