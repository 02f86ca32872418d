//! A trace that comes through a pipe.

use super::super::block_output::Stopped;
use super::log::FollowedLog;
use super::{Growing, GrowingPages, Outlook};
use crate::exit::{Exit, Failure};
use crate::output::cant_read;
use crate::system::System;
use protozero::wire::decode_varint;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The bytes that are read at once; less if less is there.
const PART: usize = 1 << 20;

/// A pipe.
pub(super) struct Pipe {
    path: PathBuf,
    input: Box<dyn Read>,
    log: FollowedLog,
    part: Vec<u8>,
    /// Bytes of a packet that is not whole yet.
    rest: Vec<u8>,
    /// The size of `rest` that is worth a look: a large packet comes in many parts.
    awaited: usize,
}

impl Pipe {
    pub(super) fn open(
        path: &Path,
        log: FollowedLog,
        system: &dyn System,
    ) -> Result<Self, Failure> {
        let input = if path == Path::new("-") { system.input() } else { system.open(path) };
        let input = input.map_err(|error| cant_read(path, &error))?;
        let (part, rest) = (vec![0; PART], Vec::new());
        Ok(Self { path: path.to_owned(), input, log, part, rest, awaited: 0 })
    }

    /// Shows the packets that are whole.
    fn show(&mut self, show: &mut GrowingPages<'_, '_>) -> Result<(), Stopped> {
        let taken = show.read(&mut self.log, &self.rest, &self.path)?;
        self.rest.drain(..taken);
        // A packet that says that it is larger may be damaged, and others may follow.
        let doubled = self.rest.len().saturating_mul(2);
        self.awaited = end_of_first(&self.rest).unwrap_or(self.rest.len() + 1).min(doubled);
        Ok(())
    }
}

/// Returns where the packet ends that these bytes begin with, if its size is there.
fn end_of_first(bytes: &[u8]) -> Option<usize> {
    let (size, length) = decode_varint(bytes.get(1..)?).ok()?;
    usize::try_from(size).ok()?.checked_add(1 + length)
}

impl Growing for Pipe {
    /// Waits until there is something.
    fn read(
        &mut self,
        show: &mut GrowingPages<'_, '_>,
        system: &dyn System,
    ) -> Result<Outlook, Stopped> {
        let read = loop {
            match self.input.read(&mut self.part) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(|error| cant_read(&self.path, &error))?,
            }
        };
        self.rest.extend_from_slice(&self.part[..read]);
        if read > 0 {
            if self.rest.len() >= self.awaited {
                self.show(show)?;
            }
            return Ok(Outlook::Open);
        }
        if !self.rest.is_empty() {
            self.show(show)?;
        }
        if self.rest.is_empty() {
            let exit = if self.log.is_whole { Exit::Done } else { Exit::Incomplete };
            return Ok(Outlook::Ended(exit));
        }
        system.print_error(&format!(
            "warning: the trace ends within a packet, of which there are {} bytes\n",
            self.rest.len()
        ));
        Ok(Outlook::Ended(Exit::Incomplete))
    }
}
