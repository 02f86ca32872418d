//! Requests of one signal to the collector: again where it may be accepted later, in parts where
//! something in it is refused.
//!
//! Invariants: what a request has was accepted, or refused for good and counted, when
//! [`Delivery::deliver`] returns without an error; a collector that refuses everything gets nothing
//! left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::client::{Answer, Client, compressed};
use super::endpoint;
use crate::failure::{Failure, Result, say};

/// The first wait, and the longest one of those that double.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The longest wait that a collector may ask for. The shortest one is [`FIRST_WAIT`]: with none, a
/// collector that asks for it would be asked thousands of times a second.
const LONGEST_ASKED: Duration = Duration::from_secs(600);

/// The time between two looks at whether the process is to end.
const STEP: Duration = Duration::from_millis(100);

/// Parts that may be refused one after another, each by itself: if more are, it may not be the
/// parts that are wrong.
const MOST_REFUSED: u64 = 16;

/// The kind of what is sent, as it is called in messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// All of it.
    pub(super) all: &'static str,
    /// One part, and several.
    pub(super) part: [&'static str; 2],
}

/// Logs.
pub(super) const LOGS: Signal = Signal { all: "log", part: ["record", "records"] };

/// Metrics.
pub(super) const METRICS: Signal = Signal { all: "metrics", part: ["data point", "data points"] };

/// Sends parts: records, or data points.
pub(super) struct Delivery {
    pub(super) signal: Signal,
    pub(super) client: Client,
    pub(super) url: String,
    /// The time after which a request that is repeated fails; none to repeat it until it is
    /// accepted.
    pub(super) patience: Option<Duration>,
    /// The process is to end: what waits is tried once more.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) totals: Totals,
    is_stopping: bool,
    /// Parts that were refused since one was accepted.
    refused_in_a_row: u64,
    /// The other end had something to say of what it accepted.
    has_noted: bool,
}

/// The parts that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) accepted: u64,
    /// Those that the collector refused for good.
    pub(super) refused: u64,
}

impl Delivery {
    pub(super) fn new(
        signal: Signal,
        (client, url): (Client, String),
        patience: Option<Duration>,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        Self {
            signal,
            client,
            url,
            patience,
            stop: stop.clone(),
            totals: Totals::default(),
            is_stopping: false,
            refused_in_a_row: 0,
            has_noted: false,
        }
    }

