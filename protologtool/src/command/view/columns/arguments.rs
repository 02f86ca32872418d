//! The columns of arguments and of texts, which are made by a thread of their own where there is a
//! second core: to find a text among millions misses the processor's caches, which takes as long as
//! all else of a message.
//!
//! Messages are handed over in batches, in their order, and a few batches may wait.
//!
//! Invariant: the columns are the same wherever they are made.

use super::values::{Texts, varint};
use std::mem;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// The size of a batch, in bytes; a longer text makes one larger.
const BATCH: usize = 128 << 10;

/// Batches that may wait.
const WAITING: usize = 4;

/// See the module.
#[derive(Default)]
pub(super) struct ArgumentColumns {
    batch: Batch,
    /// None while a thread has it.
    writer: Option<ColumnWriter>,
    worker: Option<Worker>,
    /// The bytes of the columns, but for batches that wait.
    size: Arc<AtomicU64>,
}

/// Values of messages, with the bytes of their texts.
#[derive(Default)]
struct Batch {
    values: Vec<CodedValue>,
    texts: Vec<u8>,
}

#[derive(Clone, Copy)]
enum CodedValue {
    Code(u64),
    /// The code is the index of the text, shifted by so many bits.
    Text {
        len: usize,
        shift: u32,
    },
}

/// The columns so far.
#[derive(Default)]
struct ColumnWriter {
    column: Vec<u8>,
    texts: Texts,
}

/// A thread that has the columns.
struct Worker {
    batches: SyncSender<Batch>,
    /// Batches whose memory can be used again.
    used: Receiver<Batch>,
    thread: JoinHandle<ColumnWriter>,
}

impl ArgumentColumns {
    /// Adds a code.
    pub(super) fn push_code(&mut self, code: u64) {
        self.batch.values.push(CodedValue::Code(code));
    }

    /// Adds the index of a text, shifted by so many bits.
    pub(super) fn push_text(&mut self, text: &str, shift: u32) {
        self.batch.texts.extend_from_slice(text.as_bytes());
        self.batch.values.push(CodedValue::Text { len: text.len(), shift });
    }

    /// Ends a message.
    pub(super) fn end_message(&mut self) {
        if self.batch.texts.len() + size_of_val(&*self.batch.values) >= BATCH {
            self.hand_over();
        }
    }

    /// The bytes of both columns, but for batches that wait.
    pub(super) fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    /// The texts, after those of all messages so far.
    pub(super) fn texts(&mut self) -> &mut Texts {
        &mut self.join().texts
    }

    /// Both columns: that of the arguments, and the texts.
    pub(super) fn finish(mut self) -> (Vec<u8>, Texts) {
        let ColumnWriter { column, texts } = mem::take(self.join());
        (column, texts)
    }

    /// Hands the batch over to the thread, which is started first if it can be.
    fn hand_over(&mut self) {
        if self.worker.is_none() {
            match Worker::start(self.writer.take().unwrap_or_default(), &self.size) {
                Ok(worker) => self.worker = Some(worker),
                Err(writer) => self.writer = Some(writer),
            }
        }
        let Some(worker) = &self.worker else {
            self.join();
            return;
        };
        let batch = mem::replace(&mut self.batch, worker.used.try_recv().unwrap_or_default());
        if worker.batches.send(batch).is_err() {
            // It has panicked.
            self.join();
        }
    }

    /// The columns with all batches, which no thread has any more.
    fn join(&mut self) -> &mut ColumnWriter {
        if let Some(Worker { batches, used: _, thread }) = self.worker.take() {
            drop(batches);
            self.writer = Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        let writer = self.writer.get_or_insert_default();
        writer.add(&mut self.batch);
        self.size.store(writer.size(), Ordering::Relaxed);
        writer
    }
}

impl Worker {
    /// Starts a thread; the columns are back if the machine has no other core, or no thread for
    /// them.
    fn start(writer: ColumnWriter, size: &Arc<AtomicU64>) -> Result<Self, ColumnWriter> {
        if thread::available_parallelism().is_ok_and(|cores| cores.get() < 2) {
            return Err(writer);
        }
        let (batches, next) = sync_channel::<Batch>(WAITING);
        let (give_back, used) = channel();
        let (hand_over, taken) = channel::<ColumnWriter>();
        let size = Arc::clone(size);
        let add_all = move || {
            let mut writer = taken.recv().unwrap_or_default();
            for mut batch in next {
                writer.add(&mut batch);
                size.store(writer.size(), Ordering::Relaxed);
                // At the end nobody wants it.
                let _ = give_back.send(batch);
            }
            writer
        };
        let builder = thread::Builder::new().name("texts".to_owned());
        let Ok(thread) = builder.spawn(add_all) else { return Err(writer) };
        hand_over.send(writer).map_err(|unsent| unsent.0)?;
        Ok(Self { batches, used, thread })
    }
}

impl ColumnWriter {
    /// Adds the values of a batch, and empties it.
    fn add(&mut self, batch: &mut Batch) {
        let mut rest = &*batch.texts;
        for value in batch.values.drain(..) {
            match value {
                CodedValue::Code(code) => varint(&mut self.column, code),
                CodedValue::Text { len, shift } => {
                    let (text, after) = rest.split_at(len);
                    varint(&mut self.column, self.texts.index(text) << shift);
                    rest = after;
                }
            }
        }
        batch.texts.clear();
    }

    fn size(&self) -> u64 {
        (self.column.len() + self.texts.bytes().len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_makes_the_same_columns() {
        let text = |number: u64| format!("text {}", number * number % 30_011);
        let (mut threaded, mut here) = (ArgumentColumns::default(), ColumnWriter::default());
        for number in 0..100_000 {
            threaded.push_code(number);
            threaded.push_text(&text(number), (number % 2) as u32);
            threaded.end_message();
            let index = here.texts.index(text(number).as_bytes());
            varint(&mut here.column, number);
            varint(&mut here.column, index << (number % 2));
        }
        let has_cores = thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        assert_eq!(threaded.worker.is_some(), has_cores);
        assert_eq!(threaded.texts().index(b"text 0"), 0);
        assert_eq!(threaded.size(), here.size());
        threaded.push_text("the last one", 0);
        varint(&mut here.column, here.texts.index(b"the last one"));
        let (column, texts) = threaded.finish();
        assert!(column == here.column && texts.bytes() == here.texts.bytes());
    }
}
