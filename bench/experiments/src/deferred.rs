//! Final bytes on the caller, as the runtime has them; or compact records on the caller, which a
//! thread encodes later.
//!
//! A record is a word for id and ticks each, one for each number, and texts by their bytes, in a
//! queue of words with one writer and one reader. The thread makes the same packets of them and
//! writes them to a file.

use crate::machine;
use crate::ring::Ring;
use crate::{ROUNDS, head, median};
use harness::{Calls, Logger, Shape, bursts, cpu, with_calls};
use protolog_core::schema::{
    interned_data, interned_string, message, packet, sequence_flags, trace,
};
use protolog_rt::{Level, ProtoLogGroup, Session, i};
use protozero::{Heap, Writer};
use std::cell::Cell;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Words of the queue: 4 MiB, as a session's buffer.
const WORDS: usize = 512 << 10;
/// The time for which the thread sleeps when it has nothing to do; it is not woken, which is to the
/// caller's advantage.
const NAP: Duration = Duration::from_micros(200);
const LOOP: u64 = 200_000;

/// Words with one writer and one reader.
struct Queue {
    words: Vec<AtomicU64>,
    written: AtomicU64,
    read: AtomicU64,
    over: AtomicBool,
}

impl Queue {
    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[at as usize % WORDS]
    }
}

/// Records for a thread that encodes them.
struct Deferred {
    queue: Arc<Queue>,
    written: Cell<u64>,
    lost: Cell<u64>,
    thread: Option<JoinHandle<()>>,
}

impl Deferred {
    /// Appends a record: its size and kind, ticks, numbers, and a text.
    #[inline]
    fn record<const N: usize>(&self, numbers: [u64; N], float: Option<f64>, text: Option<&str>) {
        let text = text.map(str::as_bytes);
        let size = 3 + N + float.is_some() as usize + text.map_or(0, |text| text.len().div_ceil(8));
        let start = self.written.get();
        let full = start + size as u64 > self.queue.read.load(Ordering::Acquire) + WORDS as u64;
        if full {
            self.lost.set(self.lost.get() + 1);
            return;
        }
        let mut at = start;
        let mut put = |word: u64| {
            self.queue.word(at).store(word, Ordering::Relaxed);
            at += 1;
        };
        let bytes = text.map_or(0xffff, <[u8]>::len);
        put(size as u64 | (N as u64) << 16 | (float.is_some() as u64) << 24 | (bytes as u64) << 32);
        put(Ring::id());
        put(machine::ticks());
        numbers.into_iter().for_each(&mut put);
        if let Some(float) = float {
            put(float.to_bits());
        }
        let (words, rest) = text.unwrap_or_default().as_chunks::<8>();
        for word in words {
            put(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            put(u64::from_le_bytes(last));
        }
        self.written.set(at);
        self.queue.written.store(at, Ordering::Release);
    }
}

/// Encodes records until there will be none.
fn encode(queue: &Queue, mut file: File) {
    let (mut at, mut last, mut iid) = (0, machine::ticks(), 1);
    loop {
        let over = queue.over.load(Ordering::Acquire);
        let end = queue.written.load(Ordering::Acquire);
        if at == end {
            if over {
                return;
            }
            thread::sleep(NAP);
            continue;
        }
        let mut writer = Writer::new(Heap::new());
        while at < end {
            let word = |offset: u64| queue.word(at + offset).load(Ordering::Relaxed);
            let head = word(0);
            let (size, numbers) = (head & 0xffff, head >> 16 & 0xff);
            let (float, bytes) = (head >> 24 & 1, head >> 32);
            let ticks = word(2);
            let mut to = writer.message();
            let mut packet = to.nested(trace::PACKET);
            packet.uint64(packet::TIMESTAMP, ticks.wrapping_sub(last));
            last = ticks;
            if bytes != 0xffff {
                let words = (3 + numbers + float..size).map(|offset| word(offset).to_le_bytes());
                let mut text: Vec<u8> = words.flatten().collect();
                text.truncate(bytes as usize);
                packet
                    .nested(packet::INTERNED_DATA)
                    .nested(interned_data::PROTOLOG_STRING_ARGS)
                    .uint64(interned_string::IID, iid)
                    .bytes(interned_string::STR, &text);
                packet.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
            }
            let mut message = packet.nested(packet::PROTOLOG_MESSAGE);
            message.fixed64(message::MESSAGE_ID, word(1));
            for number in 0..numbers {
                message.sint64(message::SINT64_PARAMS, word(3 + number) as i64);
            }
            if float == 1 {
                message.fixed64(message::DOUBLE_PARAMS, word(3 + numbers));
            }
            if bytes != 0xffff {
                message.uint64(message::STR_PARAM_IIDS, iid);
                iid += 1;
            }
            at += size;
        }
        queue.read.store(at, Ordering::Release);
        let bytes = writer.into_vec().expect("the heap has room");
        file.write_all(&bytes).expect("write the trace");
    }
}

impl Logger for Deferred {
    fn open(path: &Path) -> Self {
        let queue = Arc::new(Queue {
            words: (0..WORDS).map(|_| AtomicU64::new(1)).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            over: AtomicBool::new(false),
        });
        let file = File::create(path).expect("make a trace file");
        let of_thread = Arc::clone(&queue);
        let thread = Some(thread::spawn(move || encode(&of_thread, file)));
        Self { queue, written: Cell::new(0), lost: Cell::new(0), thread }
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        self.record([number, of], None, None);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        self.record([number], None, Some(of));
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        self.record([number, of], Some(time), None);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        self.record([], None, Some(text));
    }

