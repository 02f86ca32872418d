//! Batches to the collector, by a thread of its own: again where it may be accepted later, in parts
//! where something in it is refused.
//!
//! Invariants: batches are sent in their order, and a trace is noted as sent so far when all
//! records before that place were accepted, or refused for good and counted; the reader waits while
//! the collector does not take anything, so memory is that of a few batches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::batch::{Batch, Record};
use super::client::{Answer, Client, compressed};
use super::endpoint::{self, Endpoint};
use super::state::State;
use crate::failure::{Failure, Result, say};

/// The first wait, and the longest one of those that double.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The longest wait that a collector may ask for. The shortest one is [`FIRST_WAIT`]: with none, a
/// collector that asks for it would be asked thousands of times a second.
const LONGEST_ASKED: Duration = Duration::from_secs(600);

/// The time between two looks at whether the process is to end.
const STEP: Duration = Duration::from_millis(100);

/// Batches that wait for their turn.
const QUEUE: usize = 2;

/// Records that may be refused one after another, each by itself: if more are, it may not be the
/// records that are wrong.
const MOST_REFUSED: u64 = 16;

/// The time between two looks at the state while nothing is sent.
const IDLE: Duration = Duration::from_millis(200);

/// Sends batches.
pub(super) struct Sender {
    pub(super) client: Client,
    pub(super) endpoint: Endpoint,
    /// The time after which a request that is repeated fails; none to repeat it until it is
    /// accepted.
    pub(super) patience: Option<Duration>,
    pub(super) state: State,
    pub(super) totals: Totals,
    /// The process is to end: what waits is tried once more.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) is_stopping: bool,
    /// Records that were refused since one was accepted.
    pub(super) refused_in_a_row: u64,
}

/// The records that were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) accepted: u64,
    /// Those that the collector refused for good.
    pub(super) refused: u64,
}

/// The thread that sends, and the way to it.
pub(super) struct SenderThread {
    batches: SyncSender<Batch>,
    thread: JoinHandle<Result<Totals>>,
}

/// The thread has ended: [`SenderThread::finish`] knows why.
#[derive(Debug)]
pub(super) struct Gone;

impl SenderThread {
    pub(super) fn start(sender: Sender) -> Self {
        let (batches, queue) = sync_channel(QUEUE);
        Self { batches, thread: thread::spawn(move || sender.run(&queue)) }
    }

    /// Hands over a batch; waits while the queue is full.
    pub(super) fn send(&self, batch: Batch) -> std::result::Result<(), Gone> {
        self.batches.send(batch).map_err(|_| Gone)
    }

    /// Returns true if it failed.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until all batches are sent.
    pub(super) fn finish(self) -> Result<Totals> {
        drop(self.batches);
        self.thread.join().expect("the sender does not panic")
    }
}

impl Sender {
    fn run(mut self, queue: &Receiver<Batch>) -> Result<Totals> {
        loop {
            match queue.recv_timeout(IDLE) {
                Ok(batch) => {
                    let sent = self.deliver(&batch, &batch.records);
                    if sent.is_err() {
                        self.state.save()?;
                    }
                    sent?;
                    self.state.note(&batch.marks);
                    self.state.save_if_due()?;
                }
                Err(RecvTimeoutError::Timeout) => self.state.save()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.state.save()?;
                    return Ok(self.totals);
                }
            }
        }
    }

    /// Sends records, in parts if they are refused as a whole.
    fn deliver(&mut self, batch: &Batch, records: &[Record]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let body = compressed(&batch.request(records))?;
        let count = records.len() as u64;
        match self.send(&body)? {
            Ok(rejected) => {
                self.totals.refused += rejected.min(count);
                self.totals.accepted += count - rejected.min(count);
                self.refused_in_a_row = 0;
                Ok(())
            }
            Err(_) if records.len() > 1 => {
                let (first, rest) = records.split_at(records.len() / 2);
                self.deliver(batch, first)?;
                self.deliver(batch, rest)
            }
            Err(reason) => self.refuse(&reason),
        }
    }

    /// Counts a record that is refused by itself.
    fn refuse(&mut self, reason: &str) -> Result<()> {
        self.totals.refused += 1;
        self.refused_in_a_row += 1;
        let url = endpoint::shown(&self.endpoint.logs);
        if self.refused_in_a_row > MOST_REFUSED {
            if self.totals.accepted == 0 || self.refuses_empty_request()? {
                let message = format!("`{url}` refuses every record: {reason}");
                return Err(Failure::new(message).help("check the URL and the headers"));
            }
            self.refused_in_a_row = 0;
        }
        warn(&format!("`{url}` refuses a record, which is left out: {reason}"));
        Ok(())
    }

    /// Returns whether even a request without records is refused.
    fn refuses_empty_request(&mut self) -> Result<bool> {
        let nothing = compressed(&[])?;
        self.send(&nothing).map(|answer| answer.is_err())
    }

    /// Sends a request until it is accepted: then the number of records that were rejected. An
    /// error in it is that of its data.
    fn send(&mut self, body: &[u8]) -> Result<std::result::Result<u64, String>> {
        let url = endpoint::shown(&self.endpoint.logs);
        let (begun, mut wait, mut is_first) = (Instant::now(), FIRST_WAIT, true);
        loop {
            let (reason, asked) = match self.client.send(&self.endpoint.logs, body) {
                Answer::Accepted(content) => {
                    if !is_first {
                        say(&format!("note: `{url}` accepts records again"));
                    }
                    return Ok(Ok(self.rejected(&content)));
                }
                Answer::BadData(reason) => return Ok(Err(reason)),
                Answer::Refused(reason) => {
                    let message = format!("`{url}` refuses the log: {reason}");
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

    /// Reads `ExportLogsServiceResponse`: the number of records that were rejected.
    fn rejected(&self, content: &[u8]) -> u64 {
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
        let (url, said) = (endpoint::shown(&self.endpoint.logs), self.client.shown(&message));
        match rejected {
            0 if said.is_empty() => {}
            0 => warn(&format!("`{url}` says: `{said}`")),
            1 => warn(&format!("`{url}` rejects 1 record, which is left out: `{said}`")),
            _ => warn(&format!("`{url}` rejects {rejected} records, which are left out: `{said}`")),
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
