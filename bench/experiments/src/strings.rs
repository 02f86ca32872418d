//! Each text with an id of its own, in its own packet; or a table per chunk of the texts that it
//! has already.

use crate::ring::{Ring, SIZE};
use crate::{ROUNDS, best, head};
use harness::cpu;
use protolog_core::schema::{interned_data, interned_string, message, packet, sequence_flags};
use protozero::wire::{varint_len, zigzag};
use protozero::{Fixed, Message};

const MESSAGES: u64 = 100_000;
/// Entries of the table.
const ENTRIES: usize = 64;

/// A text of the chunk: a hash of it, where it is, its id.
#[derive(Clone, Copy, Default)]
struct Entry {
    chunk: u64,
    hash: u64,
    at: usize,
    iid: u64,
}

struct Table {
    entries: [Entry; ENTRIES],
}

/// A hash of length, beginning and end: texts that agree in all of them are told apart by
/// comparing.
#[inline]
fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let word = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (first, last) = if bytes.len() < 8 {
        let short = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        (short, 0)
    } else {
        (word(bytes.first_chunk()), word(bytes.last_chunk()))
    };
    let mixed = (first ^ (bytes.len() as u64) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ last).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl Table {
    /// The entry for this hash, and whether it is that of this very text.
    #[inline]
    fn find(&mut self, ring: &Ring, text: &str, hash: u64) -> (&mut Entry, bool) {
        let entry = &mut self.entries[(hash >> 58) as usize % ENTRIES];
        let same = entry.chunk == ring.taken
            && entry.hash == hash
            && ring.memory.get(entry.at..entry.at + text.len()) == Some(text.as_bytes());
        (entry, same)
    }
}

/// Logs an integer and a text.
#[inline]
fn log(ring: &mut Ring, table: Option<&mut Table>, iid: &mut u64, number: u64, text: &str) {
    let delta = ring.delta();
    let write = |ring: &mut Ring, iid: &mut u64, table: Option<&mut Table>| -> bool {
        let Some(table) = table else {
            let done = ring.packet(|to| fill(to, delta, number, *iid, Some(text)));
            *iid += 1;
            return done;
        };
        let hash = hash(text);
        let (entry, same) = table.find(ring, text, hash);
        if same {
            let known = entry.iid;
            return ring.packet(|to| fill(to, delta, number, known, None));
        }
        // Timestamp; tag and size of the interned data, tag and size of the string; id; tag and
        // size of the text.
        let before = (1 + varint_len(delta)) + 2 + 3 + (1 + varint_len(*iid)) + 2;
        let at = ring.position + SIZE + before;
        *entry = Entry { chunk: ring.taken, hash, at, iid: *iid };
        let done = ring.packet(|to| fill(to, delta, number, *iid, Some(text)));
        *iid += 1;
        done
    };
    let mut table = table;
    if !write(ring, iid, table.as_deref_mut()) {
        ring.take();
        *iid = 1;
        write(ring, iid, table);
    }
}

/// Bytes of an interned text's fields.
fn interned(iid: u64, text: &str) -> usize {
    1 + varint_len(iid) + 1 + varint_len(text.len() as u64) + text.len()
}

#[inline]
fn fill(to: &mut Message<'_, Fixed<'_>>, delta: u64, number: u64, iid: u64, text: Option<&str>) {
    to.uint64(packet::TIMESTAMP, delta);
    if let Some(text) = text {
        let string = interned(iid, text);
        to.nested_exact(packet::INTERNED_DATA, 2 + varint_len(string as u64) + string)
            .nested_exact(interned_data::PROTOLOG_STRING_ARGS, string)
            .uint64(interned_string::IID, iid)
            .string(interned_string::STR, text);
    }
    to.uint32(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
    let size = 9 + 1 + varint_len(zigzag(number as i64)) + 1 + varint_len(iid);
    to.nested_exact(packet::PROTOLOG_MESSAGE, size)
        .fixed64(message::MESSAGE_ID, Ring::id())
        .sint64(message::SINT64_PARAMS, number as i64)
        .uint64(message::STR_PARAM_IIDS, iid);
}

/// Nanoseconds and bytes of a message.
fn round(texts: &[String], with_table: bool) -> (f64, f64) {
    let mut ring = Ring::new(256 << 10, 4096, 0);
    let mut table = Table { entries: [Entry::default(); ENTRIES] };
    let mut iid = 1;
    ring.take();
    let start = cpu();
    for number in 0..MESSAGES {
        let text = &texts[number as usize % texts.len()];
        log(&mut ring, with_table.then_some(&mut table), &mut iid, number, text);
    }
    let nanos = (cpu() - start) as f64;
    (nanos / MESSAGES as f64, ring.bytes as f64 / MESSAGES as f64)
}

/// Prints the table.
pub(crate) fn run() {
    let words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"];
    let eight: Vec<String> = words.map(str::to_owned).into();
    let many: Vec<String> = (0..1000).map(|number| format!("word {number:03}")).collect();
    let long = vec!["0123456789".repeat(4)];
    let other: Vec<String> = (0..1000).map(|number| format!("{number:040}")).collect();
    let cases = [
        ("8 texts of 4 to 7 bytes", &eight),
        ("1000 texts of 8 bytes", &many),
        ("one text of 40 bytes", &long),
        ("1000 texts of 40 bytes", &other),
    ];
    let columns = ["own id ns", "bytes", "table per chunk ns", "bytes"];
    head("An integer and a text: ids of texts", &columns);
    for (name, texts) in cases {
        let mut times = [const { Vec::new() }; 2];
        let mut bytes = [0.0; 2];
        for _ in 0..ROUNDS {
            for (with_table, times) in times.iter_mut().enumerate() {
                let (nanos, size) = round(texts, with_table == 1);
                times.push(nanos);
                bytes[with_table] = size;
            }
        }
        let [own, table] = times.map(best);
        println!("| {name} | {own:.1} | {:.1} | {table:.1} | {:.1} |", bytes[0], bytes[1]);
    }
}
