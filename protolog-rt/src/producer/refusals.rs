//! Sessions that this process was asked to record and does not, such as one too many. Their traces
//! say so, since whoever reads them can't ask this process.
//!
//! A packet says it at the start, in case this process is killed, and again at each flush and at
//! the end, in case a ring has overwritten the first.
//!
//! Invariant: a service that starts sessions without end gets no more than so many repeated.

use super::outlet::{Outlet, PATIENCE};
use crate::sys::process::{id, program};
use perfetto_ipc::frame::message;
use protolog_core::schema::{packet, refusal};
use std::io;

/// So many are said again. The others are said once.
const MAX_REPEATED: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Refusals(Vec<RefusedSession>);

/// A session that is not recorded.
#[derive(Debug)]
struct RefusedSession {
    id: u64,
    /// The service's buffer.
    target: u32,
    reason: String,
}

impl Refusals {
    /// Says in the trace of session `id` that it is not recorded.
    pub(super) fn add(
        &mut self,
        (id, target): (u64, u32),
        reason: String,
        outlet: &mut Outlet,
    ) -> io::Result<()> {
        let refused = RefusedSession { id, target, reason };
        refused.write(outlet)?;
        if self.0.len() < MAX_REPEATED {
            self.0.push(refused);
        }
        Ok(())
    }

    /// Says it again in those of these sessions that are not recorded.
    pub(super) fn repeat(&self, ids: &[u64], outlet: &mut Outlet) -> io::Result<()> {
        self.0.iter().filter(|it| ids.contains(&it.id)).try_for_each(|it| it.write(outlet))
    }

    /// Says it for the last time where session `id` is not recorded.
    pub(super) fn end(&mut self, id: u64, outlet: &mut Outlet) -> io::Result<()> {
        self.repeat(&[id], outlet)?;
        self.0.retain(|it| it.id != id);
        Ok(())
    }
}

impl RefusedSession {
    /// Writes the packet, if there is a writer and room for it.
    fn write(&self, outlet: &mut Outlet) -> io::Result<()> {
        let packet = message(|to| {
            to.nested(packet::REFUSAL)
                .string(refusal::REASON, &self.reason)
                .uint32(refusal::PID, id())
                .string(refusal::PROGRAM, &program());
        });
        let Some(mut writer) = outlet.register(self.target)? else { return Ok(()) };
        outlet.wait_at_most(PATIENCE);
        outlet.write(&mut writer, &packet)?;
        outlet.commit(None)?;
        outlet.unregister(&writer)
    }
}
