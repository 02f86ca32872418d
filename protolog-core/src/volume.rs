//! The size of a message, by which bytes are sampled ([`crate::control::rate`]): about that of its
//! packet in a trace, where each of its texts is new to the chunk and the clock goes on by some
//! microseconds.
//!
//! It is a function of the arguments alone. So a program knows it before it is known who records
//! the message, what its chunk has, and whether a text will be cut; and a reader knows it, too, for
//! each message that has its whole texts.
//!
//! Invariant: an integer has one size, whether it is passed as a signed or an unsigned one.
//! `testdata/volumes.tsv` has sizes, for Java's too.

use crate::Arg;

/// The size of a message without arguments.
const MESSAGE: u64 = 18;

/// The size of a text beside its bytes: its id in the message, its definition, and its part of what
/// a packet with texts has more.
const AROUND_TEXT: u64 = 12;

/// The size of a message, as its arguments are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume(u64);

impl Volume {
    /// That of a message without arguments.
    pub const fn new() -> Self {
        Self(MESSAGE)
    }

    /// Adds an argument.
    pub const fn add(&mut self, arg: Arg<'_>) {
        self.0 += match arg {
            Arg::Int(number) => integer(number.unsigned_abs() - (number < 0) as u64),
            Arg::Uint(number) => integer(number),
            Arg::Float(_) => 9,
            Arg::Bool(_) => 2,
            Arg::Str(text) => AROUND_TEXT + text.len() as u64,
        };
    }

    /// Returns the bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for Volume {
    fn default() -> Self {
        Self::new()
    }
}

/// A tag, and the bytes of seven bits each: those of twice the number, and of a sign.
const fn integer(number: u64) -> u64 {
    let bits = u64::BITS + 1 - number.leading_zeros();
    1 + bits.div_ceil(7) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn sizes_are_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../testdata/volumes.tsv").lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            let [kind, value, bytes] = cells[..] else { panic!("three cells: {line}") };
            let arg = match kind {
                "int" => Arg::Int(value.parse().expect("a number")),
                "uint" => Arg::Uint(value.parse().expect("a number")),
                "float" => Arg::Float(value.parse().expect("a number")),
                "bool" => Arg::Bool(value == "true"),
                _ => Arg::Str(value),
            };
            let mut volume = Volume::new();
            volume.add(arg);
            assert_eq!(
                volume.bytes() - Volume::new().bytes(),
                bytes.parse().expect("a size"),
                "{line}"
            );
            if let Arg::Int(number @ 0..) = arg {
                let mut same = Volume::default();
                same.add(Arg::Uint(number as u64));
                assert_eq!(same, volume, "{line}");
            }
            rows += 1;
        }
        assert!(rows > 15);
    }
}
