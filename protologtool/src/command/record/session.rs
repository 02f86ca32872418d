//! A session from its start to its end, or a clone of one, and where its trace goes.
//!
//! Invariants: of a trace that has been asked for everything is taken at once, since the service
//! waits for whoever does not. A session ends on time however much is logged: a trace may grow as
//! fast as it is read. Of one that has ended, no more is taken than its buffers can have.

use super::names::AskedNames;
use super::stream::OutputStream;
use super::trace_file::TraceFile;
use perfetto_ipc::{CloneTarget, Consumer, Error, buffer_bytes};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time between a signal and the end.
const LOOK: Duration = Duration::from_millis(100);

/// The most bytes that are taken of a session that has ended: what the service adds to small
/// packets is some times their size.
fn most_after_end(config: &[u8]) -> u64 {
    // What can't be decoded, the service refuses.
    buffer_bytes(config).unwrap_or_default().saturating_mul(4) + (64 << 20)
}

/// How much of a trace was written.
#[derive(Debug)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// The service went on, or a signal ended the reading of a clone.
    Cut,
    /// What there was when the service had not ended the session in time.
    Unfinished,
    /// What came before the service or the output failed.
    Broken(Error),
}

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
    /// A packet went to a pipe.
    has_written: bool,
}

/// Its kind.
pub(super) enum Target<'a> {
    /// A file.
    File(&'a mut TraceFile),
    /// A pipe or a device.
    Stream(&'a mut OutputStream),
}

/// Does the job; `is_over` ends a session early. A service that fails, or a disk that is full,
/// takes nothing of what is there with it.
pub(super) fn run(
    consumer: &mut Consumer,
    job: &RecordJob<'_>,
    is_over: &AtomicBool,
    out: &mut Out<'_, '_>,
) -> Result<Extent, Error> {
    let read = read(consumer, job, is_over, out);
    match &mut out.target {
        Target::File(file) => {
            // What the service says matters less than that its end is missing.
            match file.flush().map_err(Error::Output).and(read) {
                Err(error) if file.has_packet() => Ok(Extent::Broken(error)),
                read => read,
            }
        }
        Target::Stream(stream) => {
            let extent = match read {
                Err(error) if out.has_written && !matches!(error, Error::Output(_)) => {
                    Extent::Broken(error)
                }
                read => read?,
            };
            stream.settle(is_over).map_err(Error::Output)?;
            Ok(extent)
        }
    }
}

/// Reads what the job is about.
fn read(
    consumer: &mut Consumer,
    job: &RecordJob<'_>,
    is_over: &AtomicBool,
    out: &mut Out<'_, '_>,
) -> Result<Extent, Error> {
    match *job {
        RecordJob::Clone(name) => {
            consumer.clone_session(CloneTarget::Name(name))?;
            // Nobody says how large the other session's buffers are.
            let is_whole = consumer.read_rest(u64::MAX, |packet| {
                out.write(packet).map(|()| !is_over.load(Ordering::Relaxed))
            })?;
            Ok(if is_whole { Extent::Whole } else { Extent::Cut })
        }
        RecordJob::Session { config, time, interval } => {
            consumer.enable(config)?;
            let most = most_after_end(config);
            let end = End { begun: Instant::now(), time, is_over, most };
            out.names.look_at_service(consumer)?;
            read_session(consumer, &end, interval, out)
        }
    }
}

/// Reads a session to its end.
fn read_session(
    consumer: &mut Consumer,
    end: &End<'_>,
    interval: Option<Duration>,
    out: &mut Out<'_, '_>,
) -> Result<Extent, Error> {
    let has_ended = match wait(consumer, end, interval, out)? {
        Wait::Cut => return Ok(Extent::Cut),
        Wait::Ended => true,
        Wait::Over => consumer.disable()?,
    };
    out.names.look_at_service(consumer)?;
    let is_whole = consumer.read_rest(end.most, |packet| out.write(packet).map(|()| true))?;
    if !is_whole {
        return Ok(Extent::Cut);
    }
    // All of it is here; what the service still has ends with the connection, too.
    let _ = consumer.free();
    Ok(if has_ended { Extent::Whole } else { Extent::Unfinished })
}

/// When a session is to end.
struct End<'a> {
    begun: Instant,
    time: Option<Duration>,
    is_over: &'a AtomicBool,
    /// The most bytes that are taken after it.
    most: u64,
}

/// Why the wait for a session's end is over.
enum Wait {
    /// The session has ended by itself.
    Ended,
    /// It is to be ended.
    Over,
    /// It was ended, and the service goes on none the less.
    Cut,
}

impl End<'_> {
    /// Returns the time until then, or until the next look for a signal; none if it has come.
    fn left(&self) -> Option<Duration> {
        let left = self.time.map_or(LOOK, |time| time.saturating_sub(self.begun.elapsed()));
        (!left.is_zero() && !self.is_over.load(Ordering::Relaxed)).then_some(left.min(LOOK))
    }
}

/// Waits until the session has ended, or is to be ended. Meanwhile the trace goes to `out`.
fn wait(
    consumer: &mut Consumer,
    end: &End<'_>,
    interval: Option<Duration>,
    out: &mut Out<'_, '_>,
) -> Result<Wait, Error> {
    let mut last_read = end.begun;
    while let Some(left) = end.left().filter(|_| out.left != Some(0)) {
        if consumer.wait_for_end(left)? {
            return Ok(Wait::Ended);
        }
        if interval.is_some_and(|interval| last_read.elapsed() >= interval) {
            let mut goes_on = true;
            let is_whole = consumer.read_while(end.most, |packet| {
                out.write(packet)?;
                goes_on = goes_on && end.left().is_some() && out.left != Some(0);
                Ok(goes_on)
            })?;
            out.flush().map_err(Error::Output)?;
            if !is_whole {
                return Ok(Wait::Cut);
            }
            last_read = Instant::now();
        }
    }
    Ok(Wait::Over)
}

impl<'a, 'n> Out<'a, 'n> {
    /// With at most so many bytes.
    pub(super) fn new(target: Target<'a>, most: Option<u64>, names: &'n mut AskedNames) -> Self {
        Self { target, left: most, names, has_written: false }
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
            Target::File(file) => file.write(packet)?,
            Target::Stream(stream) => stream.write_all(packet)?,
        }
        self.has_written = true;
        Ok(())
    }

    /// Passes on what a pipe's reader may wait for, and what is there if the program is killed.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::File(file) => file.flush(),
            Target::Stream(stream) => stream.flush(),
        }
    }
}
