//! The recording of a process that runs, followed.
//!
//! Invariant: what was overwritten between two looks is shown as lost.

use super::super::block_output::Stopped;
use super::log::FollowedLog;
use super::{Growing, GrowingPages, Outlook, Reading};
use crate::exit::Failure;
use crate::output::cant_read;
use crate::system::{OpenFile, System};
use protolog_reader::{Recording, Tail};
use std::path::PathBuf;

/// A recording that grows.
pub(super) struct GrowingRecording {
    path: PathBuf,
    reading: Reading,
    log: FollowedLog,
    tail: Tail,
    /// It stays open, so that its end can be read when another one has its name.
    file: Option<Box<dyn OpenFile>>,
    was_replaced: bool,
    /// The last copy of the file.
    last: Vec<u8>,
}

impl GrowingRecording {
    pub(super) fn new(path: PathBuf, reading: Reading) -> Self {
        Self {
            log: reading.log(),
            path,
            reading,
            tail: Tail::default(),
            file: None,
            was_replaced: false,
            last: Vec::new(),
        }
    }
}

impl GrowingRecording {
    /// Reads the additions to the file that is open. False if it is none yet.
    fn look(
        &mut self,
        file: &dyn OpenFile,
        show: &mut GrowingPages<'_, '_>,
    ) -> Result<(), Stopped> {
        let copy = || {
            let copy = file.read_at(0, Recording::MAX_BYTES as usize);
            copy.map_err(|error| cant_read(&self.path, &error))
        };
        let first = copy()?;
        if first == self.last {
            return Ok(());
        }
        let (second, third) = (copy()?, copy()?);
        let mut added = Vec::new();
        let read = self.tail.read([&first, &second, &third], &mut added);
        match read.map_err(|error| cant_read(&self.path, &error))? {
            // A new one may not have its head yet.
            Err(_) if self.was_replaced => return Ok(()),
            Err(error) => {
                let shown = self.path.display();
                let failure = Failure::new(format!("can't follow `{shown}`: {error}"));
                return Err(failure.help(error.help()).into());
            }
            Ok(()) => {}
        }
        show.read(&mut self.log, &added, &self.path)?;
        self.last = first;
        Ok(())
    }
}

impl Growing for GrowingRecording {
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Outlook, Stopped> {
        if let Some(file) = self.file.take() {
            let there = system.file_id(&self.path);
            let is_replaced = matches!((&there, file.id()), (Ok(there), Ok(own)) if *there != own);
            self.look(&*file, show)?;
            // A session that ends removes it.
            if !is_replaced {
                self.file = Some(file).filter(|_| show.holds_files || there.is_err());
                return Ok(Outlook::Open);
            }
            system.print_error("note: the file was replaced; this is the new one\n");
            (self.tail, self.last, self.was_replaced) = (Tail::default(), Vec::new(), true);
            self.log = self.reading.log();
        }
        if let Ok(file) = system.open_file(&self.path) {
            self.look(&*file, show)?;
            self.file = Some(file);
        }
        Ok(Outlook::Open)
    }
}
