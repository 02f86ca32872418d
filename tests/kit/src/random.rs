//! Numbers that look like chance and are the same on every machine, for tests that choose among
//! very many cases.

/// A xorshift generator with 64 bits of state, seeded by FNV-1a of some bytes.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of `seed`.
    pub fn from_seed(seed: &[u8]) -> Self {
        let state = seed.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // Nothing but zeros follows a state of zero.
        Self(if state == 0 { 1 } else { state })
    }

    /// The next number, below `limit`.
    ///
    /// # Panics
    ///
    /// If `limit` is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_within_the_limit() {
        let numbers = |seed: &[u8]| {
            let mut random = Random::from_seed(seed);
            (0..100).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(b"a"), numbers(b"a"));
        assert_ne!(numbers(b"a"), numbers(b"b"));
        assert!((0..10).all(|number| numbers(b"a").contains(&number)));
    }
}
