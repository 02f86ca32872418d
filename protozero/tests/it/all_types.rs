//! A message with every scalar type, a nested message, and tags of every length, for prost;
//! functions that write and read the same with this crate; and a strategy that generates messages.

use proptest::prelude::*;
use protozero::{DecodeError, Delegate, Message, Reader};

/// Every field is optional, so that values that are a type's default are on the wire too.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct AllTypes {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) uint64: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) uint32: Option<u32>,
    #[prost(int64, optional, tag = "3")]
    pub(crate) int64: Option<i64>,
    #[prost(int32, optional, tag = "4")]
    pub(crate) int32: Option<i32>,
    #[prost(sint64, optional, tag = "15")]
    pub(crate) sint64: Option<i64>,
    #[prost(sint32, optional, tag = "16")]
    pub(crate) sint32: Option<i32>,
    #[prost(bool, optional, tag = "17")]
    pub(crate) bool: Option<bool>,
    #[prost(fixed64, optional, tag = "18")]
    pub(crate) fixed64: Option<u64>,
    #[prost(fixed32, optional, tag = "2047")]
    pub(crate) fixed32: Option<u32>,
    #[prost(sfixed64, optional, tag = "2048")]
    pub(crate) sfixed64: Option<i64>,
    #[prost(sfixed32, optional, tag = "262143")]
    pub(crate) sfixed32: Option<i32>,
    #[prost(double, optional, tag = "262144")]
    pub(crate) double: Option<f64>,
    #[prost(float, optional, tag = "33554431")]
    pub(crate) float: Option<f32>,
    #[prost(string, optional, tag = "33554432")]
    pub(crate) string: Option<String>,
    #[prost(bytes = "vec", optional, tag = "536870910")]
    pub(crate) bytes: Option<Vec<u8>>,
    #[prost(message, optional, boxed, tag = "536870911")]
    pub(crate) child: Option<Box<AllTypes>>,
}

/// The encoding of the sizes of nested messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sizes {
    /// Reserved and filled in.
    Reserved,
    /// Announced.
    Exact,
}

impl AllTypes {
    /// Writes all fields in the order of their numbers, as prost does.
    pub(crate) fn write<D: Delegate>(&self, to: &mut Message<'_, D>, sizes: Sizes) {
        macro_rules! set {
            ($($setter:ident $number:literal)*) => {
                $(if let Some(value) = self.$setter {
                    to.$setter($number, value);
                })*
            };
        }
        set!(uint64 1 uint32 2 int64 3 int32 4 sint64 15 sint32 16 bool 17 fixed64 18 fixed32 2047);
        set!(sfixed64 2048 sfixed32 262_143 double 262_144 float 33_554_431);
        if let Some(value) = &self.string {
            to.string(33_554_432, value);
        }
        if let Some(value) = &self.bytes {
            to.bytes(536_870_910, value);
        }
        if let Some(child) = &self.child {
            match sizes {
                Sizes::Reserved => child.write(&mut to.nested(536_870_911), sizes),
                Sizes::Exact => {
                    let size = prost::Message::encoded_len(&**child);
                    child.write(&mut to.nested_exact(536_870_911, size), sizes);
                }
            }
        }
    }

    /// Reads fields into `self`, as protobuf merges: the last scalar wins, nested messages are
    /// merged.
    pub(crate) fn merge(&mut self, fields: Reader<'_>) -> Result<(), DecodeError> {
        for field in fields {
            let field = field?;
            match field.number {
                1 => self.uint64 = Some(field.as_u64()?),
                2 => self.uint32 = Some(field.as_u32()?),
                3 => self.int64 = Some(field.as_i64()?),
                4 => self.int32 = Some(field.as_i32()?),
                15 => self.sint64 = Some(field.as_sint64()?),
                16 => self.sint32 = Some(field.as_sint32()?),
                17 => self.bool = Some(field.as_bool()?),
                18 => self.fixed64 = Some(field.as_fixed64()?),
                2047 => self.fixed32 = Some(field.as_fixed32()?),
                2048 => self.sfixed64 = Some(field.as_sfixed64()?),
                262_143 => self.sfixed32 = Some(field.as_sfixed32()?),
                262_144 => self.double = Some(field.as_f64()?),
                33_554_431 => self.float = Some(field.as_f32()?),
                33_554_432 => self.string = Some(field.as_str()?.to_owned()),
                536_870_910 => self.bytes = Some(field.as_bytes()?.to_vec()),
                536_870_911 => {
                    self.child.get_or_insert_default().merge(field.as_message()?)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// True if two messages are equal, including NaN: prost encodes them to the same bytes.
pub(crate) fn same(a: &AllTypes, b: &AllTypes) -> bool {
    prost::Message::encode_to_vec(a) == prost::Message::encode_to_vec(b)
}

/// Messages nested up to `depth` deep, in which varints of all lengths are about equally likely.
pub(crate) fn all_types(depth: u32) -> BoxedStrategy<AllTypes> {
    use proptest::option::of;
    let wide = || of((any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift));
    let narrow = || of((any::<u32>(), 0..32_u32).prop_map(|(value, shift)| value >> shift));
    let varints = (wide(), narrow(), wide(), narrow(), wide(), narrow(), of(any::<bool>()));
    let fixed = (wide(), narrow(), wide(), narrow(), wide(), narrow());
    let lengths = (of(".{0,40}"), of(proptest::collection::vec(any::<u8>(), 0..200)));
    let child = match depth {
        0 => Just(None).boxed(),
        _ => of(all_types(depth - 1).prop_map(Box::new)).boxed(),
    };
    (varints, fixed, lengths, child)
        .prop_map(|(varints, fixed, lengths, child)| AllTypes {
            uint64: varints.0,
            uint32: varints.1,
            int64: varints.2.map(|value| value as i64),
            int32: varints.3.map(|value| value as i32),
            sint64: varints.4.map(|value| value as i64),
            sint32: varints.5.map(|value| value as i32),
            bool: varints.6,
            fixed64: fixed.0,
            fixed32: fixed.1,
            sfixed64: fixed.2.map(|value| value as i64),
            sfixed32: fixed.3.map(|value| value as i32),
            double: fixed.4.map(f64::from_bits),
            float: fixed.5.map(f32::from_bits),
            string: lengths.0,
            bytes: lengths.1,
            child,
        })
        .boxed()
}
