//! The contents of the messages: the values of ProtoZero's own benchmark, and values that vary.

use protozero::wire::varint_len;

/// The values of one message of the shape Simple; Nested takes four.
///
/// `cpp/loops.cc` has the same struct.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Record {
    /// For the fields `int32`, `uint32` (their low halves), `int64`, `uint64`.
    pub(crate) words: [u64; 4],
    /// The text with zeros behind it: the floor copies all of it.
    pub(crate) text: [u8; 32],
    /// Length of the text in bytes, at most 31.
    pub(crate) text_len: usize,
    /// The same text as Rust programs have it.
    pub(crate) string: &'static str,
    /// Bytes of the words as varints.
    pub(crate) lens: [u8; 4],
}

/// The records of one message: itself and the three that are nested in it.
pub(crate) type Message = [Record; 4];

/// So many messages come in turn with the seed's values: few enough for the first-level cache.
pub(crate) const SEED_MESSAGES: usize = 16;

/// So many messages come in turn with varied values: too many for a branch predictor to learn all
/// their lengths.
pub(crate) const VARIED_MESSAGES: usize = 512;

/// Which values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Values {
    /// Those of ProtoZero's own benchmark: constants, of which every integer takes five bytes as a
    /// varint, and 31 characters with a zero behind them.
    Seed,
    /// Integers of any number of bits, each number as likely as another, and texts of 0 to 31
    /// bytes; the same ones in every run.
    Varied,
}

/// Both sets of values.
pub(crate) struct Records {
    pub(crate) seed: Box<[Message; SEED_MESSAGES]>,
    pub(crate) varied: Box<[Message; VARIED_MESSAGES]>,
}

const TEXT: &str = "fffffffffffffffffffffffffffffff";
const SEED: [u64; 4] = [0x1234_5678, 0x90ab_cdef, 0x1111_1111, 0xffff_ffff];

impl Records {
    pub(crate) fn new() -> Self {
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        Self {
            seed: Box::new([[Record::new(SEED, TEXT); 4]; SEED_MESSAGES]),
            varied: Box::new(std::array::from_fn(|_| std::array::from_fn(|_| random.record()))),
        }
    }

    /// The messages of these values.
    pub(crate) fn of(&self, values: Values) -> &[Message] {
        match values {
            Values::Seed => &*self.seed,
            Values::Varied => &*self.varied,
        }
    }
}

impl Record {
    fn new(words: [u64; 4], string: &'static str) -> Self {
        let mut text = [0; 32];
        text[..string.len()].copy_from_slice(string.as_bytes());
        let lens = words.map(|word| varint_len(word) as u8);
        Self { words, text, text_len: string.len(), string, lens }
    }
}

/// Marsaglia's xorshift: enough to vary lengths.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn record(&mut self) -> Record {
        let mut word = |bits: u64| {
            let bits = 1 + self.next() % bits;
            (self.next() | 1 << 63) >> (64 - bits)
        };
        let words = [word(32), word(32), word(64), word(64)];
        let len = self.next() as usize % (TEXT.len() + 1);
        Record::new(words, &TEXT[..len])
    }
}
