//! The process and thread of a sequence, as its packets name them.

use protolog_core::schema::sequence_info;
use protozero::{DecodeError, Field};

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Empty if it has none.
    pub(crate) name: String,
}

impl Thread {
    /// Parses `SEQUENCE_INFO`.
    pub(crate) fn parse(info: Field<'_>) -> Result<Self, DecodeError> {
        let mut thread = Self::default();
        for field in info.as_message()? {
            let field = field?;
            match field.number {
                sequence_info::PID => thread.pid = field.as_u32()?,
                sequence_info::TID => thread.tid = field.as_u32()?,
                sequence_info::THREAD_NAME => {
                    thread.name = String::from_utf8_lossy(field.as_bytes()?).into_owned();
                }
                _ => {}
            }
        }
        Ok(thread)
    }
}
