//! A tracing service with a session, and what is in its trace.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use perfetto_ipc::frame::message;
use perfetto_ipc::{Consumer, Error, places};
use protozero::Reader;
use rustix::time::{ClockId, clock_gettime};
use xtask::Result;

/// Size of the service's buffer, in KiB: nothing is to be overwritten.
const BUFFER: u32 = 256 << 10;
const TIMEOUT: Duration = Duration::from_secs(30);
/// The `BufferExhaustedPolicy` that waits for a while, and then drops.
const STALL_THEN_DROP: u32 = 3;

/// Fields of `TracePacket` that are messages.
const MESSAGES: [u32; 2] = [11, 104];

/// A service that runs until it is dropped.
pub(super) struct Service {
    dir: PathBuf,
    process: Child,
}

impl Service {
    /// Starts it, with its sockets in `dir`.
    pub(super) fn start(program: &Path, dir: &Path) -> Result<Self> {
        let sockets = ["producer", "consumer"].map(|name| dir.join(name));
        for socket in &sockets {
            let _ = fs::remove_file(socket);
        }
        let mut command = Command::new(program);
        command.args(&sockets).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error| format!("can't start the tracing service: {error}");
        let mut process = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(failed)?;
        }
        let service = Self { dir: dir.to_owned(), process };
        if line == "listening\n" { Ok(service) } else { Err("the service does not listen".into()) }
    }

    pub(super) fn producers(&self) -> PathBuf {
        self.dir.join("producer")
    }

    /// CPU nanoseconds of all its threads.
    pub(super) fn cpu(&self) -> Result<f64> {
        let failed = |error| format!("can't read the service's times: {error}");
        let tasks = format!("/proc/{}/task", self.process.id());
        let mut sum = 0.0;
        for task in fs::read_dir(tasks).map_err(failed)? {
            let path = task.map_err(failed)?.path().join("schedstat");
            let times = fs::read_to_string(path).map_err(failed)?;
            let first = times.split(' ').next().unwrap_or_default();
            sum += first.parse::<f64>().map_err(|_| format!("no time in `{}`", times.trim()))?;
        }
        Ok(sum)
    }

    /// Starts a session. Returns the time when it was asked for, too: nanoseconds of
    /// `CLOCK_MONOTONIC`.
    pub(super) fn session(&self) -> Result<(Session, f64)> {
        let place = places::consumer(Some(self.dir.join("consumer").into()));
        let mut consumer = Consumer::connect(&place).map_err(failed)?;
        let now = clock_gettime(ClockId::Monotonic);
        consumer.enable(&config()).map_err(failed)?;
        Ok((Session(consumer), now.tv_sec as f64 * 1e9 + now.tv_nsec as f64))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A session that ends with it.
pub(super) struct Session(Consumer);

/// Messages and their bytes in a trace.
pub(super) struct Trace {
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

impl Session {
    pub(super) fn flush(&mut self) -> Result<()> {
        self.0.flush(TIMEOUT).map_err(failed)
    }

    /// Ends it, and counts what it has.
    pub(super) fn trace(mut self) -> Result<Trace> {
        let (mut messages, mut bytes) = (0_u64, 0);
        self.0.disable().map_err(failed)?;
        let read = self.0.read(|field| {
            let packets = Reader::new(field).flatten();
            for packet in packets.filter_map(|packet| packet.as_message().ok()) {
                if packet.flatten().any(|field| MESSAGES.contains(&field.number)) {
                    messages += 1;
                    bytes += field.len();
                }
            }
            Ok(())
        });
        read.map_err(failed)?;
        Ok(Trace { messages: messages as f64, bytes: bytes as f64 })
    }
}

/// All data sources that are measured; a program has one of them.
fn config() -> Vec<u8> {
    message(|to| {
        to.nested(1).uint32(1, BUFFER);
        for name in ["android.protolog", "dev.protolog.bench", "track_event"] {
            let mut source = to.nested(2);
            let mut source = source.nested(1);
            source.string(1, name).uint32(9, STALL_THEN_DROP);
            match name {
                "track_event" => _ = source.nested(113).string(2, "*"),
                "android.protolog" => _ = source.nested(126).uint32(2, 1),
                _ => {}
            }
        }
    })
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn failed(error: Error) -> String {
    error.to_string()
}
