//! A session, as its process reports it.

use protolog_core::FillPolicy;
use protolog_core::control::byte_limit::ByteLimit;
use std::collections::BTreeMap;

/// A session of a target process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// True if an operator started it, false if the program did.
    pub control: bool,
    /// The fill policy of its buffer.
    pub fill_policy: FillPolicy,
    /// The file that it writes, now or in the end; none if it is in memory only.
    pub file: Option<String>,
    /// The limit of its bytes, if it has one.
    pub limit: Option<ByteLimit>,
    /// The levels that it enables (bit = severity), by full name of the group; groups that it does
    /// not record are not there.
    pub groups: BTreeMap<String, u8>,
}
