//! The reaction of a session that streams when somebody else changes its file.
//!
//! | somebody | the session |
//! |---|---|
//! | empties or cuts the file (`copytruncate`) | begins a trace once more where the file ends, and reports what is not left |
//! | deletes it | goes on in a new file, or segment, which reports what was lost |
//! | renames it, or puts another one in its place | completes it, and goes on in a new file. One that is there is kept as at a start |
//!
//! Each loss is said in a line on standard error, once.
//!
//! Invariant: what is in no file any more is counted as lost, whether or not a new file can be had.

use super::Stream;
use crate::error::Error;
use crate::session::earlier::earlier_runs;
use crate::session::earlier::earlier_runs::Earlier;
use crate::session::file::file_place::FilePlace;
use crate::session::file::trace_file::{FileForm, OutsideChange, TraceFile};
use crate::session::finish::loss_report;
use crate::session::packets::remains::Remains;
use std::io;

/// The way to another file of a session that has one.
#[derive(Clone, Debug)]
pub(in crate::session) struct Reopen {
    pub(in crate::session) place: FilePlace,
    pub(in crate::session) form: FileForm,
    pub(in crate::session) earlier: Earlier,
}

impl Reopen {
    /// Opens the file, as at the start of a session.
    fn open(&self) -> Result<TraceFile, Error> {
        let mut place = self.place.clone();
        place.follow();
        earlier_runs::keep(&place, self.earlier, false)?;
        let mut file = TraceFile::create(&place, self.form.mode)?;
        file.set_form(&self.form);
        Ok(file)
    }
}

impl Stream {
    /// Follows a change of the file by somebody else. `is_end`: the session ends, so a file that
    /// was only moved is the last one.
    pub(super) fn follow_outside_change(&mut self, is_end: bool) {
        match self.trace.file.outside_change() {
            Some(OutsideChange::Cut(left)) => self.follow_cut(left),
            Some(OutsideChange::Deleted) => self.follow_deletion(),
            Some(OutsideChange::Moved) if !is_end => self.follow_move(),
            _ => {}
        }
    }

    fn follow_cut(&mut self, left: u64) {
        let read = self.trace.file.remains(left);
        let (remains, unread) =
            read.map_or_else(|error| (Remains::default(), Err(error)), |remains| (remains, Ok(())));
        let lost = self.trace.lose_all_but(&remains);
        loss_report::changed_outside(&self.core, "emptied or cut", lost);
        if let Err(error) = unread.and_then(|()| self.trace.file.go_on_at(remains.end)) {
            let path = self.trace.file.path().to_path_buf();
            return self.trace.file.fail(Error::File { path, error });
        }
        if !self.trace.file.has_failed() {
            self.trace.continue_after_gap();
        }
        self.begin_file();
    }

    fn follow_deletion(&mut self) {
        if !self.is_deleted {
            let lost = self.trace.lose_all_but(&Remains::default());
            loss_report::changed_outside(&self.core, "deleted", lost);
        }
        self.is_deleted = true;
        // Nothing more is written to it.
        let error = io::Error::new(io::ErrorKind::NotFound, "the file was deleted meanwhile");
        let path = self.trace.file.path().to_path_buf();
        self.trace.file.give_up(Error::File { path, error });
        let opened = match (&mut self.segments, &self.reopen) {
            (Some(segments), _) => segments.open(),
            (None, Some(reopen)) => reopen.open(),
            (None, None) => return,
        };
        if let Ok(file) = opened {
            // Its error is not that of the session, which has what it counts as lost.
            drop(self.continue_in(file));
            self.is_deleted = false;
            self.trace.report_gap();
        }
    }

    fn follow_move(&mut self) {
        // Without another one, this one is as good as before.
        let Some(Ok(file)) = self.reopen.as_ref().map(Reopen::open) else { return };
        self.finish_file(&[]);
        let error = self.continue_in(file);
        self.failed_file = self.failed_file.take().or(error);
    }
}