    /// Sends parts, which `encode` makes a request of; fewer at a time if they are refused as a
    /// whole.
    pub(super) fn deliver<T>(
        &mut self,
        parts: &[T],
        encode: &dyn Fn(&[T]) -> Vec<u8>,
    ) -> Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        self.deliver_packed(&compressed(&encode(parts))?, parts, encode)
    }

    /// The same, with the compressed request of all of them.
    pub(super) fn deliver_packed<T>(
        &mut self,
        body: &[u8],
        parts: &[T],
        encode: &dyn Fn(&[T]) -> Vec<u8>,
    ) -> Result<()> {
        let count = parts.len() as u64;
        match self.send(body)? {
            Ok(rejected) => {
                self.totals.refused += rejected.min(count);
                self.totals.accepted += count - rejected.min(count);
                self.refused_in_a_row = 0;
                Ok(())
            }
            Err(_) if parts.len() > 1 => {
                let (first, rest) = parts.split_at(parts.len() / 2);
                self.deliver(first, encode)?;
                self.deliver(rest, encode)
            }
            Err(reason) => self.refuse(&reason),
        }
    }

    /// Counts a part that is refused by itself.
    fn refuse(&mut self, reason: &str) -> Result<()> {
        self.totals.refused += 1;
        self.refused_in_a_row += 1;
        let (url, part) = (endpoint::shown(&self.url), self.signal.part[0]);
        if self.refused_in_a_row > MOST_REFUSED {
            if self.totals.accepted == 0 || self.refuses_empty_request()? {
                let message = format!("`{url}` refuses every {part}: {reason}");
                return Err(Failure::new(message).help("check the URL and the headers"));
            }
            self.refused_in_a_row = 0;
        }
        warn(&format!("`{url}` refuses a {part}, which is left out: {reason}"));
        Ok(())
    }

    /// Returns whether even a request without parts is refused.
    fn refuses_empty_request(&mut self) -> Result<bool> {
        let nothing = compressed(&[])?;
        self.send(&nothing).map(|answer| answer.is_err())
    }

    /// Sends a request until it is accepted: then the number of parts that were rejected. An error
    /// in it is that of its data.
    fn send(&mut self, body: &[u8]) -> Result<std::result::Result<u64, String>> {
        let url = endpoint::shown(&self.url);
        let (begun, mut wait, mut is_first) = (Instant::now(), FIRST_WAIT, true);
        loop {
            let (reason, asked) = match self.client.send(&self.url, body) {
                Answer::Accepted(content) => {
                    if !is_first {
                        say(&format!("note: `{url}` accepts {} again", self.signal.part[1]));
                    }
                    return Ok(Ok(self.rejected(&content)));
                }
                Answer::BadData(reason) => return Ok(Err(reason)),
                Answer::Refused(reason) => {
                    let message = format!("`{url}` refuses the {}: {reason}", self.signal.all);
                    return Err(Failure::new(message).help("check the URL and the headers"));
                }
                Answer::Later(reason, asked) => (reason, asked),
            };
            let pause =
                asked.map_or_else(|| varied(wait), |asked| asked.clamp(FIRST_WAIT, LONGEST_ASKED));
            if std::mem::take(&mut is_first) {
                warn(&format!("`{url}`: {reason}; trying again"));
            }
            let is_late = self.patience.is_some_and(|patience| begun.elapsed() + pause > patience);
            if is_late || !self.wait(pause) {
                let message = format!("can't send to `{url}`: {reason}");
                let help =
                    "run the same command again: with `--state`, it goes on where it stopped";
                return Err(Failure::new(message).help(help));
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Waits for so long; once the process is to end, no longer. False if that was so before.
    fn wait(&mut self, pause: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < pause {
            if self.stop.load(Ordering::Relaxed) {
                return !std::mem::replace(&mut self.is_stopping, true);
            }
            thread::sleep(STEP.min(pause));
        }
        true
    }

    /// Reads `ExportLogsServiceResponse`, or that of metrics, which has the same form: the number
    /// of parts that were rejected.
    fn rejected(&mut self, content: &[u8]) -> u64 {
        let (mut rejected, mut message) = (0, String::new());
        for field in protozero::Reader::new(content).map_while(std::result::Result::ok) {
            let Ok(partial) = field.as_message() else { continue };
            for part in partial.map_while(std::result::Result::ok).filter(|_| field.number == 1) {
                match part.number {
                    // It has a sign.
                    1 => rejected = part.as_u64().unwrap_or(0).cast_signed().max(0).cast_unsigned(),
                    2 => message = String::from_utf8_lossy(part.as_bytes().unwrap_or(&[])).into(),
                    _ => {}
                }
            }
        }
        let (url, said) = (endpoint::shown(&self.url), self.client.shown(&message));
        let [part, parts] = self.signal.part;
        match rejected {
            // Some say something of each request, such as its number.
            0 if said.is_empty() || self.has_noted => {}
            0 => {
                self.has_noted = true;
                warn(&format!("`{url}` says of what it accepts: `{said}`"));
            }
            1 => warn(&format!("`{url}` rejects 1 {part}, which is left out: `{said}`")),
            _ => warn(&format!("`{url}` rejects {rejected} {parts}, which are left out: `{said}`")),
        }
        rejected
    }
}

fn warn(message: &str) {
    say(&Failure::new(message).as_warning());
}

/// Three quarters of a wait up to all of it, so that many senders do not come at once.
fn varied(wait: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    wait * 3 / 4 + wait / 4 * (now.subsec_nanos() % 1_000) / 1_000
}
