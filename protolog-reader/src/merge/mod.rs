//! Merges the traces of several processes into one.
//!
//! Everything that is local to one trace is made global: sequences get new ids; clock snapshots for
//! the whole trace come first, in the order of time; the dictionaries become one. All other packets
//! are copied in the order of the inputs; readers sort them by time. A message, event or loss that
//! several inputs have is copied once ([`overlaps`](crate::inputs::overlaps)).
//!
//! Each input is read twice: first it is [surveyed](survey), so that contradictions are found
//! before anything is written, then it is copied. Where one may have more of a message than another
//! one, those that may have it are [read](mod@fuller_copies) in between.
//!
//! Invariants: only one packet is in memory at a time, in addition to sequence ids, clock
//! snapshots, dictionaries, and about 100 bytes for each message of a thread and a time that a
//! later input has too; 220 and more where one of the inputs has a stack trace or a cut text. Each
//! message and group of the result has the same meaning in all inputs, or there is no result.

mod changes;
mod copier;
mod error;
mod fuller_copies;
mod given_dictionaries;
mod held_packets;
mod input_expansion;
mod logged_content;
mod merge_input;
mod packet_contents;
mod packet_place;
mod packet_stream;
mod processes_apart;
mod survey;
mod unbundled;

pub use error::MergeError;
pub use merge_input::MergeInput;
pub(crate) use packet_contents::{encoded, fields};

use crate::damage::limits::Limits;
use crate::damage::{hole, resync};
use crate::sequences::sessions;
use copier::Copier;
use fuller_copies::FullerCopies;
use given_dictionaries::GivenDictionaries;
use input_expansion::InputExpansion;
use packet_stream::TraceEnd;
use protolog_recording::PacketWriter;
use std::io::Write;
use survey::Survey;
use viewer_config::Dictionary;

/// The report of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Packets that were written.
    pub packets: u64,
    /// Sequences in the result.
    pub sequences: u32,
    /// Names of inputs that end within a packet, or are corrupt from some point on; the part before
    /// is in the result.
    pub truncated: Vec<String>,
    /// Names of inputs that expand to more than their limit; compressed parts of the rest are left
    /// out.
    pub cut: Vec<String>,
    /// Sentences about inputs that [may be left out](MergeInput::may_be_left_out), and were.
    pub left_out: Vec<String>,
    /// Packets that can't be decoded; of each, the part before the damage is in the result, as
    /// readers read it.
    pub malformed: u64,
    /// Elements of dictionaries that can't be decoded, which are not in the result.
    pub malformed_elements: u64,
    /// Messages that are not in the result again, since it has them from another input.
    pub duplicates: u64,
    /// Records of losses that are not in the result again, since it has them from another input.
    pub duplicate_losses: u64,
    /// Bytes that were skipped, since other programs truncated files while they were written.
    pub skipped_bytes: u64,
    /// Bytes that were skipped, since they are damaged.
    pub damaged_bytes: u64,
    /// Ids of processes whose session has a beginning and no end: they were killed, or are still
    /// running.
    pub unended: Vec<u32>,
    /// Hashes of dictionaries of stripped programs that were not there.
    pub missing_dictionaries: Vec<u64>,
}

impl Merged {
    /// Returns whether all of the inputs could be read.
    pub fn is_whole(&self) -> bool {
        let skipped = self.skipped_bytes + self.damaged_bytes;
        self.truncated.is_empty()
            && self.cut.is_empty()
            && self.left_out.is_empty()
            && self.malformed + self.malformed_elements + skipped == 0
    }

    /// Sentences about parts that are missing for another reason than that an input is truncated or
    /// malformed.
    pub fn gaps(&self) -> Vec<String> {
        let hole = (self.skipped_bytes > 0).then(|| hole::describe(self.skipped_bytes));
        let unended = self.unended.iter().map(|pid| sessions::describe_unended(*pid));
        let damage = (self.damaged_bytes > 0).then(|| resync::describe(self.damaged_bytes));
        hole.into_iter().chain(damage).chain(unended).collect()
    }
}

