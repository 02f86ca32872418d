//! Kinds of parameters, and the mask that packs the kinds of a message's parameters into 64 bits.
//!
//! Parameter `i` has bits `2i` and `2i + 1`. A mask does not contain the number of parameters,
//! because a string is 00; code that needs the number stores it beside the mask.

/// Maximum number of parameters of a message: as many as fit the mask.
pub const MAX_PARAMS: usize = 32;

/// The kind of a parameter on the wire. The numbers are the two bits in the mask, as in AOSP's
/// ProtoLog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ParamKind {
    /// `%s`: interned string.
    Str = 0b00,
    /// `%d %o %x`: 64-bit integer.
    Int = 0b01,
    /// `%f %e %g`: double.
    Float = 0b10,
    /// `%b`: boolean.
    Bool = 0b11,
}

impl ParamKind {
    const fn from_bits(bits: u64) -> Self {
        match bits & 0b11 {
            0b00 => Self::Str,
            0b01 => Self::Int,
            0b10 => Self::Float,
            _ => Self::Bool,
        }
    }
}

/// The kinds of up to [`MAX_PARAMS`] parameters, two bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParamMask(u64);

impl ParamMask {
    /// No parameters, or strings only.
    pub const EMPTY: Self = Self(0);

    /// A mask from its bits, as found in rewritten code.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The kind of parameter `index`; none from [`MAX_PARAMS`] up.
    pub const fn kind(self, index: usize) -> Option<ParamKind> {
        if index < MAX_PARAMS { Some(ParamKind::from_bits(self.0 >> (2 * index))) } else { None }
    }

    /// The mask with parameter `index` set to `kind`; none from [`MAX_PARAMS`] up.
    #[must_use]
    pub const fn with(self, index: usize, kind: ParamKind) -> Option<Self> {
        if index >= MAX_PARAMS {
            return None;
        }
        Some(Self(self.0 & !(0b11 << (2 * index)) | (kind as u64) << (2 * index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(kinds: &[ParamKind]) -> u64 {
        let with =
            |mask: ParamMask, (index, kind): (usize, &ParamKind)| mask.with(index, *kind).unwrap();
        kinds.iter().enumerate().fold(ParamMask::EMPTY, with).bits()
    }

    #[test]
    fn two_bits_a_parameter() {
        use ParamKind::{Bool, Float, Int, Str};
        assert_eq!(mask(&[Str, Float, Int, Bool]), 0b11011000);
        assert_eq!(mask(&[Int, Float]), 9);
        assert_eq!(mask(&[Str, Int]), 4);
        assert_eq!(mask(&[Int; 20]), 366503875925);
        assert_eq!(mask(&[Bool; 32]), u64::MAX);
    }

    #[test]
    fn kinds_come_back_up_to_the_last() {
        for index in 0..MAX_PARAMS {
            for kind in [ParamKind::Str, ParamKind::Int, ParamKind::Float, ParamKind::Bool] {
                let around = ParamMask::from_bits(u64::MAX).with(index, kind).unwrap();
                assert_eq!(around.kind(index), Some(kind));
                assert_eq!(
                    around.bits() | 0b11 << (2 * index),
                    u64::MAX,
                    "the others are unchanged"
                );
            }
        }
        assert_eq!(ParamMask::EMPTY.kind(MAX_PARAMS), None);
        assert_eq!(ParamMask::EMPTY.with(MAX_PARAMS, ParamKind::Bool), None);
    }
}
