//! Packets on their way, as they are.

#[path = "../../../../src/session/packets/copied.rs"]
pub(crate) mod copied;
#[path = "../../../../src/session/packets/sequence_state.rs"]
pub(crate) mod sequence_state;
