//! A packet that does not fit a chunk: it goes on in the next ones, in fragments.
#![allow(unsafe_code)] // A cursor over a scratch buffer.

use super::cursor::{Cursor, SLACK};
use super::intern::Interner;
use super::own::{Own, SharedMoment};
use super::packet::Packet;
use super::plan::{Base, Plan, size_field};
use super::{Head, Writer};
use crate::loss::LossCause;
use protolog_shmem::PAGE;

/// The most bytes of a message without its strings, and of the fields around each string.
const MAX_WITHOUT_STRINGS: usize = 1024;
const MAX_AROUND_STRING: usize = 32;

/// The most bytes before a packet of one chunk.
const SIZE_FIELD: usize = 4;

impl Own {
    /// Writes a packet that does not fit a chunk, from the present chunk on; or one that does, into
    /// a new chunk that was closed the moment it was begun, because a session starts or stops.
    /// False where the buffer is full; the written part of the packet is then marked as abandoned.
    #[cold]
    pub(super) fn write_split<P: Packet>(
        &mut self,
        writer: &Writer,
        head: Head,
        packet: &P,
        shared: SharedMoment,
    ) -> bool {
        self.close(writer);
        let (plan, measured) = self.plan_split(packet, shared);
        let size = packet.size(&plan);
        if self.write_whole(head, packet, (&plan, measured)) {
            count_cut(writer, head, &plan);
            self.allow(writer);
            return true;
        }
        let mut scratch = Vec::new();
        if scratch.try_reserve_exact(size + SLACK).is_err() {
            return self.write_cut(writer, head, packet, shared);
        }
        scratch.resize(size + SLACK, 0);
        // SAFETY: the scratch has `size` bytes and SLACK; *planned*: the packet takes `size` bytes.
        let mut to = unsafe { Cursor::new(scratch.as_mut_ptr(), size) };
        // Its strings are not remembered: they are in two chunks, and the next one begins anew.
        packet.encode(&mut to, head.id, (&plan, measured), Interner::forgetful(self.next_iid));
        scratch.truncate(size);
        self.last += plan.delta();
        if !self.append_split(writer, &scratch) {
            return false;
        }
        count_cut(writer, head, &plan);
        self.resume(writer, shared);
        true
    }

    /// Writes a packet with its strings cut so that the chunk has room for it, for want of memory
    /// for more. False where it has none.
    fn write_cut<P: Packet>(
        &mut self,
        writer: &Writer,
        head: Head,
        packet: &P,
        shared: SharedMoment,
    ) -> bool {
        let room = self.room().saturating_sub(SIZE_FIELD);
        let (plan, measured) = self.plan_within(packet, room, shared);
        let is_written = self.write_whole(head, packet, (&plan, measured));
        if is_written {
            count_cut(writer, head, &plan);
        }
        self.allow(writer);
        is_written
    }

    /// Writes a packet into the chunk, which is this thread's alone. False where it has no room for
    /// it. Allocates nothing: the message may be a signal handler's.
    fn write_whole<P: Packet>(
        &mut self,
        head: Head,
        packet: &P,
        (plan, measured): (&Plan, P::Measured),
    ) -> bool {
        let size = packet.size(plan);
        let (size_field, size_len) = size_field(size);
        if size_len + size > self.room() {
            return false;
        }
        // SAFETY: *chunk*: there is room up to the end for the packet and its size; *planned*: it
        // takes `size` bytes.
        let mut to = unsafe { Cursor::new(self.position, size_len + size) };
        to.put(size_field, size_len);
        packet.encode(&mut to, head.id, (plan, measured), Interner::forgetful(self.next_iid));
        // SAFETY: *chunk*: the cursor began at the position and ends at or below the end.
        unsafe { self.commit(to.at(), plan) };
        self.others += u16::from(!P::IS_MESSAGE);
        true
    }

    /// Measures a packet. Strings that make it larger than half of the buffer are cut to equal
    /// shares of that half.
    fn plan_split<P: Packet>(&mut self, packet: &P, shared: SharedMoment) -> (Plan, P::Measured) {
        let half = self.core.as_ref().map_or(0, |core| core.buffer.pages() * PAGE / 2);
        self.plan_within(packet, half, shared)
    }

    /// Measures a packet. Strings that make it larger than `limit` are cut to equal shares of that.
    fn plan_within<P: Packet>(
        &mut self,
        packet: &P,
        limit: usize,
        shared: SharedMoment,
    ) -> (Plan, P::Measured) {
        let base = self.before(shared);
        let (most, _) = packet.plan(Base { delta: u64::MAX, ..base }, None); // Whatever the time.
        let strings = (most.next_iid() - self.next_iid) as usize;
        if strings == 0 || packet.size(&most) <= limit {
            return packet.plan(base, None);
        }
        let share = limit.saturating_sub(MAX_WITHOUT_STRINGS) / strings;
        let max_string_bytes = share.saturating_sub(MAX_AROUND_STRING).min(self.max_string_bytes);
        packet.plan(Base { max_string_bytes, ..base }, None)
    }
}

/// Counts a message with strings that were cut.
fn count_cut(writer: &Writer, head: Head, plan: &Plan) {
    if plan.cut() > 0 {
        writer.losses.add(head.group().id, LossCause::Truncated, 1);
    }
}
