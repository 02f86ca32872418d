//! Losses, and what sampling passed over, as packets of a made trace.
//!
//! Invariant: what a reader had found itself in the exported trace is told in the made one.

use std::io;

use protolog_core::LossCause;
use protolog_core::schema::{loss, loss_cause, packet, passed_over};
use protolog_reader::LossReason;

use super::super::items::ItemRow;
use super::{ThreadName, TraceMaker, level_of, set_time};

/// The number of a cause that this program does not know.
const UNKNOWN_CAUSE: u32 = 99;

impl TraceMaker<'_> {
    /// Writes the record of a loss.
    pub(super) fn write_loss(&mut self, item: ItemRow<'_>, name: &ThreadName) -> io::Result<()> {
        let Some(sequence) = self.threads.get(name).map(|thread| thread.sequence) else {
            return Ok(());
        };
        let group = item.text("log_group").map(|name| self.group(name)).transpose()?;
        let cause = cause_of(item.text("reason").unwrap_or_default());
        self.to.write_with(sequence, |packet| {
            set_time(packet, item);
            let mut record = packet.nested(packet::LOSS);
            if let Some(group) = group {
                record.uint32(loss::GROUP_ID, group);
            }
            record.uint32(loss::CAUSE, cause);
            if let Some(count) = item.int("count") {
                record.uint64(loss::COUNT, count as u64);
            }
            // Their clock is that of the packet: BOOTTIME.
            if let Some(duration) = item.int("duration") {
                let last = item.trace_time();
                record.uint64(loss::FIRST, last.wrapping_sub(duration) as u64);
                record.uint64(loss::LAST, last as u64);
            }
        })
    }

    /// Writes the record of what sampling passed over.
    pub(super) fn write_passed_over(
        &mut self,
        item: ItemRow<'_>,
        name: &ThreadName,
    ) -> io::Result<()> {
        let Some(sequence) = self.threads.get(name).map(|thread| thread.sequence) else {
            return Ok(());
        };
        let group = item.text("log_group").map(|name| self.group(name)).transpose()?;
        let level = item.text("level").and_then(level_of);
        self.to.write_with(sequence, |packet| {
            set_time(packet, item);
            let mut record = packet.nested(packet::PASSED_OVER);
            if let Some(group) = group {
                record.uint32(passed_over::GROUP_ID, group);
            }
            if let Some(level) = level {
                record.uint32(passed_over::LEVEL, level.wire());
            }
            record.uint64(passed_over::COUNT, item.int("passed_over").unwrap_or(0) as u64);
        })
    }
}

/// The number of a reason for a loss, by its name.
fn cause_of(reason: &str) -> u32 {
    for (found, number) in [
        (LossReason::Dropped, loss_cause::FOUND_DROPPED),
        (LossReason::MissingState, loss_cause::FOUND_MISSING_STATE),
        (LossReason::Malformed, loss_cause::FOUND_MALFORMED),
    ] {
        if found.name() == reason {
            return number;
        }
    }
    let known = LossCause::ALL.into_iter().find(|cause| cause.name() == reason);
    known.map_or(UNKNOWN_CAUSE, |cause| cause as u32)
}
