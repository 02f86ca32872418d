//! Batches to the collector, by a thread of its own; another one before it compresses the next
//! request meanwhile.
//!
//! Invariants: batches are sent in their order, and a trace is noted as sent so far when all
//! records before that place were accepted, or refused for good and counted; the reader waits while
//! the collector does not take anything, so memory is that of a few batches.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::batch::Batch;
use super::client::compressed;
use super::delivery::{Delivery, Totals};
use super::state::State;
use crate::failure::Result;

/// Batches that wait until they are compressed, and those that wait to be sent.
const QUEUE: usize = 1;

/// The time between two looks at the state while nothing is sent.
const IDLE: Duration = Duration::from_millis(200);

/// Sends batches.
pub(super) struct Sender {
    pub(super) delivery: Delivery,
    pub(super) state: State,
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
        let (batches, queue) = sync_channel::<Batch>(QUEUE);
        let (packed, of_sender) = sync_channel(QUEUE);
        thread::spawn(move || {
            // If nobody takes it, the sender has failed.
            for batch in queue {
                if packed.send(Packed::new(batch)).is_err() {
                    return;
                }
            }
        });
        Self { batches, thread: thread::spawn(move || sender.run(&of_sender)) }
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

/// A batch with its compressed request, if it has records.
struct Packed {
    batch: Batch,
    body: Result<Option<Vec<u8>>>,
}

impl Packed {
    fn new(batch: Batch) -> Self {
        let request = Some(&batch.records).filter(|records| !records.is_empty());
        let body = request.map(|records| compressed(&batch.request(records))).transpose();
        Self { batch, body }
    }
}

impl Sender {
    fn run(mut self, queue: &Receiver<Packed>) -> Result<Totals> {
        loop {
            match queue.recv_timeout(IDLE) {
                Ok(Packed { batch, body }) => {
                    let encode = |records: &[_]| batch.request(records);
                    let sent = body.and_then(|body| match body {
                        Some(body) => self.delivery.deliver_packed(&body, &batch.records, &encode),
                        None => Ok(()),
                    });
                    if sent.is_err() {
                        self.state.save()?;
                    }
                    sent?;
                    self.state.note(&batch.marks);
                    self.state.save_if_due()?;
                }
                Err(RecvTimeoutError::Timeout) => self.state.save_if_due()?,
                Err(RecvTimeoutError::Disconnected) => {
                    self.state.save()?;
                    return Ok(self.delivery.totals);
                }
            }
        }
    }
}
