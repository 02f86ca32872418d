//! The wire format's primitives: tags, varints, zigzag.
//!
//! All functions are pure, and `const` if the language allows it, so that the bytes of a field that
//! is known at compile time are constants. The format is that of the protobuf encoding guide. A
//! field starts with a varint `number << 3 | wire type`. A varint has at most ten bytes, with seven
//! bits each, the lowest first; the top bit is set on all bytes but the last.

/// Maximum length of a varint: ten bytes hold 64 bits.
pub const MAX_VARINT_LEN: usize = 10;

/// The largest field number, 2^29 - 1.
pub const MAX_FIELD_NUMBER: u32 = (1 << 29) - 1;

/// Bytes of a size field that is reserved before its value is known.
pub const SIZE_FIELD_LEN: usize = 4;

/// The largest value of a reserved size field, 2^28 - 1: four bytes of seven bits.
pub const MAX_RESERVED_SIZE: u32 = (1 << 28) - 1;

/// The encoding of the bytes after a tag, in the low three bits of the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WireType {
    /// One varint: `int32`, `int64`, `uint32`, `uint64`, `sint32`, `sint64`, `bool` and enums.
    Varint = 0,
    /// Eight bytes, little-endian: `fixed64`, `sfixed64`, `double`.
    Fixed64 = 1,
    /// A varint and as many bytes: `string`, `bytes`, messages, packed repeated fields.
    Bytes = 2,
    /// Fields up to the matching end; deprecated since proto2, readers skip it.
    StartGroup = 3,
    /// The end of the group that was started last.
    EndGroup = 4,
    /// Four bytes, little-endian: `fixed32`, `sfixed32`, `float`.
    Fixed32 = 5,
}

impl WireType {
    /// The wire type with these three bits; `None` for 6 and 7, which are invalid.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Varint,
            1 => Self::Fixed64,
            2 => Self::Bytes,
            3 => Self::StartGroup,
            4 => Self::EndGroup,
            5 => Self::Fixed32,
            _ => return None,
        })
    }

    /// The name in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Varint => "varint",
            Self::Fixed64 => "fixed64",
            Self::Bytes => "bytes",
            Self::StartGroup => "start of group",
            Self::EndGroup => "end of group",
            Self::Fixed32 => "fixed32",
        }
    }
}

/// The tag of a field, before it is encoded as a varint.
///
/// ```
/// use protozero::wire::{WireType, tag};
/// assert_eq!(tag(1, WireType::Bytes), 0x0a);
/// assert_eq!(tag(104, WireType::Bytes), 0x342); // on the wire: c2 06
/// ```
///
/// `field` is from 1 to [`MAX_FIELD_NUMBER`]; higher bits are lost.
#[inline]
pub const fn tag(field: u32, wire_type: WireType) -> u32 {
    field << 3 | wire_type as u32
}

/// Maps signed to unsigned so that values near zero stay small: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bytes of the varint of `value`, 1 to 10, without a branch.
///
/// ```
/// use protozero::wire::varint_len;
/// assert_eq!([varint_len(0), varint_len(127), varint_len(128), varint_len(u64::MAX)], [1, 1, 2, 10]);
/// ```
#[inline]
pub const fn varint_len(value: u64) -> usize {
    len_of_nonzero(value | 1)
}

#[inline]
#[allow(
    clippy::manual_ilog2,
    reason = "`ilog2` panics for 0, which the compiler does not always see excluded"
)]
const fn len_of_nonzero(value: u64) -> usize {
    // 9 / 64 is just above 1 / 7, close enough for 64 bits: the quotient rounds to the bytes of
    // that many bits.
    let highest = 63 - value.leading_zeros();
    ((highest * 9 + 73) / 64) as usize
}

/// The varint of `value` as one little-endian integer, and its length. A writer with 16 bytes of
/// room can store it at once instead of byte by byte.
///
/// ```
/// use protozero::wire::packed_varint;
/// assert_eq!(packed_varint(300), (0x02ac, 2)); // ac 02
/// ```
#[inline]
pub const fn packed_varint(value: u64) -> (u128, usize) {
    if value < 1 << 7 {
        return (value as u128, 1);
    }
    let (first, len) = first_eight(value);
    let packed = if value < 1 << 56 {
        first as u128
    } else {
        first as u128 | (last_two(value) as u128) << 64
    };
    (packed, len)
}

/// The varint of `value`, which is from 1 to 2^28 - 1, as one little-endian integer, and its
/// length: fewer steps than [`packed_varint`] takes.
///
/// ```
/// use protozero::wire::short_varint;
/// assert_eq!(short_varint(300), (0x02ac, 2)); // ac 02
/// ```
#[inline]
#[allow(
    clippy::manual_ilog2,
    reason = "`ilog2` panics for 0, which the compiler does not always see excluded"
)]
pub const fn short_varint(value: u32) -> (u32, usize) {
    debug_assert!(value > 0 && value < 1 << 28);
    let groups = value + 3 * (value & 0x0fff_c000);
    let groups = groups + (groups & 0x3f80_3f80);
    let highest = (31 - value.leading_zeros()) as usize;
    (groups | SHORT.continued[highest], SHORT.len[highest] as usize)
}

/// The length of a varint of at most four bytes, and the top bits of all of them but the last, by
/// the highest bit of the value: a load each, in place of four steps for the length alone.
struct ShortForms {
    continued: [u32; 32],
    len: [u8; 32],
}

