//! Dictionaries as files: read and written in each [`Format`].
//!
//! Above both the dictionary and its formats, which do not know each other's readers.

use crate::{Collected, Collector, Dictionary, Format, ReadError, gzip, json, pb};

impl Dictionary {
    /// Reads a dictionary of any [`Format`], which is recognized by its content. Contradictions are
    /// an error; a repaired problem is reported beside the dictionary.
    pub fn read(bytes: &[u8]) -> Result<Collected, ReadError> {
        Self::read_as(Format::of_content(bytes), bytes)
    }

    /// As [`read`](Self::read), for bytes of a known format.
    pub fn read_as(format: Format, bytes: &[u8]) -> Result<Collected, ReadError> {
        let mut collector = Collector::new();
        collector.read_as(format, bytes)?;
        Ok(collector.finish()?)
    }

    /// The bytes of a file of this format: the same for the same dictionary, always.
    pub fn to_bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Pb => pb::write(self),
            Format::Json => json::write(self),
            Format::JsonGz => gzip::compress(&json::write(self)),
        }
    }

    /// The name of this dictionary in the program that it was extracted from: the XXH3-64 of its
    /// bytes in protobuf.
    pub fn hash(&self) -> u64 {
        protolog_core::hash(&self.to_bytes(Format::Pb))
    }
}

impl Collector {
    /// Adds the content of a file, which says its format. After an error, the entries before it
    /// have been added.
    ///
    /// In a trace a dictionary may be cut into several packets, messages before groups: those of
    /// one sequence belong together, and joined end to end they are one file.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.read_as(Format::of_content(bytes), bytes)
    }

    /// As [`read`](Self::read), for bytes of a known format.
    pub fn read_as(&mut self, format: Format, bytes: &[u8]) -> Result<(), ReadError> {
        match format {
            Format::Pb => pb::read(self, bytes),
            Format::Json => json::read(self, bytes),
            Format::JsonGz => json::read(self, &gzip::expand(bytes)?),
        }
    }
}
