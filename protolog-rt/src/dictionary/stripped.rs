//! Stripped dictionaries, which the text output reads from files in the directory
//! `$PROTOLOG_DICTIONARIES`. Each file is named by its hash, as
//! `protologtool generate-viewer-config --from-binary PROGRAM --strip-to OTHER` writes it.
//!
//! Invariants: a file is read once, when the first of its messages is printed, and stays in memory.
//! A file that can't be read, or does not have the hash in its name, counts as missing. No thread
//! waits for another that reads one.

use super::{fields, message_id};
use crate::sys::environment::variable;
use crate::sys::file::open_without_waiting;
use crate::sys::fork::{ForkLock, Order};
use protolog_core::schema::viewer_config;
use std::io::Read as _;

/// A hash and its dictionary; none if there is no such file.
type StrippedDictionary = (u64, Option<&'static [u8]>);

static READ: ForkLock<Vec<StrippedDictionary>> = ForkLock::new(Order::Dictionaries, Vec::new());

/// Returns the message with this id from the dictionary with this hash.
pub(super) fn message(hash: u64, id: u64) -> Option<&'static [u8]> {
    let has_id = |message: &&'static [u8]| message_id(message) == Some(id);
    fields(dictionary(hash)?)
        .filter(|field| field.number == viewer_config::MESSAGES)
        .filter_map(|field| field.as_bytes().ok())
        .find(has_id)
}

fn dictionary(hash: u64) -> Option<&'static [u8]> {
    let mut read = READ.try_lock()?;
    if let Some((_, found)) = read.iter().find(|(other, _)| *other == hash) {
        return *found;
    }
    let found = open(hash);
    read.push((hash, found));
    found
}

/// The size of a dictionary that is read, in bytes; one that is cut off has another hash.
const MAX_BYTES: u64 = 256 << 20;

fn open(hash: u64) -> Option<&'static [u8]> {
    let directory = variable("PROTOLOG_DICTIONARIES")?;
    let path = std::path::Path::new(&directory).join(format!("{hash:016x}.pb"));
    let mut bytes = Vec::new();
    let file = open_without_waiting(&path).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    (protolog_core::hash(&bytes) == hash).then(|| &*bytes.leak())
}
