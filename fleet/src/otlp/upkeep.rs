//! Files that are kept up to date while logs are sent: one that can't be written now, as on a disk
//! that is full, is named once, and written when it can be.

use crate::failure::{Failure, Result, say};

/// The state of such a file.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    is_patient: bool,
    has_failed: bool,
}

impl Upkeep {
    /// With patience, a failure is no reason to end.
    pub(super) fn new(is_patient: bool) -> Self {
        Self { is_patient, has_failed: false }
    }

    /// Takes the outcome of an attempt. Returns whether the file was written.
    pub(super) fn take(&mut self, written: Result<()>) -> Result<bool> {
        match written {
            Ok(()) => {
                self.has_failed = false;
                Ok(true)
            }
            Err(failure) if self.is_patient => {
                self.warn(&failure);
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    fn warn(&mut self, failure: &Failure) {
        if !std::mem::replace(&mut self.has_failed, true) {
            say(&failure.as_warning());
        }
    }
}
