//! Packets between chunks and files: their forms, counts and sequences, and the packets that
//! sessions make themselves.

pub(crate) mod bundles;
pub(crate) mod copied;
pub(crate) mod dictionary;
pub(crate) mod for_file;
pub(crate) mod gap;
pub(crate) mod message_counts;
pub(crate) mod messages;
pub(crate) mod own;
pub(crate) mod process_packet;
pub(crate) mod remains;
pub(crate) mod sequence_state;