    fn settle(&mut self) {
        while self.queue.read.load(Ordering::Acquire) < self.written.get() {
            thread::sleep(NAP);
        }
    }

    fn close(mut self) {
        self.queue.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("encoding does not panic");
        }
    }
}

#[derive(ProtoLogGroup)]
enum Bench {
    On,
}

/// The runtime.
struct Final(Session);

impl Logger for Final {
    fn open(path: &Path) -> Self {
        let session = Session::builder().file(path).log_from(Level::Info).start();
        Self(session.expect("start a session"))
    }

    #[inline]
    fn two_ints(&self, number: u64, of: u64) {
        i!(Bench::On, "%d of %d", number, of);
    }

    #[inline]
    fn int_and_text(&self, number: u64, of: &str) {
        i!(Bench::On, "%d of %s", number, of);
    }

    #[inline]
    fn two_ints_and_float(&self, number: u64, of: u64, time: f64) {
        i!(Bench::On, "%d of %d in %f", number, of, time);
    }

    #[inline]
    fn long_text(&self, text: &str) {
        i!(Bench::On, "text %s", text);
    }

    fn settle(&mut self) {
        self.0.flush().expect("write the trace");
    }

    fn close(self) {
        self.0.stop().expect("complete the trace");
    }
}

/// Percentiles of bursts.
struct InBursts;

impl Calls for InBursts {
    type Output = [f64; 3];

    fn run(self, call: impl FnMut(u64)) -> [f64; 3] {
        bursts(call)
    }
}

/// A loop without pauses.
struct InLoop;

impl Calls for InLoop {
    type Output = ();

    fn run(self, call: impl FnMut(u64)) {
        (0..LOOP).for_each(call);
    }
}

/// p50 and p99 of bursts, and CPU nanoseconds of a message.
fn round<L: Logger>(shape: Shape, path: &Path) -> [f64; 3] {
    let mut logger = L::open(path);
    let [p50, p99, _] = with_calls(&logger, shape, InBursts);
    logger.settle();
    let before = cpu();
    with_calls(&logger, shape, InLoop);
    logger.settle();
    let nanos = (cpu() - before) as f64 / LOOP as f64;
    logger.close();
    [p50, p99, nanos]
}

/// Prints the table.
pub(crate) fn run() {
    let dir = tempfile::tempdir().expect("make a temporary directory");
    let path = dir.path().join("trace");
    let columns = ["final p50 ns", "p99 ns", "CPU ns", "deferred p50 ns", "p99 ns", "CPU ns"];
    head("Final bytes on the caller, or records to be encoded later", &columns);
    for shape in Shape::ALL {
        let mut figures = [const { Vec::new() }; 6];
        for _ in 0..ROUNDS {
            let round = [round::<Final>(shape, &path), round::<Deferred>(shape, &path)].concat();
            figures.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
        }
        let cells = figures.map(|values| format!("{:.1}", median(values)));
        println!("| {} | {} |", shape.word(), cells.join(" | "));
    }
}
