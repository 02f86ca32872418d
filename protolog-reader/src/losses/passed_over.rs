//! Messages that sampling passed over. They are not lost: those that were kept stand for them, and
//! say at which rate ([`Entry::rate`](crate::Entry::rate)).

use protolog_core::Level;
use protolog_core::schema::passed_over;
use protozero::{DecodeError, Field};

/// The id of a group and a level, as far as they are known.
pub(crate) type Kind = (Option<u32>, Option<Level>);

/// Parses a record of `TracePacket.PASSED_OVER`: the kind of the messages, and their number.
pub(crate) fn parse(record: Field<'_>) -> Result<(Kind, u64), DecodeError> {
    let (mut group, mut level, mut count) = (None, None, 0);
    for field in record.as_message()? {
        let field = field?;
        match field.number {
            passed_over::GROUP_ID => group = Some(field.as_u32()?).filter(|id| *id != 0),
            passed_over::LEVEL => level = Level::from_wire(field.as_u64()?),
            passed_over::COUNT => count = field.as_u64()?,
            _ => {}
        }
    }
    Ok(((group, level), count))
}
