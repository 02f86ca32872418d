//! A trace in several files, by size or age, and how many of them stay.
//!
//! Invariant: a limit is never so small that a session does nothing but rotate.

use super::Builder;
use std::time::Duration;

/// The least age of a segment, so that its thread has time for more than rotation.
const MIN_AGE: Duration = Duration::from_millis(10);

impl Builder {
    /// Divides the trace into files of at most `bytes` bytes, each of which can be read alone.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let dir = std::env::temp_dir().join(format!("protolog-segments-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir)?;
    /// let session = Session::builder()
    ///     .file(dir.join("app.pftrace"))
    ///     .enable_all()
    ///     .segment_bytes(64 << 20)
    ///     .segment_age(std::time::Duration::from_secs(3600))
    ///     .keep_segments(24)
    ///     .start()?;
    /// protolog_rt::d!(AppLog::Net, "a packet");
    /// session.stop()?;
    /// assert!(dir.join("app.0001.pftrace").exists());
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Numbers continue those of earlier runs of the program. A file that is being written, or that
    /// a crash left incomplete, ends in `.part`, and can be read as far as it goes. Each file
    /// begins with the format strings of all messages, and has room for a few messages however
    /// small `bytes` is; a message that is larger gets a file of its own. For sessions that stream
    /// to a file only. Give each process a name of its own.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.limits.bytes = Some(bytes);
        self
    }

    /// Divides the trace into files, each of which ends `age` after it was begun if it holds a
    /// message; at least 10 ms. See [`Self::segment_bytes`].
    pub fn segment_age(mut self, age: Duration) -> Self {
        self.limits.age = Some(age.max(MIN_AGE));
        self
    }

    /// Keeps the newest `count` complete files, at least one, beside the one that is being written,
    /// and as many incomplete ones of runs that died. Older ones are removed whenever a new one was
    /// begun, those of earlier runs of the program included; files that only have a name like that
    /// of a segment stay. See [`Self::segment_bytes`].
    pub fn keep_segments(mut self, count: usize) -> Self {
        self.limits.keep = Some(count);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_take_some_time() {
        for age in [Duration::ZERO, MIN_AGE, Duration::MAX] {
            let limits = Builder::new().segment_age(age).limits;
            assert_eq!(limits.age, Some(age.max(Duration::from_millis(10))));
        }
    }
}
