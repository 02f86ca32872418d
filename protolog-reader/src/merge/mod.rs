//! Traces of several processes as one.
//!
//! What counts within one trace only is made to count in all: sequences get new ids; clock snapshots that count for the
//! whole trace come first, in the order of time; the dictionaries become one. All else stays as it is, in the order of the
//! inputs; readers sort by time.
//!
//! Each input is read twice: first it is [surveyed](survey), so that what contradicts itself is found before anything is
//! written, then copied.
//!
//! Invariants: one packet is in memory at a time; beside it sequences, clock snapshots and dictionaries are. A message or
//! group of the result has one meaning in all inputs, or there is no result.

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

/// What was merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Packets that were written.
    pub packets: u64,
    /// Sequences in the result.
    pub sequences: u32,
    /// Names of inputs that end within a packet, or go on with what is none; what came before is in the result.
    pub cut: Vec<String>,
    /// Packets that can't be read. They are not in the result.
    pub malformed: u64,
}

/// Writes one trace that says what all `inputs` say.
pub fn merge(inputs: &[&dyn MergeInput], out: &mut dyn Write) -> Result<Merged, MergeError> {
    let mut survey = Survey::default();
    for (index, input) in inputs.iter().enumerate() {
        survey.input(index, *input, inputs)?;
    }
    let mut to = PacketWriter::new(out);
    let mut copy = Copier::new(&mut survey, &mut to);
    copy.snapshots()?;
    let mut cut = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let end = copy.input(index, *input)?;
        cut.extend((end != TraceEnd::Whole).then(|| input.name().to_owned()));
    }
    let (packets, malformed) = (copy.packets, copy.malformed);
    Ok(Merged { packets, sequences: survey.sequences(), cut, malformed })
}
