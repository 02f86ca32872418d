//! Messages that limits suppress or sampling passes over, reported while the session goes on.
//!
//! A thread that logs on reports them itself, in the packet that its next chunk begins with. Of a
//! thread that is silent, or logs little, the forwarder reports them on the thread's sequence,
//! behind what is copied of it, as a session with a file does. A report takes a chunk of its own,
//! and the rest of the thread's chunk a further one. So there is one a second at most, and one at
//! each flush; the end has what is left.

use super::Instance;
use crate::producer::outlet::Outlet;
use std::io;
use std::time::{Duration, Instant};

/// The time between two reports.
const INTERVAL: Duration = Duration::from_secs(1);

impl Instance {
    /// Reports them where it is time for that.
    pub(super) fn report_held_back_if_due(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        if Instant::now() < self.next_report { Ok(()) } else { self.report_held_back(outlet) }
    }

    /// Reports those that no packet reports yet.
    pub(super) fn report_held_back(&mut self, outlet: &mut Outlet) -> io::Result<()> {
        self.next_report = Instant::now() + INTERVAL;
        for (writer, losses) in self.session.take_held_back() {
            // Where there is no room they are kept for the session's own sequence.
            self.report_on_sequence(&writer, losses, outlet)?;
        }
        Ok(())
    }
}