/// Merges `inputs` into one trace.
pub fn merge(inputs: &[&dyn MergeInput], out: &mut dyn Write) -> Result<Merged, MergeError> {
    merge_within(inputs, Limits::EXPANSION, out)
}

/// As [`merge()`], where each input may expand to so many times its size; see
/// [`Limits::of_expansion`].
pub fn merge_within(
    inputs: &[&dyn MergeInput],
    expansion: u64,
    out: &mut dyn Write,
) -> Result<Merged, MergeError> {
    merge_with_dictionaries(inputs, expansion, (&[], &mut |_| None), out)
}

/// As [`merge_within`], with texts that no input has from dictionaries, and from those that a
/// function finds by their hash, as those of stripped programs. They become a part of the result.
pub fn merge_with_dictionaries(
    inputs: &[&dyn MergeInput],
    expansion: u64,
    (files, find): (&[Dictionary], &mut dyn FnMut(u64) -> Option<Dictionary>),
    out: &mut dyn Write,
) -> Result<Merged, MergeError> {
    let mut survey = Survey::default();
    let (mut left_out, mut chosen) = (Vec::new(), Vec::new());
    for (index, input) in inputs.iter().enumerate() {
        let snapshots = survey.snapshots.len();
        match survey.add_input(index, *input, inputs, expansion) {
            Ok(()) => chosen.push((index, input)),
            Err(error) if input.may_be_left_out() && error.is_of_one_input() => {
                survey.snapshots.truncate(snapshots);
                left_out.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    survey.finish(inputs)?;
    let fuller = fuller_copies(&chosen, expansion, &mut survey)?;
    let mut to = PacketWriter::new(out);
    let given = GivenDictionaries::new(&survey, files, find);
    let mut copier = Copier::new(&mut survey, (fuller, given), &mut to);
    copier.copy_snapshots()?;
    copier.write_given()?;
    let (mut truncated, mut cut) = (Vec::new(), Vec::new());
    for (index, input) in chosen {
        let inflated = InputExpansion::new(expansion);
        let end = match copier.copy_input(index, *input, &inflated) {
            Ok(end) => end,
            // It was there when it was surveyed.
            Err(MergeError::Read { input: name, error }) if input.may_be_left_out() => {
                left_out
                    .push(format!("a part of `{name}`, which can't be read any more ({error})"));
                continue;
            }
            Err(error) => return Err(error),
        };
        let name = || input.name().to_owned();
        cut.extend(inflated.is_cut().then(name));
        truncated.extend((end != TraceEnd::Whole && !inflated.is_cut()).then(name));
    }
    let merged = Merged {
        packets: copier.packets,
        sequences: 0,
        truncated,
        cut,
        left_out,
        malformed: copier.malformed,
        malformed_elements: copier.malformed_elements,
        duplicates: copier.duplicates,
        duplicate_losses: copier.duplicate_losses,
        skipped_bytes: copier.skipped_bytes,
        damaged_bytes: copier.damaged_bytes,
        unended: copier.sessions.unended(),
        missing_dictionaries: copier.given.missing.into_iter().collect(),
    };
    Ok(Merged { sequences: survey.sequences(), ..merged })
}

/// The messages of which one of several inputs has more than others.
fn fuller_copies(
    inputs: &[(usize, &&dyn MergeInput)],
    expansion: u64,
    survey: &mut Survey,
) -> Result<FullerCopies, MergeError> {
    let mut fuller = FullerCopies::default();
    if !survey.has_unequal() {
        return Ok(fuller);
    }
    for (index, input) in inputs {
        if !survey.is_concerned(*index) {
            continue;
        }
        match fuller.add_input(*index, **input, expansion, &mut survey.overlaps) {
            // The copier says so, too.
            Err(MergeError::Read { .. }) if input.may_be_left_out() => {}
            added => added?,
        }
    }
    Ok(fuller)
}
