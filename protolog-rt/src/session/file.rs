//! A trace file in the making: packets become `Trace.packet` fields with the id of their sequence.
//!
//! The file grows as the session goes on, under its own name: what is written before a crash can be read, since every
//! packet is whole but the last, which readers drop.
//!
//! Invariant: after the first error nothing more is written, and the error is kept.

use super::running::Claim;
use crate::error::Error;
use crate::sync::{AtomicU32, Ordering};
use protolog_core::schema::{packet, trace};
use protozero::wire::{WireType, packed_varint, tag};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many bytes are gathered before they are written.
const BUFFER: usize = 256 * 1024;

const PACKET: u8 = tag(trace::PACKET, WireType::Bytes) as u8;
const SEQUENCE_ID: u8 = tag(packet::TRUSTED_PACKET_SEQUENCE_ID, WireType::Varint) as u8;

/// See the module.
#[derive(Debug)]
pub(super) struct TraceFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    written: u64,
    error: Option<io::Error>,
    _claim: Option<Claim>,
    /// The name that the file gets when it is whole.
    name: Option<PathBuf>,
}

impl TraceFile {
    /// Makes the file, or empties the one that is there, which no other session may be writing.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = open.map_err(failed)?;
        let claim = Claim::new(&file).map_err(failed)?;
        let Some(claim) = claim else { return Err(Error::FileInUse { path: path.to_path_buf() }) };
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            file.set_len(0).map_err(failed)?;
        }
        let buffer = Vec::with_capacity(BUFFER + 64 * 1024);
        Ok(Self {
            path: path.to_path_buf(),
            file,
            buffer,
            written: 0,
            error: None,
            _claim: Some(claim),
            name: None,
        })
    }

    /// Makes a file that appears under its name when it is finished, and not at all where that fails.
    pub(super) fn whole(path: &Path) -> Result<Self, Error> {
        // Through links; and what is no file, such as a pipe, is not to be replaced.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Self::create(path);
        }
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{number}.part", std::process::id()));
        let part = PathBuf::from(name);
        let failed = |error| Error::File { path: path.clone(), error };
        let file = File::create(&part).map_err(failed)?;
        let buffer = Vec::with_capacity(BUFFER + 64 * 1024);
        let name = Some(path.clone());
        Ok(Self { path: part, file, buffer, written: 0, error: None, _claim: None, name })
    }

    /// Appends a packet of sequence `sequence`.
    pub(super) fn packet(&mut self, sequence: u32, bytes: &[u8]) {
        let (id, id_len) = packed_varint(sequence as u64);
        let (size, size_len) = packed_varint((bytes.len() + 1 + id_len) as u64);
        self.buffer.push(PACKET);
        self.buffer.extend_from_slice(&size.to_le_bytes()[..size_len]);
        self.buffer.extend_from_slice(bytes);
        self.buffer.push(SEQUENCE_ID);
        self.buffer.extend_from_slice(&id.to_le_bytes()[..id_len]);
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Hands everything to the system.
    pub(super) fn flush(&mut self) {
        if self.error.is_none() {
            match self.file.write_all(&self.buffer) {
                Ok(()) => self.written += self.buffer.len() as u64,
                Err(error) => self.error = Some(error),
            }
        }
        self.buffer.clear();
    }

    /// Whether writing failed.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Hands everything to the system and gives the size of the file, or what went wrong first.
    pub(super) fn finish(mut self) -> Result<u64, Error> {
        self.flush();
        if let (None, Some(name)) = (&self.error, &self.name) {
            self.error = std::fs::rename(&self.path, name).err();
        }
        match self.error.take() {
            None => {
                self.name = None;
                Ok(self.written)
            }
            Some(error) => {
                let path = self.name.as_ref().unwrap_or(&self.path).clone();
                Err(Error::File { path, error })
            }
        }
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        if self.name.is_some() {
            // It was not finished.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