const SHORT: &ShortForms = &{
    let (mut continued, mut len) = ([0; 32], [0; 32]);
    let mut highest = 0;
    while highest < 28 {
        len[highest] = highest as u8 / 7 + 1;
        continued[highest] = 0x0080_8080 >> (8 * (4 - len[highest]));
        highest += 1;
    }
    ShortForms { continued, len }
};

/// Stores the varint of `value` and returns its length. The bytes after it are meaningless.
///
/// ```
/// use protozero::wire::store_varint;
/// let mut out = [0; 10];
/// assert_eq!(store_varint(&mut out, 300), 2);
/// assert_eq!(out[..2], [0xac, 0x02]);
/// ```
#[inline]
pub const fn store_varint(out: &mut [u8; MAX_VARINT_LEN], value: u64) -> usize {
    let (first, len) = if value < 1 << 7 { (value, 1) } else { first_eight(value) };
    if let Some(place) = out.first_chunk_mut() {
        *place = first.to_le_bytes();
    }
    if value >= 1 << 56 {
        [out[8], out[9]] = last_two(value).to_le_bytes();
    }
    len
}

/// The first eight bytes of a varint of more than one byte, and the length of all of it.
#[inline]
const fn first_eight(value: u64) -> (u64, usize) {
    let len = len_of_nonzero(value);
    // Seven bits to a byte in three steps that each halve the distance left to go. Bits move up by
    // `k` when 2^k - 1 times themselves is added.
    let groups = value & 0x00ff_ffff_ffff_ffff;
    let groups = groups + 15 * (groups & 0x00ff_ffff_f000_0000);
    let groups = groups + 3 * (groups & 0x0fff_c000_0fff_c000);
    let groups = groups + (groups & 0x3f80_3f80_3f80_3f80);
    (groups | CONTINUED[len & 15], len)
}

/// The ninth and tenth byte of the varint of a value of 2^56 and above.
#[inline]
const fn last_two(value: u64) -> u16 {
    // Bit 63 is both the top bit of the ninth byte, to say that a tenth follows, and the tenth.
    (value >> 56) as u16 | ((value >> 63) as u16) << 8
}

/// The top bits of the first eight bytes, without that of the last byte, by length. Loading them is
/// cheaper than shifting.
const CONTINUED: [u64; 16] = {
    let mut masks = [0x8080_8080_8080_8080; 16];
    let mut len = 1;
    while len <= 8 {
        masks[len] = 0x0080_8080_8080_8080 >> (8 * (8 - len));
        len += 1;
    }
    masks
};

/// The varint of `value`: the first `len` bytes of the array, the others are zero.
///
/// ```
/// use protozero::wire::encode_varint;
/// let (bytes, len) = encode_varint(300);
/// assert_eq!(bytes[..len], [0xac, 0x02]);
/// ```
#[inline]
pub const fn encode_varint(value: u64) -> ([u8; MAX_VARINT_LEN], usize) {
    let (packed, len) = packed_varint(value);
    let wide = packed.to_le_bytes();
    let mut bytes = [0; MAX_VARINT_LEN];
    let mut i = 0;
    while i < MAX_VARINT_LEN {
        bytes[i] = wide[i];
        i += 1;
    }
    (bytes, len)
}

/// Writes the varint of `value` to the front of `out` and returns its length. If `out` is too
/// short, writes nothing and returns `None`.
#[inline]
pub fn write_varint(out: &mut [u8], value: u64) -> Option<usize> {
    let (bytes, len) = encode_varint(value);
    out.get_mut(..len)?.copy_from_slice(bytes.get(..len)?);
    Some(len)
}

/// The varint of `size` in exactly four bytes, padded with redundant zero groups, so that its space
/// can be reserved before the value is known. `None` above [`MAX_RESERVED_SIZE`].
///
/// ```
/// use protozero::wire::redundant_varint;
/// assert_eq!(redundant_varint(5), Some([0x85, 0x80, 0x80, 0x00]));
/// assert_eq!(redundant_varint(1 << 28), None);
/// ```
#[inline]
pub const fn redundant_varint(size: u32) -> Option<[u8; SIZE_FIELD_LEN]> {
    if size > MAX_RESERVED_SIZE {
        return None;
    }
    let spread =
        (size & 0x7f) | (size & 0x3f80) << 1 | (size & 0x1f_c000) << 2 | (size & 0xfe0_0000) << 3;
    Some((spread | 0x0080_8080).to_le_bytes())
}

/// The error for a varint that can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarintError {
    /// The bytes end before the varint does; more bytes could complete it.
    Truncated,
    /// More than ten bytes, or more than 64 bits.
    TooLong,
}

/// Reads the varint at the front of `bytes`: its value and its length. Redundant forms are
/// accepted, as everywhere in protobuf.
///
/// ```
/// use protozero::wire::{VarintError, decode_varint};
/// assert_eq!(decode_varint(&[0xac, 0x02, 0xff]), Ok((300, 2)));
/// assert_eq!(decode_varint(&[0xac]), Err(VarintError::Truncated));
/// assert_eq!(decode_varint(&[0xff; 10]), Err(VarintError::TooLong));
/// ```
#[inline]
pub const fn decode_varint(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    let mut value = 0;
    let mut len = 0;
    while len < MAX_VARINT_LEN {
        if len >= bytes.len() {
            return Err(VarintError::Truncated);
        }
        let byte = bytes[len];
        value |= ((byte & 0x7f) as u64) << (7 * len as u32);
        len += 1;
        if byte < 0x80 {
            // The tenth byte has room for the 64th bit only.
            return if len == MAX_VARINT_LEN && byte > 1 {
                Err(VarintError::TooLong)
            } else {
                Ok((value, len))
            };
        }
    }
    Err(VarintError::TooLong)
}
