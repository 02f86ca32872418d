//! The counters of losses in the header of a recording: where each stands, and its key.
//!
//! Invariant: a place never moves. A cause that came later has one of its own, since the counters
//! by cause stand before others.

use super::SESSION_ID_AT;
use crate::loss::Unwritten;
use crate::schema::loss_cause;

/// Offset of the loss counters by group and cause.
pub const LOSSES_AT: usize = 256;
/// Number of loss counters by group and cause.
pub const LOSSES: usize = 64;
/// Offset of the loss counters by cause.
pub const OTHER_LOSSES_AT: usize = LOSSES_AT + 16 * LOSSES;
/// Number of loss counters by cause that stand there, from cause 1 up. The others have a place of
/// their own.
pub const OTHER_LOSSES: usize = 8;
/// Offset of the number of messages that another program removed from the trace file, a u64.
pub const REMOVED_AT: usize = SESSION_ID_AT + 16;
/// Offset of the number of messages that a limit suppressed, of groups without a counter, a u64.
pub const LIMITED_AT: usize = REMOVED_AT + 8;

/// Offset of the number of messages that sampling passed over, of groups without a counter, a u64.
pub const PASSED_OVER_AT: usize = LIMITED_AT + 8;

/// Offset of the number of messages that said the same as the one before, of groups without a
/// counter, a u64.
pub const REPEATED_AT: usize = PASSED_OVER_AT + 8;

const _: () = assert!(REPEATED_AT + 8 <= LOSSES_AT);

/// The number of [`PASSED_OVER_AT`].
const PASSED_OVER: u32 = Unwritten::PassedOver(None).number();

const LOSS_USED: u64 = 1 << 63;

/// The offset of the counter of losses by a cause; none if this version has no such cause.
pub const fn other_losses_at(cause: u32) -> Option<usize> {
    match cause {
        loss_cause::REMOVED => Some(REMOVED_AT),
        loss_cause::LIMITED => Some(LIMITED_AT),
        loss_cause::REPEATED => Some(REPEATED_AT),
        PASSED_OVER => Some(PASSED_OVER_AT),
        1.. if cause as usize <= OTHER_LOSSES => Some(OTHER_LOSSES_AT + 8 * (cause as usize - 1)),
        _ => None,
    }
}

/// The key of a loss counter; never 0.
pub const fn loss_key(group: u32, cause: u32) -> u64 {
    LOSS_USED | (group as u64) << 8 | cause as u64 & 0xff
}

/// The group and the cause of a loss counter's key; none if the counter is unused.
pub const fn parse_loss_key(key: u64) -> Option<(u32, u32)> {
    if key & LOSS_USED == 0 { None } else { Some(((key >> 8) as u32, key as u32 & 0xff)) }
}
