//! `UUID`, by which AOSP's groups number themselves; lists and iterators.

use super::{Answer, Args, Entry, answer, new_string, void};
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::Machine;
use crate::text;
use crate::value::Value;
use md5::{Digest, Md5};
use std::rc::Rc;

pub(super) const TABLE: &[Entry] = &[
    ("java/util/UUID.nameUUIDFromBytes([B)Ljava/util/UUID;", name_uuid_from_bytes),
    ("java/util/UUID.<init>(JJ)V", |m, a| {
        m.fill(a.at(0)?, Object::Uuid(a.long(1)?, a.long(2)?))?;
        void()
    }),
    ("java/util/UUID.getMostSignificantBits()J", |m, a| answer(uuid(m, a)?.0)),
    ("java/util/UUID.getLeastSignificantBits()J", |m, a| answer(uuid(m, a)?.1)),
    ("java/util/UUID.hashCode()I", |m, a| {
        let (high, low) = uuid(m, a)?;
        let both = high ^ low;
        answer((both >> 32) as i32 ^ both as i32)
    }),
    ("java/util/UUID.equals(Ljava/lang/Object;)Z", |m, a| answer(m.equal(a.at(0)?, a.at(1)?)?)),
    ("java/util/UUID.toString()Ljava/lang/String;", |m, a| {
        let (high, low) = uuid(m, a)?;
        let digits = format!("{high:016x}{low:016x}");
        let (a, b, c, d, e) =
            (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
        new_string(m, text::from_str(&format!("{a}-{b}-{c}-{d}-{e}")))
    }),
    ("java/util/List.of([Ljava/lang/Object;)Ljava/util/List;", list_of_array),
    ("java/util/List.size()I", |m, a| answer(m.heap.elements(a.object(0)?)?.len() as i32)),
    ("java/util/List.isEmpty()Z", |m, a| answer(m.heap.elements(a.object(0)?)?.is_empty())),
    ("java/util/List.get(I)Ljava/lang/Object;", |m, a| {
        let (values, index) = (m.heap.elements(a.object(0)?)?, a.int(1)?);
        let value = usize::try_from(index).ok().and_then(|index| values.get(index).copied());
        answer(value.ok_or_else(|| {
            let message = format!("Index {index} out of bounds for length {}", values.len());
            Fault::thrown("java.lang.IndexOutOfBoundsException", message)
        })?)
    }),
    ("java/util/List.iterator()Ljava/util/Iterator;", |m, a| {
        let Object::List { values, .. } = m.heap.get(a.object(0)?) else {
            return Err(Fault::malformed("an object that is no list"));
        };
        let values = Rc::clone(values);
        answer(m.heap.add(Object::Iterator { values, next: 0 })?)
    }),
    ("java/util/Iterator.hasNext()Z", |m, a| match m.heap.get(a.object(0)?) {
        Object::Iterator { values, next } => answer(*next < values.len()),
        _ => Err(Fault::malformed("an object that is no iterator")),
    }),
    ("java/util/Iterator.next()Ljava/lang/Object;", |m, a| match m.heap.get_mut(a.object(0)?) {
        Object::Iterator { values, next } => {
            let value = values.get(*next).copied();
            *next += 1;
            answer(value.ok_or_else(|| Fault::thrown("java.util.NoSuchElementException", ""))?)
        }
        _ => Err(Fault::malformed("an object that is no iterator")),
    }),
];

/// A UUID of version 3: the MD5 of the bytes, with version and variant set.
fn name_uuid_from_bytes(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let bytes = machine.heap.bytes(a.object(0)?)?;
    machine.spend(bytes.len() / 4)?;
    let mut digest: [u8; 16] = Md5::digest(&bytes).into();
    digest[6] = digest[6] & 0x0f | 0x30;
    digest[8] = digest[8] & 0x3f | 0x80;
    let all = u128::from_be_bytes(digest);
    answer(machine.heap.add(Object::Uuid((all >> 64) as i64, all as i64))?)
}

fn uuid(machine: &mut Machine<'_>, a: Args<'_>) -> Result<(i64, i64), Fault> {
    match machine.heap.get(a.object(0)?) {
        Object::Uuid(high, low) => Ok((*high, *low)),
        _ => Err(Fault::malformed("an object that is no UUID")),
    }
}

fn list_of_array(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    list(machine, a, "java/util/List")
}

/// A list of this class with the elements of the array that is the first argument.
pub(super) fn list(machine: &mut Machine<'_>, a: Args<'_>, class: &'static str) -> Answer {
    let values: Rc<[Value]> = machine.heap.elements(a.object(0)?)?.into();
    machine.spend(values.len() / 16)?;
    answer(machine.heap.add(Object::List { class, values })?)
}
