//! The counts in a file beside the state, so that a later run goes on with them: no counter gets
//! less when a trace is removed while nothing runs.
//!
//! Invariant: the file has at least what was published with its start.

use std::collections::BTreeMap;
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use protolog_files::{Location, StagedFile, open_regular_file};
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::rows::Row;
use crate::failure::{Failure, Result};

/// The mode of the file.
const MODE: u32 = 0o600;

/// The content of the file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    /// When counting began, in nanoseconds since 1970.
    pub(super) start: u64,
    /// The rows by their numbers, and those of histograms.
    pub(super) rows: Vec<Row>,
    pub(super) histograms: Vec<Row>,
    /// The counts of traces that are gone for good.
    pub(super) settled: Counts,
    /// The counts that were published last.
    #[serde(default)]
    pub(super) total: Counts,
    pub(super) traces: BTreeMap<String, SavedTrace>,
}

/// The counts of a trace.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedTrace {
    pub(super) counts: Counts,
    /// The time of the last item that is counted, by the clock of the trace.
    pub(super) last: i64,
    /// When it was last there, in seconds since 1970.
    #[serde(default)]
    pub(super) seen: u64,
}

/// The path of the file that belongs to a state.
pub(super) fn path_beside(state: &Path) -> PathBuf {
    let mut path = state.as_os_str().to_owned();
    path.push(".metrics");
    path.into()
}

impl Saved {
    /// Reads the file; none if there is none yet.
    pub(super) fn load(path: &Path) -> Result<Option<Self>> {
        let file = match open_regular_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::cant_read(path, &error)),
            Ok(file) => file,
        };
        let help = "remove it to begin to count again";
        let failed = |error: &dyn std::fmt::Display| Failure::cant_read(path, error).help(help);
        let saved = serde_json::from_reader::<_, Self>(BufReader::new(file));
        let saved = saved.map_err(|error| failed(&error))?;
        let (rows, histograms) = (saved.rows.len(), saved.histograms.len());
        let fit = |counts: &Counts| counts.fit(rows, histograms);
        if !fit(&saved.settled)
            || !fit(&saved.total)
            || !saved.traces.values().all(|trace| fit(&trace.counts))
        {
            return Err(failed(&"counts have no row"));
        }
        Ok(Some(saved))
    }

    /// Writes the file.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let written = (|| {
            let place = Location::of_new(path)?;
            let (staged, mut file) = StagedFile::new(&place, ".protolog-", MODE)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_data()?;
            staged.commit(&place)
        })();
        written.map_err(|error| Failure::cant_write(path, &error))
    }
}
