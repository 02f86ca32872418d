//! Merges the traces of several processes into one.
//!
//! Everything that is local to one trace is made global: sequences get new ids; clock snapshots for the whole trace come
//! first, in the order of time; the dictionaries become one. All other packets are copied unchanged in the order of the
//! inputs; readers sort them by time.
//!
//! Each input is read twice: first it is [surveyed](survey), so that contradictions are found before anything is written,
//! then it is copied.
//!
//! Invariants: only one packet is in memory at a time, in addition to sequence ids, clock snapshots and dictionaries. Each
//! message and group of the result has the same meaning in all inputs, or there is no result.

mod copy;
mod error;
mod input;
mod packet;
mod stream;
mod survey;

pub use error::MergeError;
pub use input::MergeInput;

use crate::packets::PacketWriter;
use copy::Copier;
use std::io::Write;
use stream::TraceEnd;
use survey::Survey;

/// The report of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Packets that were written.
    pub packets: u64,
    /// Sequences in the result.
    pub sequences: u32,
    /// Names of inputs that end within a packet, or are corrupt from some point on; the part before is in the result.
    pub truncated: Vec<String>,
    /// Packets that can't be decoded, which are not in the result.
    pub malformed: u64,
}

/// Merges `inputs` into one trace.
pub fn merge(inputs: &[&dyn MergeInput], out: &mut dyn Write) -> Result<Merged, MergeError> {
    let mut survey = Survey::default();
    for (index, input) in inputs.iter().enumerate() {
        survey.add_input(index, *input, inputs)?;
    }
    let mut to = PacketWriter::new(out);
    let mut copier = Copier::new(&mut survey, &mut to);
    copier.copy_snapshots()?;
    let mut truncated = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let end = copier.copy_input(index, *input)?;
        truncated.extend((end != TraceEnd::Whole).then(|| input.name().to_owned()));
    }
    let (packets, malformed) = (copier.packets, copier.malformed);
    Ok(Merged { packets, sequences: survey.sequences(), truncated, malformed })
}
