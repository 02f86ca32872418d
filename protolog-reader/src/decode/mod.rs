//! Decodes bytes to the records of a log: packets one after the other, each with the state of its
//! sequence.
//!
//! A [decoder](decoder::Decoder) walks the packets; [what it has collected](collect::Collected)
//! becomes a log.

pub(crate) mod collect;
pub(crate) mod compact;
pub(crate) mod decoder;
pub(crate) mod entry_choice;
pub(crate) mod plain_message;
pub(crate) mod record_order;
pub(crate) mod segment;
pub(crate) mod segment_order;
pub(crate) mod value_fit;
