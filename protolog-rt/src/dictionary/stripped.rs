//! Dictionaries that were taken out of the program and that the text side asks for: files in the directory that the environment
//! variable `PROTOLOG_DICTIONARIES` names, called by their hash, as `protologtool generate-viewer-config --strip-to` writes
//! them.
//!
//! Invariants: a file is read once, when the first of its messages is printed, and stays in memory; what can't be read, or
//! is another dictionary than the name says, counts as not there; nobody waits for another thread that reads one.

use super::{fields, message_id};
use crate::sys::fork::{ForkLock, Order};
use protolog_core::schema::viewer_config;

/// A hash, and the dictionary; none where there is no such file.
type Known = (u64, Option<&'static [u8]>);

static READ: ForkLock<Vec<Known>> = ForkLock::new(Order::Dictionaries, Vec::new());

/// The message with this id in the dictionary with this hash.
pub(super) fn message(hash: u64, id: u64) -> Option<&'static [u8]> {
    let is_it = |message: &&'static [u8]| message_id(message) == Some(id);
    fields(dictionary(hash)?)
        .filter(|field| field.number == viewer_config::MESSAGES)
        .filter_map(|field| field.as_bytes().ok())
        .find(is_it)
}

fn dictionary(hash: u64) -> Option<&'static [u8]> {
    let mut read = READ.try_lock()?;
    if let Some((_, found)) = read.iter().find(|(known, _)| *known == hash) {
        return *found;
    }
    let found = open(hash);
    read.push((hash, found));
    found
}

fn open(hash: u64) -> Option<&'static [u8]> {
    let directory = std::env::var_os("PROTOLOG_DICTIONARIES")?;
    let path = std::path::Path::new(&directory).join(format!("{hash:016x}.pb"));
    let bytes = std::fs::read(path).ok()?;
    (protolog_core::hash(&bytes) == hash).then(|| &*bytes.leak())
}
