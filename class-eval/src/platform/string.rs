//! `String`. Cases are changed as for `Locale.ROOT`, bytes are UTF-8 unless a character set is
//! given.

use super::{Answer, Args, Entry, answer, new_string, void};
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::Machine;
use crate::text::{self, Charset, Text};
use crate::value::Value;

pub(super) const TABLE: &[Entry] = &[
    ("java/lang/String.<init>()V", |_, _| void()),
    ("java/lang/String.<init>(Ljava/lang/String;)V", |m, a| {
        let text = a.text(1, m)?;
        m.fill(a.at(0)?, Object::String(text))?;
        void()
    }),
    ("java/lang/String.length()I", |m, a| answer(m.heap.text(a.object(0)?)?.len() as i32)),
    ("java/lang/String.isEmpty()Z", |m, a| answer(m.heap.text(a.object(0)?)?.is_empty())),
    ("java/lang/String.toString()Ljava/lang/String;", |_, a| answer(a.object(0)?)),
    ("java/lang/String.intern()Ljava/lang/String;", |m, a| {
        let text = a.text(0, m)?;
        answer(m.heap.interned(&text)?)
    }),
    ("java/lang/String.charAt(I)C", |m, a| {
        let (text, index) = (m.heap.text(a.object(0)?)?, a.int(1)?);
        let unit = usize::try_from(index).ok().and_then(|index| text.get(index).copied());
        answer(i32::from(unit.ok_or_else(|| out_of_bounds(index, text.len()))?))
    }),
    ("java/lang/String.hashCode()I", |m, a| answer(text::hash(&a.text(0, m)?))),
    ("java/lang/String.equals(Ljava/lang/Object;)Z", |m, a| answer(m.equal(a.at(0)?, a.at(1)?)?)),
    ("java/lang/String.compareTo(Ljava/lang/String;)I", |m, a| {
        let (left, right) = (a.text(0, m)?, a.text(1, m)?);
        let differ = left.iter().zip(right.iter()).find(|(left, right)| left != right);
        answer(match differ {
            Some((left, right)) => i32::from(*left) - i32::from(*right),
            None => left.len() as i32 - right.len() as i32,
        })
    }),
    ("java/lang/String.equalsIgnoreCase(Ljava/lang/String;)Z", |m, a| {
        let left = a.text(0, m)?;
        if a.at(1)? == Value::Null {
            return answer(false);
        }
        let right = a.text(1, m)?;
        let fold = |text: &Text| text::to_string(text).to_uppercase().to_lowercase();
        answer(left.len() == right.len() && fold(&left) == fold(&right))
    }),
    ("java/lang/String.concat(Ljava/lang/String;)Ljava/lang/String;", |m, a| {
        let (left, right) = (a.text(0, m)?, a.text(1, m)?);
        new_string(m, [&*left, &*right].concat())
    }),
    ("java/lang/String.substring(I)Ljava/lang/String;", |m, a| {
        let text = a.text(0, m)?;
        let end = text.len() as i32;
        substring(m, &text, a.int(1)?, end)
    }),
    ("java/lang/String.substring(II)Ljava/lang/String;", |m, a| {
        let text = a.text(0, m)?;
        substring(m, &text, a.int(1)?, a.int(2)?)
    }),
    ("java/lang/String.startsWith(Ljava/lang/String;)Z", |m, a| {
        answer(a.text(0, m)?.starts_with(&a.text(1, m)?))
    }),
    ("java/lang/String.endsWith(Ljava/lang/String;)Z", |m, a| {
        answer(a.text(0, m)?.ends_with(&a.text(1, m)?))
    }),
    ("java/lang/String.contains(Ljava/lang/CharSequence;)Z", |m, a| answer(find(m, a)?.is_some())),
    ("java/lang/String.indexOf(Ljava/lang/String;)I", |m, a| {
        answer(find(m, a)?.map_or(-1, |at| at as i32))
    }),
    ("java/lang/String.indexOf(I)I", |m, a| {
        let (text, unit) = (a.text(0, m)?, unit(a.int(1)?)?);
        answer(text.iter().position(|it| *it == unit).map_or(-1, |at| at as i32))
    }),
    ("java/lang/String.lastIndexOf(I)I", |m, a| {
        let (text, unit) = (a.text(0, m)?, unit(a.int(1)?)?);
        answer(text.iter().rposition(|it| *it == unit).map_or(-1, |at| at as i32))
    }),
    ("java/lang/String.replace(CC)Ljava/lang/String;", |m, a| {
        let (text, old, new) = (a.text(0, m)?, a.int(1)? as u16, a.int(2)? as u16);
        let replaced = text.iter().map(|unit| if *unit == old { new } else { *unit });
        new_string(m, replaced.collect::<Text>())
    }),
    ("java/lang/String.trim()Ljava/lang/String;", |m, a| {
        let text = a.text(0, m)?;
        let start = text.iter().position(|unit| *unit > 0x20).unwrap_or(text.len());
        let end = text.iter().rposition(|unit| *unit > 0x20).map_or(start, |last| last + 1);
        new_string(m, &text[start..end])
    }),
    ("java/lang/String.toUpperCase()Ljava/lang/String;", upper_case),
    ("java/lang/String.toUpperCase(Ljava/util/Locale;)Ljava/lang/String;", upper_case),
    ("java/lang/String.toLowerCase()Ljava/lang/String;", lower_case),
    ("java/lang/String.toLowerCase(Ljava/util/Locale;)Ljava/lang/String;", lower_case),
    ("java/lang/String.getBytes()[B", |m, a| {
        let text = a.text(0, m)?;
        bytes(m, &text, Charset::Utf8)
    }),
    ("java/lang/String.getBytes(Ljava/nio/charset/Charset;)[B", |m, a| {
        let text = a.text(0, m)?;
        match m.heap.get(a.object(1)?) {
            Object::Charset(charset) => {
                let charset = *charset;
                bytes(m, &text, charset)
            }
            _ => Err(Fault::malformed("an object that is no character set")),
        }
    }),
    ("java/lang/String.getBytes(Ljava/lang/String;)[B", |m, a| {
        let (text, name) = (a.text(0, m)?, text::to_string(&a.text(1, m)?));
        let charset = Charset::named(&name).ok_or_else(|| {
            Fault::unsupported(format!("the character set `{name}` can't be evaluated"))
        })?;
        bytes(m, &text, charset)
    }),
    ("java/lang/String.toCharArray()[C", |m, a| {
        let text = a.text(0, m)?;
        let units = text.iter().map(|unit| Value::Int(i32::from(*unit))).collect();
        answer(m.heap.array("C", units)?)
    }),
    ("java/lang/String.valueOf(Ljava/lang/Object;)Ljava/lang/String;", |m, a| {
        value_of(m, a, "Ljava/lang/Object;")
    }),
    ("java/lang/String.valueOf(I)Ljava/lang/String;", |m, a| value_of(m, a, "I")),
    ("java/lang/String.valueOf(J)Ljava/lang/String;", |m, a| value_of(m, a, "J")),
    ("java/lang/String.valueOf(C)Ljava/lang/String;", |m, a| value_of(m, a, "C")),
    ("java/lang/String.valueOf(Z)Ljava/lang/String;", |m, a| value_of(m, a, "Z")),
    ("java/lang/String.valueOf(F)Ljava/lang/String;", |m, a| value_of(m, a, "F")),
    ("java/lang/String.valueOf(D)Ljava/lang/String;", |m, a| value_of(m, a, "D")),
];

