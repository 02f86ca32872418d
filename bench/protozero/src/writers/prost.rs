//! prost: structs that derive their encoding.

use prost::Message as _;

use crate::memory::{Fill, Job, SLOT, Slot, each};
use crate::record::{Message, Record, Records};

/// The message as a schema's compiler would put it.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EveryField {
    #[prost(int32, optional, tag = "1")]
    pub(crate) int32: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub(crate) int64: Option<i64>,
    #[prost(uint32, optional, tag = "3")]
    pub(crate) uint32: Option<u32>,
    #[prost(uint64, optional, tag = "4")]
    pub(crate) uint64: Option<u64>,
    #[prost(string, optional, tag = "500")]
    pub(crate) string: Option<String>,
    #[prost(message, optional, boxed, tag = "501")]
    pub(crate) nested: Option<Box<EveryField>>,
}

impl EveryField {
    /// The message with the values of `records`, each nested in the one before.
    pub(crate) fn new(records: &[Record]) -> Option<Self> {
        let (record, nested) = records.split_first()?;
        Some(Self {
            int32: Some(record.words[0] as i32),
            int64: Some(record.words[2] as i64),
            uint32: Some(record.words[1] as u32),
            uint64: Some(record.words[3]),
            string: Some(record.string.to_owned()),
            nested: Self::new(nested).map(Box::new),
        })
    }

    fn to_slot(&self, slot: &mut [u8; SLOT]) -> usize {
        let mut rest = &mut slot[..];
        match self.encode(&mut rest) {
            Ok(()) => SLOT - rest.len(),
            Err(_) => 0,
        }
    }
}

#[derive(Default)]
pub(crate) struct Whole;

impl Fill for Whole {
    fn simple(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        EveryField::new(&records[..1]).map_or(0, |message| message.to_slot(slot))
    }

    fn nested(&mut self, slot: &mut [u8; SLOT], records: &Message) -> usize {
        EveryField::new(records).map_or(0, |message| message.to_slot(slot))
    }
}

/// So many structs are encoded in turn: few enough that filling them takes no part of the time.
const PREPARED: usize = 16;

/// The structs are there, only encoding is left.
pub(crate) fn encode(job: Job, slots: &mut [Slot], records: &Records) -> usize {
    let (messages, levels) = (records.of(job.values), job.shape.levels());
    let messages: [EveryField; PREPARED] =
        std::array::from_fn(|turn| EveryField::new(&messages[turn][..levels]).unwrap_or_default());
    each(job, slots, |slot, turn| messages[turn % PREPARED].to_slot(slot))
}
