//! Packets and messages as they stand on the wire, without the state of their sequence.

pub(crate) mod message_fields;
pub(crate) mod trace_packet;
