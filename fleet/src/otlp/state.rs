//! The place up to which each trace was sent, in a file, so that a later run goes on there.
//!
//! Invariants: what the file says was accepted by the collector, or refused for good; it is
//! replaced whole, and has its bytes on the disk before it has its name; one process uses it at a
//! time.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protolog_files::{Location, OutputAccess, StagedFile, open_regular_file};
use serde::{Deserialize, Serialize};

use super::upkeep::Upkeep;
use crate::failure::{Failure, Result};

/// The mode of the file.
const MODE: u32 = 0o600;

/// The file is written this often while records are sent: a run that is killed sends again what it
/// sent since.
const INTERVAL: Duration = Duration::from_millis(200);

/// A trace is forgotten when it was not there for so many seconds.
const MEMORY: u64 = 30 * 86_400;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct State {
    path: Option<PathBuf>,
    sent: BTreeMap<String, Sent>,
    is_changed: bool,
    written: Option<Instant>,
    upkeep: Upkeep,
    /// Is locked as long as this is.
    _lock: Option<File>,
}

/// The place up to which one trace was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    /// The bytes of the trace whose items were all sent.
    #[serde(default)]
    pub(super) bytes: u64,
    /// The items that were sent of the next part, or of a trace that is read whole; in the order of
    /// time.
    #[serde(default)]
    pub(super) items: u64,
    /// The source of these items, which has to be the same: the bytes of the part, the size of the
    /// trace, or a hash of a recording.
    #[serde(default)]
    pub(super) of: u64,
    /// When that was, or when the trace was last there, in seconds since 1970.
    #[serde(default)]
    pub(super) time: u64,
}

/// The place up to which a trace is sent.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) source: Arc<str>,
    pub(super) sent: Sent,
}

impl State {
    /// The state in a file; without one, nothing is kept. With patience, one that can't be written
    /// is no failure before the end.
    pub(super) fn load(path: Option<&Path>, is_patient: bool) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let upkeep = Upkeep::new(is_patient);
        let lock = Some(locked(path)?);
        let sent = match open_regular_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(Failure::cant_read(path, &error)),
            Ok(file) => serde_json::from_reader(BufReader::new(file)).map_err(|error| {
                Failure::cant_read(path, &error).help("remove it to send everything again")
            })?,
        };
        let path = Some(path.to_owned());
        Ok(Self { path, sent, is_changed: false, written: None, upkeep, _lock: lock })
    }

    /// Returns the place up to which each trace was sent.
    pub(super) fn sent(&self) -> &BTreeMap<String, Sent> {
        &self.sent
    }

    /// Notes how far traces were sent.
    pub(super) fn note(&mut self, marks: &[Mark]) {
        let time = now();
        for Mark { source, sent } in marks {
            self.sent.insert(source.to_string(), Sent { time, ..*sent });
            self.is_changed = true;
        }
    }

    /// Writes the file, if anything changed and it was not written for a while.
    pub(super) fn save_if_due(&mut self) -> Result<()> {
        if self.written.is_some_and(|written| written.elapsed() < INTERVAL) {
            return Ok(());
        }
        let saved = self.save();
        self.upkeep.take(saved).map(drop)
    }

    /// Writes the file, if anything changed.
    pub(super) fn save(&mut self) -> Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let Some(path) = &self.path else { return Ok(()) };
        let now = now();
        self.sent.retain(|_, sent| sent.time.saturating_add(MEMORY) > now);
        let written = (|| {
            let place = Location::of_new(path)?;
            let (staged, mut file) = StagedFile::new(&place, ".protolog-", MODE)?;
            file.write_all(&serde_json::to_vec(&self.sent)?)?;
            file.sync_data()?;
            staged.commit(&place)
        })();
        self.written = Some(Instant::now());
        self.is_changed = written.is_err();
        written.map_err(|error| Failure::cant_write(path, &error))
    }
}

/// Locks the file beside the state that stands for it: the state itself is replaced.
fn locked(path: &Path) -> Result<File> {
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let place = Location::of_new(&lock);
    let opened = place.and_then(|place| place.open_or_create(OutputAccess::Write, MODE));
    let file = opened.map_err(|error| Failure::cant_write(&lock, &error))?.file;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("`{}` is in use by another run", path.display());
            Err(Failure::new(message).help("give each run a state of its own"))
        }
        Err(TryLockError::Error(error)) => Err(Failure::cant_write(&lock, &error)),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
