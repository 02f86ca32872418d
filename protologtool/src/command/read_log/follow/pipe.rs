//! A trace that comes through a pipe.

use super::log::FollowedLog;
use super::{Growing, Outlook, Shower, Stopped};
use crate::command::inputs::cant_read;
use crate::exit::{Exit, Failure};
use crate::system::System;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The bytes that are read at once; less if less is there.
const PART: usize = 1 << 20;

/// A pipe.
pub(super) struct Pipe {
    path: PathBuf,
    input: Box<dyn Read>,
    log: FollowedLog,
    /// Bytes of a packet that is not whole yet.
    rest: Vec<u8>,
}

impl Pipe {
    pub(super) fn open(
        path: &Path,
        log: FollowedLog,
        system: &dyn System,
    ) -> Result<Self, Failure> {
        let input = if path == Path::new("-") { system.input() } else { system.open(path) };
        let input = input.map_err(|error| cant_read(path, &error))?;
        Ok(Self { path: path.to_owned(), input, log, rest: Vec::new() })
    }
}

impl Growing for Pipe {
    /// Waits until there is something.
    fn read(&mut self, show: &mut Shower<'_>, system: &dyn System) -> Result<Outlook, Stopped> {
        let known = self.rest.len();
        self.rest.resize(known + PART, 0);
        let read = loop {
            match self.input.read(&mut self.rest[known..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(|error| cant_read(&self.path, &error))?,
            }
        };
        self.rest.truncate(known + read);
        if read > 0 {
            let taken = show.read(&mut self.log, &self.rest, &self.path)?;
            self.rest.drain(..taken);
            return Ok(Outlook::Open);
        }
        if self.rest.is_empty() {
            return Ok(Outlook::Ended(Exit::Done));
        }
        system.print_error(&format!(
            "warning: the trace ends within a packet, of which there are {} bytes\n",
            self.rest.len()
        ));
        Ok(Outlook::Ended(Exit::Incomplete))
    }
}
