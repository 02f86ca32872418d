//! A session from its start to its end, or a clone of one, and where its trace goes.
//!
//! Invariants: of a trace that has been asked for everything is taken at once, since the service
//! waits for whoever does not. A session ends on time however much is logged: a trace may grow as
//! fast as it is read.

use super::names::AskedNames;
use super::stream::OutputStream;
use perfetto_ipc::{CloneTarget, Consumer, Error};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time between a signal and the end.
const LOOK: Duration = Duration::from_millis(100);

/// The job: a session of one's own, or a clone of another one.
pub(super) enum RecordJob<'a> {
    /// A session of one's own.
    Session {
        /// The encoded `TraceConfig`.
        config: &'a [u8],
        /// The time after which it ends; none if it goes on until a signal.
        time: Option<Duration>,
        /// The interval at which the trace is read; none if it is left in the service's buffer.
        interval: Option<Duration>,
    },
    /// The packets that the session of this name has so far.
    Clone(&'a str),
}

/// Where the trace goes.
pub(super) struct Out<'a, 'n> {
    target: Target<'a>,
    /// The bytes that it may have yet; none if there is no limit.
    left: Option<u64>,
    /// The content that it is looked through for.
    names: &'n mut AskedNames,
}

/// Its kind.
pub(super) enum Target<'a> {
    /// A file.
    File(&'a mut dyn Write),
    /// A pipe or a device.
    Stream(&'a mut OutputStream),
}

/// Does the job; `is_over` ends a session early.
pub(super) fn run(
    consumer: &mut Consumer,
    job: &RecordJob<'_>,
    is_over: &AtomicBool,
    out: &mut Out<'_, '_>,
) -> Result<(), Error> {
    match *job {
        RecordJob::Clone(name) => {
            consumer.clone_session(CloneTarget::Name(name))?;
            consumer.read(|packet| out.write(packet))?;
        }
        RecordJob::Session { config, time, interval } => {
            consumer.enable(config)?;
            let end = End { begun: Instant::now(), time, is_over };
            out.names.look_at_service(consumer)?;
            if !wait(consumer, &end, interval, out)? {
                consumer.disable()?;
            }
            out.names.look_at_service(consumer)?;
            consumer.read(|packet| out.write(packet))?;
            consumer.free()?;
        }
    }
    match &mut out.target {
        Target::File(_) => Ok(()),
        Target::Stream(stream) => stream.settle(is_over).map_err(Error::Output),
    }
}

/// When a session is to end.
struct End<'a> {
    begun: Instant,
    time: Option<Duration>,
    is_over: &'a AtomicBool,
}

impl End<'_> {
    /// Returns the time until then, or until the next look for a signal; none if it has come.
    fn left(&self) -> Option<Duration> {
        let left = self.time.map_or(LOOK, |time| time.saturating_sub(self.begun.elapsed()));
        (!left.is_zero() && !self.is_over.load(Ordering::Relaxed)).then_some(left.min(LOOK))
    }
}

/// Waits until the session has ended by itself; false if it is to be ended. Meanwhile the trace
/// goes to `out`.
fn wait(
    consumer: &mut Consumer,
    end: &End<'_>,
    interval: Option<Duration>,
    out: &mut Out<'_, '_>,
) -> Result<bool, Error> {
    let mut last_read = end.begun;
    while let Some(left) = end.left().filter(|_| out.left != Some(0)) {
        if consumer.wait_for_end(left)? {
            return Ok(true);
        }
        if interval.is_some_and(|interval| last_read.elapsed() >= interval) {
            let mut goes_on = true;
            consumer.read_while(|packet| {
                out.write(packet)?;
                goes_on = goes_on && end.left().is_some() && out.left != Some(0);
                Ok(goes_on)
            })?;
            out.flush().map_err(Error::Output)?;
            last_read = Instant::now();
        }
    }
    Ok(false)
}

impl<'a, 'n> Out<'a, 'n> {
    /// With at most so many bytes.
    pub(super) fn new(target: Target<'a>, most: Option<u64>, names: &'n mut AskedNames) -> Self {
        Self { target, left: most, names }
    }

    /// Takes a packet if there is room for it, and for no other once there was none.
    fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        self.names.look_at_packet(packet);
        if let Some(left) = &mut self.left {
            let rest = left.checked_sub(packet.len() as u64);
            *left = rest.unwrap_or_default();
            if rest.is_none() {
                return Ok(());
            }
        }
        match &mut self.target {
            Target::File(file) => file.write_all(packet),
            Target::Stream(stream) => stream.write_all(packet),
        }
    }

    /// Passes on what a pipe's reader may wait for.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::File(_) => Ok(()),
            Target::Stream(stream) => stream.flush(),
        }
    }
}
