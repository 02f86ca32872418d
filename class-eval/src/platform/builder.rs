//! `StringBuilder` and `StringBuffer`.

use super::{Answer, Args, Entry, answer, new_string, void};
use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::Machine;
use crate::value::{Ref, Value};

/// The methods of a class, which both classes have.
macro_rules! table {
    ($($class:literal)*) => {
        &[$(
            (concat!($class, ".<init>()V"), |_, _| void()),
            (concat!($class, ".<init>(I)V"), |_, _| void()),
            (concat!($class, ".<init>(Ljava/lang/String;)V"), |m, a| {
                a.text(1, m)?;
                append(m, a, "Ljava/lang/String;")?;
                void()
            }),
            (concat!($class, ".append(Ljava/lang/String;)L", $class, ";"), |m, a| append(m, a, "Ljava/lang/String;")),
            (concat!($class, ".append(Ljava/lang/Object;)L", $class, ";"), |m, a| append(m, a, "Ljava/lang/Object;")),
            (concat!($class, ".append(Ljava/lang/CharSequence;)L", $class, ";"), |m, a| append(m, a, "Ljava/lang/CharSequence;")),
            (concat!($class, ".append(I)L", $class, ";"), |m, a| append(m, a, "I")),
            (concat!($class, ".append(J)L", $class, ";"), |m, a| append(m, a, "J")),
            (concat!($class, ".append(C)L", $class, ";"), |m, a| append(m, a, "C")),
            (concat!($class, ".append(Z)L", $class, ";"), |m, a| append(m, a, "Z")),
            (concat!($class, ".append(F)L", $class, ";"), |m, a| append(m, a, "F")),
            (concat!($class, ".append(D)L", $class, ";"), |m, a| append(m, a, "D")),
            (concat!($class, ".toString()Ljava/lang/String;"), |m, a| {
                let content = content(m, a.object(0)?)?.clone();
                m.spend(content.len() / 16)?;
                new_string(m, content)
            }),
            (concat!($class, ".length()I"), |m, a| {
                let length = content(m, a.object(0)?)?.len();
                answer(length as i32)
            }),
            (concat!($class, ".setLength(I)V"), |m, a| {
                let (object, length) = (a.object(0)?, a.int(1)?);
                let content = content(m, object)?;
                match usize::try_from(length) {
                    Ok(length) if length <= content.len() => content.truncate(length),
                    _ => return Err(super::lang::unknown("StringBuilder.setLength")),
                }
                void()
            }),
        )*]
    };
}

pub(super) const TABLE: &[Entry] = table!("java/lang/StringBuilder" "java/lang/StringBuffer");

fn append(machine: &mut Machine<'_>, a: Args<'_>, descriptor: &str) -> Answer {
    let builder = a.object(0)?;
    let mut added = Vec::new();
    machine.append(&mut added, a.at(1)?, descriptor)?;
    content(machine, builder)?.extend(added);
    answer(Value::Ref(builder))
}

fn content<'m>(machine: &'m mut Machine<'_>, builder: Ref) -> Result<&'m mut Vec<u16>, Fault> {
    match machine.heap.get_mut(builder) {
        Object::Builder { unknown: Some(origin), .. } => Err(Fault::unknown(*origin)),
        Object::Builder { content, .. } => Ok(content),
        _ => Err(Fault::malformed("an object that is no StringBuilder")),
    }
}
