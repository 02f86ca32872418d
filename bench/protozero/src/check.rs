//! All writers say the same, or nothing is measured.

use prost::Message as _;

use crate::memory::{Job, SLOT, Shape, Slot};
use crate::record::{Records, Values};
use crate::writers::{EveryField, WRITERS, Writer};

/// Has every writer write every message, and decodes the bytes with prost.
///
/// Left out are the floor, which writes no protobuf, and the one that writes elsewhere.
pub(crate) fn all_agree() -> Result<(), String> {
    let mut records = Records::new();
    for writer in WRITERS.iter().filter(|writer| writer.encodes_to_slots) {
        for shape in [Shape::Simple, Shape::Nested] {
            agrees(writer, shape, Values::Seed, &records)?;
            for _ in 0..records.varied.len() {
                agrees(writer, shape, Values::Varied, &records)?;
                records.varied.rotate_left(1);
            }
        }
    }
    Ok(())
}

/// Checks the message that comes first.
fn agrees(writer: &Writer, shape: Shape, values: Values, records: &Records) -> Result<(), String> {
    let mut slots = [Slot([0; SLOT])];
    let len = (writer.run)(Job { shape, values, passes: 1 }, &mut slots, records);
    let bytes = slots[0].0.get(..len).unwrap_or_default();
    let expected = EveryField::new(&records.of(values)[0][..shape.levels()]);
    if len > 0 && EveryField::decode(bytes).ok() == expected {
        return Ok(());
    }
    Err(format!("`{}` writes a wrong {shape} message: {bytes:02x?}", writer.name))
}
