//! The recording of a process that runs, followed.
//!
//! Invariant: what was overwritten between two looks is shown as lost.

use super::{Growing, Outlook, Reading, Shower, Stopped};
use crate::command::inputs::cant_read;
use crate::exit::Failure;
use crate::system::System;
use protolog_reader::{Follower, Recording, Tail};
use std::path::PathBuf;

/// A recording that grows.
pub(super) struct GrowingRecording {
    path: PathBuf,
    reading: Reading,
    follower: Follower,
    tail: Tail,
    known: Option<u64>,
    was_replaced: bool,
    /// The last copy of the file.
    last: Vec<u8>,
}

impl GrowingRecording {
    pub(super) fn new(path: PathBuf, reading: Reading) -> Self {
        Self {
            follower: reading.follower(),
            path,
            reading,
            tail: Tail::default(),
            known: None,
            was_replaced: false,
            last: Vec::new(),
        }
    }
}

impl Growing for GrowingRecording {
    fn read(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<Outlook, Stopped> {
        // A session that ends removes it.
        let Ok((file, _)) = system.identity(&self.path) else { return Ok(Outlook::Open) };
        if self.known.replace(file).is_some_and(|known| known != file) {
            system.print_error("note: the file was replaced; this is the new one\n");
            (self.tail, self.last, self.was_replaced) = (Tail::default(), Vec::new(), true);
            self.follower = self.reading.follower();
        }
        let copy = || {
            let copy = system.read_from(&self.path, 0, Recording::MAX_BYTES as usize);
            copy.map_err(|error| cant_read(&self.path, &error))
        };
        let first = copy()?;
        if first == self.last {
            return Ok(Outlook::Open);
        }
        let (second, third) = (copy()?, copy()?);
        let mut added = Vec::new();
        let read = self.tail.read([&first, &second, &third], &mut added);
        let read = read.map_err(|error| cant_read(&self.path, &error))?;
        match read {
            // A new one may not have its head yet.
            Err(_) if self.was_replaced => return Ok(Outlook::Open),
            Err(error) => {
                let shown = self.path.display();
                let failure = Failure::new(format!("can't follow `{shown}`: {error}"));
                return Err(failure.help(error.help()).into());
            }
            Ok(()) => {}
        }
        show.read(&mut self.follower, &added, &self.path)?;
        self.last = first;
        Ok(Outlook::Open)
    }
}
