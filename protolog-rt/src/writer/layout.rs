//! The bytes of a message's packet, in hexadecimal, and their tags.
//!
//! ```text
//! n                                       size of the packet; all that follows
//! 40 delta                                timestamp: nanoseconds since the message before
//! [62 n {a2 02 n {08 iid 12 n text}}…]    interned_data: strings that the chunk does not have yet, and their ids
//! [68 02]                                 sequence_flags: with strings, the packet needs what the chunk set up before
//! c2 06 n                                 protolog_message
//!   09 id                                 message_id
//!   {10 iid | 18 int | 21 float | 28 bool}…
//!   [c0 3e bits]                          ours: which arguments are unsigned, where it shows
//! ```
//!
//! `docs/design/wire-format.md` describes how readers interpret them.

use protolog_core::schema;
use protozero::wire::{WireType, packed_varint, tag};

pub(super) const TIMESTAMP: u8 = tag(schema::packet::TIMESTAMP, WireType::Varint) as u8;
pub(super) const INTERNED_DATA: u8 = tag(schema::packet::INTERNED_DATA, WireType::Bytes) as u8;
pub(super) const STRING_ARGS: u128 =
    packed_varint(tag(schema::interned_data::PROTOLOG_STRING_ARGS, WireType::Bytes) as u64).0;
pub(super) const STRING_ARGS_LEN: usize = 2;
pub(super) const IID: u8 = tag(schema::interned_string::IID, WireType::Varint) as u8;
pub(super) const STR: u8 = tag(schema::interned_string::STR, WireType::Bytes) as u8;
/// The field `sequence_flags` of a packet with strings.
pub(super) const NEEDS_STATE: [u8; 2] = [
    tag(schema::packet::SEQUENCE_FLAGS, WireType::Varint) as u8,
    schema::sequence_flags::NEEDS_INCREMENTAL_STATE as u8,
];
pub(super) const MESSAGE: u128 =
    packed_varint(tag(schema::packet::PROTOLOG_MESSAGE, WireType::Bytes) as u64).0;
pub(super) const MESSAGE_LEN: usize = 2;
pub(super) const MESSAGE_ID: u8 = tag(schema::message::MESSAGE_ID, WireType::Fixed64) as u8;
pub(super) const INT_PARAM: u8 = tag(schema::message::SINT64_PARAMS, WireType::Varint) as u8;
pub(super) const FLOAT_PARAM: u8 = tag(schema::message::DOUBLE_PARAMS, WireType::Fixed64) as u8;
pub(super) const BOOL_PARAM: u8 = tag(schema::message::BOOLEAN_PARAMS, WireType::Varint) as u8;
pub(super) const STRING_PARAM: u8 = tag(schema::message::STR_PARAM_IIDS, WireType::Varint) as u8;
pub(super) const UNSIGNED: u128 =
    packed_varint(tag(schema::message::UNSIGNED, WireType::Varint) as u64).0;
pub(super) const UNSIGNED_LEN: usize = 2;