/// Returns the exception for an index outside a string.
fn out_of_bounds(index: i32, length: usize) -> Fault {
    let message = format!("index {index}, length {length}");
    Fault::thrown("java.lang.StringIndexOutOfBoundsException", message)
}

fn substring(machine: &mut Machine<'_>, text: &Text, start: i32, end: i32) -> Answer {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let part = range.and_then(|(start, end)| text.get(start..end));
    let part = part.ok_or_else(|| {
        let message = format!("begin {start}, end {end}, length {}", text.len());
        Fault::thrown("java.lang.StringIndexOutOfBoundsException", message)
    })?;
    new_string(machine, part)
}

/// Where the second argument, any sequence of characters, is in the first.
fn find(machine: &mut Machine<'_>, a: Args<'_>) -> Result<Option<usize>, Fault> {
    let text = a.text(0, machine)?;
    let object = a.object(1)?;
    let part = machine.text_of(Value::Ref(object), "Ljava/lang/CharSequence;")?;
    machine.spend(text.len() * part.len() / 16)?;
    if part.is_empty() {
        return Ok(Some(0));
    }
    Ok(text.windows(part.len()).position(|window| *window == *part))
}

/// A character that `indexOf` can look for in code units.
fn unit(char: i32) -> Result<u16, Fault> {
    u16::try_from(char).map_err(|_| super::lang::unknown("String.indexOf"))
}

fn upper_case(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let text = text::to_string(&a.text(0, machine)?).to_uppercase();
    new_string(machine, text::from_str(&text))
}

fn lower_case(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let text = text::to_string(&a.text(0, machine)?).to_lowercase();
    new_string(machine, text::from_str(&text))
}

fn bytes(machine: &mut Machine<'_>, text: &Text, charset: Charset) -> Answer {
    let bytes = charset.encode(text);
    let values = bytes.into_iter().map(|byte| Value::Int(i32::from(byte as i8))).collect();
    answer(machine.heap.array("B", values)?)
}

fn value_of(machine: &mut Machine<'_>, a: Args<'_>, descriptor: &str) -> Answer {
    let text = machine.text_of(a.at(0)?, descriptor)?;
    new_string(machine, text)
}
