//! `Object`, `Enum`, `Class`, `Math`, `Objects`, `System`; and functions for all of them: text,
//! equality and hash of any value.

use super::{Answer, Args, Entry, answer, new_string, void};
use crate::fault::Fault;
use crate::heap::{Heap, Object};
use crate::machine::Machine;
use crate::text::{self, Text};
use crate::value::{Ref, Value};
use std::rc::Rc;

pub(super) const TABLE: &[Entry] = &[
    ("java/lang/Object.<init>()V", |_, _| void()),
    ("java/lang/Record.<init>()V", |_, _| void()),
    ("java/lang/Object.getClass()Ljava/lang/Class;", |m, a| {
        let name = m.object_class_name(a.object(0)?);
        answer(m.heap.class(&name)?)
    }),
    ("java/lang/Object.equals(Ljava/lang/Object;)Z", |_, a| answer(a.at(0)? == a.at(1)?)),
    ("[.clone()Ljava/lang/Object;", clone_array),
    ("java/lang/Enum.<init>(Ljava/lang/String;I)V", |m, a| {
        m.heap.set_constant(a.object(0)?, a.at(1)?, a.int(2)?)?;
        void()
    }),
    ("java/lang/Enum.name()Ljava/lang/String;", |m, a| answer(m.heap.constant(a.object(0)?).0)),
    ("java/lang/Enum.toString()Ljava/lang/String;", |m, a| answer(m.heap.constant(a.object(0)?).0)),
    ("java/lang/Enum.ordinal()I", |m, a| answer(m.heap.constant(a.object(0)?).1)),
    ("java/lang/Enum.compareTo(Ljava/lang/Enum;)I", |m, a| {
        let (left, right) = (m.heap.constant(a.object(0)?).1, m.heap.constant(a.object(1)?).1);
        answer(left.wrapping_sub(right))
    }),
    ("java/lang/Enum.equals(Ljava/lang/Object;)Z", |_, a| answer(a.at(0)? == a.at(1)?)),
    ("java/lang/Enum.getDeclaringClass()Ljava/lang/Class;", declaring_class),
    ("java/lang/Enum.valueOf(Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/Enum;", enum_value_of),
    ("java/lang/Class.getName()Ljava/lang/String;", |m, a| {
        let name = m.class_literal(a)?.replace('/', ".");
        let name = m.heap.interned(&text::from_str(&name))?;
        answer(name)
    }),
    ("java/lang/Class.getTypeName()Ljava/lang/String;", |m, a| {
        let name = m.class_literal(a)?.replace('/', ".");
        if name.starts_with('[') { Err(unknown("Class.getTypeName")) } else { new_text(m, &name) }
    }),
    ("java/lang/Class.getPackageName()Ljava/lang/String;", |m, a| {
        let name = m.class_literal(a)?;
        let package = name.rsplit_once('/').map_or("", |name| name.0).replace('/', ".");
        if name.starts_with('[') {
            Err(unknown("Class.getPackageName"))
        } else {
            new_text(m, &package)
        }
    }),
    ("java/lang/Class.getSimpleName()Ljava/lang/String;", simple_name),
    ("java/lang/Class.getCanonicalName()Ljava/lang/String;", class_canonical_name),
    ("java/lang/Class.desiredAssertionStatus()Z", |_, _| answer(false)),
    ("java/lang/Math.abs(I)I", |_, a| answer(a.int(0)?.wrapping_abs())),
    ("java/lang/Math.abs(J)J", |_, a| answer(a.long(0)?.wrapping_abs())),
    ("java/lang/Math.abs(F)F", |_, a| answer(Value::Float(a.at(0)?.float()?.abs()))),
    ("java/lang/Math.abs(D)D", |_, a| answer(Value::Double(a.at(0)?.double()?.abs()))),
    ("java/lang/Math.max(II)I", |_, a| answer(a.int(0)?.max(a.int(1)?))),
    ("java/lang/Math.min(II)I", |_, a| answer(a.int(0)?.min(a.int(1)?))),
    ("java/lang/Math.max(JJ)J", |_, a| answer(a.long(0)?.max(a.long(1)?))),
    ("java/lang/Math.min(JJ)J", |_, a| answer(a.long(0)?.min(a.long(1)?))),
    ("java/lang/Math.floorMod(II)I", |_, a| {
        answer(floor_mod(a.int(0)?.into(), a.int(1)?.into())? as i32)
    }),
    (
        "java/lang/Math.floorMod(JI)I",
        |_, a| answer(floor_mod(a.long(0)?, a.int(1)?.into())? as i32),
    ),
    ("java/lang/Math.floorMod(JJ)J", |_, a| answer(floor_mod(a.long(0)?, a.long(1)?)?)),
    ("java/util/Objects.requireNonNull(Ljava/lang/Object;)Ljava/lang/Object;", |_, a| {
        answer(a.object(0)?)
    }),
    (
        "java/util/Objects.requireNonNull(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Object;",
        |m, a| match a.at(0)?.reference()? {
            Some(object) => answer(object),
            None => {
                let message = text::to_string(&a.text(1, m)?);
                Err(Fault::thrown("java.lang.NullPointerException", message))
            }
        },
    ),
    ("java/util/Objects.equals(Ljava/lang/Object;Ljava/lang/Object;)Z", |m, a| {
        answer(m.equal(a.at(0)?, a.at(1)?)?)
    }),
    ("java/util/Objects.hashCode(Ljava/lang/Object;)I", |m, a| answer(m.hash_of(a.at(0)?)?)),
    ("java/util/Objects.toString(Ljava/lang/Object;)Ljava/lang/String;", |m, a| {
        let text = m.text_of(a.at(0)?, OBJECT)?;
        new_string(m, text)
    }),
    ("java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V", array_copy),
];

