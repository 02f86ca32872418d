//! Messages of which another input has more: a stack trace, or a text that is not cut.
//!
//! The sessions of a program have a message at one time, but each has a stack trace of the groups
//! that it was asked for, and cuts texts where it was told to. So one that is of the same thread,
//! time, id and numbers is the same. Only inputs that have a stack trace or a text that may be cut
//! need this, and a further pass over them and those beside them.
//!
//! Invariants: of a message that is left out, another input has all, as far as the first bytes of a
//! cut text tell that it is the beginning of another one; where an input has two that
//! may be the same, as a coarse clock may give one time to, none of them counts as one elsewhere.

use super::error::MergeError;
use super::input_expansion::InputExpansion;
use super::merge_input::MergeInput;
use super::packet_place::{Fullness, Place, Places};
use super::packet_stream::{self, Piece, Stop};
use super::unbundled;
use crate::inputs::overlaps::{Others, Overlaps};
use crate::inputs::thread_ids::mix;
use foldhash::HashMap;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct FullerCopies(HashMap<(i64, u64), FullestCopy>);

/// The copy of a message that has most of it.
#[derive(Debug)]
struct FullestCopy {
    input: u32,
    fullness: Fullness,
    /// The latest input that has a copy.
    latest: u32,
    is_ambiguous: bool,
}

impl FullerCopies {
    /// Adds the messages of an input that others may have, too.
    pub(super) fn add_input(
        &mut self,
        index: usize,
        input: &dyn MergeInput,
        expansion: u64,
        overlaps: &mut Overlaps,
    ) -> Result<(), MergeError> {
        let failed = |stop: Stop| stop.into_error(input.name());
        let trace = input.open().map_err(|error| failed(error.into()))?;
        let (inflated, mut places) = (InputExpansion::new(expansion), Places::default());
        let visitor = &mut |piece: Piece<'_>| {
            let bytes = match piece {
                Piece::Packet(bytes) => bytes,
                Piece::Hole(_) => {
                    places.tear();
                    return Ok(());
                }
                Piece::Damage(_) | Piece::Other => return Ok(()),
            };
            unbundled::visit(bytes, (0, &inflated), &mut |found, _| {
                if let Ok(place) = places.next(&found.packet, found.beside_event) {
                    self.add(index, &place, overlaps);
                }
                Ok(())
            })
        };
        // Whoever copies it says how it ends.
        packet_stream::packets(trace, &inflated, visitor).map(drop).map_err(failed)
    }

    fn add(&mut self, index: usize, place: &Place, overlaps: &mut Overlaps) {
        let Some((key, fullness)) = key(index, place, overlaps) else { return };
        let input = index as u32;
        let copy = FullestCopy { input, fullness, latest: input, is_ambiguous: false };
        let Some(known) = self.0.get_mut(&key) else {
            self.0.insert(key, copy);
            return;
        };
        known.is_ambiguous |= known.latest == input;
        known.latest = input;
        if fullness.exceeds(&known.fullness) {
            (known.input, known.fullness) = (input, fullness);
        }
    }

    /// Returns whether another input has all of the message of this place, and more.
    pub(super) fn have(&self, index: usize, place: &Place, overlaps: &mut Overlaps) -> bool {
        if self.0.is_empty() {
            return false;
        }
        key(index, place, overlaps).is_some_and(|(key, fullness)| {
            self.0.get(&key).is_some_and(|known| {
                !known.is_ambiguous
                    && known.input != index as u32
                    && known.fullness.exceeds(&fullness)
            })
        })
    }
}

/// What a message is found by, if other inputs may have it.
fn key(index: usize, place: &Place, overlaps: &mut Overlaps) -> Option<((i64, u64), Fullness)> {
    let Place { origin, process, moment, .. } = *place;
    let fullness = place.fullness.filter(|_| !moment.guessed)?;
    let others: Others = overlaps.others(index, (origin, process), moment)?;
    let thread = others.thread(origin, moment);
    Some(((moment.ns, mix(fullness.identity ^ mix(thread))), fullness))
}
