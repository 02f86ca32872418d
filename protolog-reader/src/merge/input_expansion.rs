//! The amount that an input of a merge has expanded to, in one pass over it.
//!
//! An input comes as a stream, so its size is not known before: each part that is read makes room
//! for its possible expansion. Both passes over an input end at the same place.

use std::cell::Cell;
use std::io::{self, Read};

use crate::damage::limits::Limits;

/// See the module.
#[derive(Debug)]
pub(super) struct InputExpansion {
    expansion: u64,
    /// Bytes that were read as they are in the input.
    source: Cell<u64>,
    bytes: Cell<u64>,
    packets: Cell<u64>,
    is_cut: Cell<bool>,
}

impl InputExpansion {
    /// At the start of an input that may expand to so many times its size.
    pub(super) fn new(expansion: u64) -> Self {
        let (source, bytes, packets) = Default::default();
        Self { expansion, source, bytes, packets, is_cut: Cell::new(false) }
    }

    /// Returns whether something was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Adds bytes of the input.
    pub(super) fn add_source(&self, bytes: usize) {
        self.source.set(self.source.get() + bytes as u64);
    }

    /// Takes a packet. False if it does not fit.
    pub(super) fn take_packet(&self) -> bool {
        let fits = !self.is_cut() && self.packets.get() < self.limits().inflated_packets;
        self.packets.set(self.packets.get() + 1);
        self.is_cut.set(!fits);
        fits
    }

    /// A stream of the input's own bytes.
    pub(super) fn source<R: Read>(&self, stream: R) -> Counted<'_, R> {
        Counted { stream, inflated: self }
    }

    /// A stream of inflated bytes, which ends with an error where they do not fit.
    pub(super) fn limit<R: Read>(&self, stream: R) -> Limited<'_, R> {
        Limited { stream, inflated: self }
    }

    fn limits(&self) -> Limits {
        Limits::of_expansion(self.source.get(), self.expansion)
    }

    fn room(&self) -> u64 {
        let all = if self.is_cut() { 0 } else { self.limits().inflated_bytes };
        all.saturating_sub(self.bytes.get())
    }
}

/// See [`InputExpansion::source`].
pub(super) struct Counted<'a, R> {
    stream: R,
    inflated: &'a InputExpansion,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(to)?;
        self.inflated.add_source(count);
        Ok(count)
    }
}

/// See [`InputExpansion::limit`].
pub(super) struct Limited<'a, R> {
    stream: R,
    inflated: &'a InputExpansion,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.inflated.room()).unwrap_or(usize::MAX).min(to.len());
        if room > 0 || to.is_empty() {
            let count = self.stream.read(&mut to[..room])?;
            self.inflated.bytes.set(self.inflated.bytes.get() + count as u64);
            return Ok(count);
        }
        // A stream that ends here fits.
        match self.stream.read(&mut [0])? {
            0 => Ok(0),
            _ => {
                self.inflated.is_cut.set(true);
                Err(io::ErrorKind::FileTooLarge.into())
            }
        }
    }
}