const OBJECT: &str = "Ljava/lang/Object;";

impl Machine<'_> {
    /// The result of `String.valueOf` for a value with this descriptor.
    pub(crate) fn text_of(&mut self, value: Value, descriptor: &str) -> Result<Text, Fault> {
        let text = match value {
            Value::Null => "null".to_owned(),
            Value::Int(value) => match descriptor {
                "Z" => (value != 0).to_string(),
                "C" => return Ok([value as u16].into()),
                _ => value.to_string(),
            },
            Value::Long(value) => value.to_string(),
            Value::Float(value) => text::float(value),
            Value::Double(value) => text::double(value),
            Value::Ref(object) => return self.text_of_object(object),
            Value::Unknown(..) => return Err(value.known().err().unwrap_or_else(Fault::null)),
        };
        Ok(text::from_str(&text))
    }

    fn text_of_object(&mut self, object: Ref) -> Result<Text, Fault> {
        match self.heap.get(object) {
            Object::String(text) => return Ok(Rc::clone(text)),
            Object::Builder { unknown: Some(origin), .. } => return Err(Fault::unknown(*origin)),
            Object::Builder { content, .. } => return Ok(content.as_slice().into()),
            Object::Class(name) => {
                let kind = if name.starts_with('[') {
                    "class"
                } else {
                    self.class_kind(&Rc::clone(name))?
                };
                let Object::Class(name) = self.heap.get(object) else { return Err(Fault::null()) };
                return Ok(text::from_str(&format!("{kind} {}", name.replace('/', "."))));
            }
            _ => {}
        }
        let result = self.call_method(object, "toString", "()Ljava/lang/String;", &[])?;
        match result.map(Value::reference).transpose()?.flatten() {
            Some(string) => self.heap.text(string),
            None => Ok(text::from_str("null")),
        }
    }

    /// `interface` or `class`.
    fn class_kind(&mut self, name: &Rc<str>) -> Result<&'static str, Fault> {
        match self.load(name)? {
            Some(class) if self.loaded[class].class.is(noak::AccessFlags::INTERFACE) => {
                Ok("interface")
            }
            Some(_) => Ok("class"),
            None => Err(unknown("Class.toString")),
        }
    }

    /// `Objects.equals`.
    pub(super) fn equal(&mut self, left: Value, right: Value) -> Result<bool, Fault> {
        let (Some(left), Some(other)) = (left.reference()?, right.reference()?) else {
            return Ok(left == right);
        };
        if left == other {
            return Ok(true);
        }
        match (self.heap.get(left), self.heap.get(other)) {
            (Object::String(left), Object::String(right)) => {
                let (equal, length) = (left == right, left.len());
                self.spend(length / 16)?;
                Ok(equal)
            }
            (Object::Boxed(left_class, left), Object::Boxed(right_class, right)) => {
                Ok(left_class == right_class && Heap::same_value(*left, *right))
            }
            (Object::Uuid(high, low), Object::Uuid(other_high, other_low)) => {
                Ok((high, low) == (other_high, other_low))
            }
            (Object::Instance { .. }, _) => {
                let result = self.call_method(left, "equals", "(Ljava/lang/Object;)Z", &[right])?;
                Ok(result.unwrap_or(Value::Null).int()? != 0)
            }
            (Object::List { .. }, _) => Err(unknown("List.equals")),
            _ => Ok(false),
        }
    }

    /// `Objects.hashCode`.
    pub(super) fn hash_of(&mut self, value: Value) -> Result<i32, Fault> {
        let Some(object) = value.reference()? else { return Ok(0) };
        let hash = self.call_method(object, "hashCode", "()I", &[])?;
        hash.unwrap_or(Value::Null).int()
    }

    /// The name in a class object that is the receiver of a call.
    fn class_literal(&mut self, a: Args<'_>) -> Result<Rc<str>, Fault> {
        match self.heap.get(a.object(0)?) {
            Object::Class(name) => Ok(Rc::clone(name)),
            _ => Err(Fault::malformed("an object that is no class")),
        }
    }
}

