//! A sink that fails once: after the first error it takes everything and writes nothing.
//!
//! The archive writer finishes its archive when it is dropped, and prints to standard error if that
//! fails. The output of a library is nothing for our users; so the error is kept here, and the
//! writer is left to finish in peace.

use crate::system::Sink;
use std::io::{self, Seek, SeekFrom, Write};

pub(super) struct Fused<'s> {
    sink: &'s mut dyn Sink,
    failure: Option<io::Error>,
    position: u64,
    end: u64,
}

impl<'s> Fused<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, failure: None, position: 0, end: 0 }
    }

    /// The first error, if there was one.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Does something with the sink, unless it has failed.
    fn with<T>(&mut self, act: impl FnOnce(&mut dyn Sink) -> io::Result<T>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        act(self.sink).map_err(|error| self.failure = Some(error)).ok()
    }
}

impl Write for Fused<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|sink| sink.write_all(bytes));
        self.position += bytes.len() as u64;
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|sink| sink.flush());
        Ok(())
    }
}

/// Positions go on as if all had been written, since archives are full of them.
impl Seek for Fused<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
            SeekFrom::End(distance) => self.end.checked_add_signed(distance),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        self.with(|sink| sink.seek(to));
        Ok(self.position)
    }
}