/// A method with a result that is not known here for this value.
pub(super) fn unknown(method: &str) -> Fault {
    Fault::unsupported(format!("`{method}` can't be evaluated for this value"))
}

fn new_text(machine: &mut Machine<'_>, text: &str) -> Answer {
    new_string(machine, text::from_str(text))
}

fn clone_array(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let Object::Array { values, .. } = machine.heap.get(a.object(0)?) else {
        return Err(Fault::malformed("an object that is no array"));
    };
    let length = values.len();
    machine.spend(length / 16)?;
    let copy = machine.heap.get(a.object(0)?).clone();
    answer(machine.heap.add(copy)?)
}

fn declaring_class(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let class = machine.instance_class(a.object(0)?);
    // A constant with a body is of a subclass of the enum.
    let class = class.and_then(|class| machine.superclasses(class).last());
    let class = class.ok_or_else(|| Fault::malformed("an object that is no enum constant"))?;
    let name = Rc::clone(&machine.loaded[class].class.name);
    answer(machine.heap.class(&name)?)
}

fn enum_value_of(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let (class, wanted) = (machine.class_literal(a)?, a.text(1, machine)?);
    let values = machine.call_static(&class, "values", &format!("()[L{class};"))?;
    let values = values.ok_or_else(|| unknown("Enum.valueOf"))?.object()?;
    for value in machine.heap.elements(values)?.to_vec() {
        let name = machine.heap.constant(value.object()?).0.object()?;
        machine.spend(1 + wanted.len() / 16)?;
        if machine.heap.text(name)? == wanted {
            return answer(value);
        }
    }
    let constant = format!("{}.{}", class.replace(['/', '$'], "."), text::to_string(&wanted));
    Err(Fault::thrown("java.lang.IllegalArgumentException", format!("No enum constant {constant}")))
}

fn simple_name(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let name = machine.class_literal(a)?;
    let Some(class) = machine.load(&name)? else { return Err(unknown("Class.getSimpleName")) };
    let nesting = machine.loaded[class].class.nesting()?;
    let simple = match nesting {
        Some(nesting) => nesting.name.map(|name| name.to_string()).unwrap_or_default(),
        None => name.rsplit('/').next().unwrap_or(&name).to_owned(),
    };
    new_text(machine, &simple)
}

fn class_canonical_name(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let name = machine.class_literal(a)?;
    let Some(class) = machine.class(&name)? else { return Err(unknown("Class.getCanonicalName")) };
    match machine.canonical_name(&class)? {
        Some(name) => new_text(machine, &name),
        None => answer(Value::Null),
    }
}

fn floor_mod(left: i64, right: i64) -> Result<i64, Fault> {
    if right == 0 {
        return Err(Fault::thrown("java.lang.ArithmeticException", "/ by zero"));
    }
    let rest = left.wrapping_rem(right);
    Ok(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
}

fn array_copy(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    let (from, to) = (a.object(0)?, a.object(2)?);
    let bounds = |start: i32, count: i32| {
        let (start, count) = (usize::try_from(start).ok()?, usize::try_from(count).ok()?);
        Some(start..start.checked_add(count)?)
    };
    let out_of_bounds = || Fault::thrown("java.lang.ArrayIndexOutOfBoundsException", "arraycopy");
    let (Object::Array { element, values }, Object::Array { element: kind, .. }) =
        (machine.heap.get(from), machine.heap.get(to))
    else {
        return Err(Fault::thrown("java.lang.ArrayStoreException", "arraycopy"));
    };
    if element != kind {
        return Err(unknown("System.arraycopy"));
    }
    let source = bounds(a.int(1)?, a.int(4)?).and_then(|range| values.get(range));
    let copied = source.ok_or_else(out_of_bounds)?.to_vec();
    machine.spend(copied.len() / 16)?;
    let target = bounds(a.int(3)?, a.int(4)?).ok_or_else(out_of_bounds)?;
    if let Object::Array { values, .. } = machine.heap.get_mut(to) {
        values.get_mut(target).ok_or_else(out_of_bounds)?.copy_from_slice(&copied);
    }
    void()
}
