//! Objects. They live as long as the machine.

use crate::MAX_HEAP;
use crate::fault::Fault;
use crate::text::{Charset, Text};
use crate::value::{Kind, Ref, Value};
use std::collections::HashMap;
use std::mem::size_of;
use std::rc::Rc;

/// An object.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// Of a class that was loaded: its number in the machine, its fields by slot.
    Instance {
        class: usize,
        fields: Vec<Value>,
    },
    /// The descriptor of the elements, and the elements.
    Array {
        element: Rc<str>,
        values: Vec<Value>,
    },
    String(Text),
    /// `X.class`: the internal name, for an array or a primitive type the descriptor.
    Class(Rc<str>),
    /// A `StringBuilder`, or a `StringBuffer`: internal name, content, and why that is not known,
    /// if so.
    Builder {
        class: &'static str,
        content: Vec<u16>,
        unknown: Option<u32>,
    },
    /// An `Integer`, a `Boolean` and the like: internal name and value.
    Boxed(&'static str, Value),
    /// A `java.util.UUID`: most and least significant bits.
    Uuid(i64, i64),
    Charset(Charset),
    /// An exception of the platform: internal name and message.
    Throwable {
        class: Rc<str>,
        message: Option<Text>,
    },
    /// A list that can't be changed, `kotlin.enums.EnumEntries` among them: internal name and
    /// elements.
    List {
        class: &'static str,
        values: Rc<[Value]>,
    },
    /// An iterator over a list: elements and position.
    Iterator {
        values: Rc<[Value]>,
        next: usize,
    },
    /// A constant object of the platform that has no state here, such as `Locale.ROOT`: internal
    /// name.
    Token(&'static str),
}

/// The rough size of an object besides its content.
const OBJECT: usize = 64;

/// All objects of a machine.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    objects: Vec<Object>,
    used: usize,
    strings: HashMap<Text, Ref>,
    classes: HashMap<Rc<str>, Ref>,
    boxes: HashMap<(&'static str, i64), Ref>,
    tokens: HashMap<&'static str, Ref>,
    /// Name and ordinal of enum constants: the fields of `java.lang.Enum` itself.
    constants: HashMap<Ref, (Value, i32)>,
}

impl Heap {
    /// Counts `bytes` as used.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Fault> {
        self.used = self.used.saturating_add(bytes);
        if self.used > MAX_HEAP {
            return Err(Fault::limit("more than 32 MB of objects"));
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, object: Object) -> Result<Ref, Fault> {
        let content = match &object {
            Object::Instance { fields, .. } => fields.len() * size_of::<Value>(),
            Object::Array { values, .. } => values.len() * size_of::<Value>(),
            Object::String(text) => text.len() * 2,
            Object::Builder { content, .. } => content.len() * 2,
            Object::List { values, .. } => values.len() * size_of::<Value>(),
            _ => 0,
        };
        self.charge(OBJECT + content)?;
        self.objects.push(object);
        Ok(Ref((self.objects.len() - 1) as u32))
    }

    pub(crate) fn get(&self, object: Ref) -> &Object {
        &self.objects[object.0 as usize]
    }

    pub(crate) fn get_mut(&mut self, object: Ref) -> &mut Object {
        &mut self.objects[object.0 as usize]
    }

    /// A new string.
    pub(crate) fn string(&mut self, text: impl Into<Text>) -> Result<Value, Fault> {
        self.add(Object::String(text.into())).map(Value::Ref)
    }

    /// The one string with this content that constants and `intern` give.
    pub(crate) fn interned(&mut self, text: &Text) -> Result<Ref, Fault> {
        if let Some(known) = self.strings.get(text) {
            return Ok(*known);
        }
        let string = self.add(Object::String(Rc::clone(text)))?;
        self.strings.insert(Rc::clone(text), string);
        Ok(string)
    }

    /// The class object for a name.
    pub(crate) fn class(&mut self, name: &Rc<str>) -> Result<Ref, Fault> {
        if let Some(known) = self.classes.get(name) {
            return Ok(*known);
        }
        let class = self.add(Object::Class(Rc::clone(name)))?;
        self.classes.insert(Rc::clone(name), class);
        Ok(class)
    }

    /// The result of `valueOf` of a box class: small numbers are always the same object.
    pub(crate) fn boxed(&mut self, class: &'static str, value: Value) -> Result<Ref, Fault> {
        let small = match value {
            Value::Int(number) => Some(i64::from(number)),
            Value::Long(number) => Some(number),
            _ => None,
        };
        let Some(key) = small.filter(|number| (-128..128).contains(number)) else {
            return self.add(Object::Boxed(class, value));
        };
        if let Some(known) = self.boxes.get(&(class, key)) {
            return Ok(*known);
        }
        let object = self.add(Object::Boxed(class, value))?;
        self.boxes.insert((class, key), object);
        Ok(object)
    }

    /// The one object that `name`, unique in the platform, stands for.
    pub(crate) fn token(&mut self, name: &'static str, object: Object) -> Result<Ref, Fault> {
        if let Some(known) = self.tokens.get(name) {
            return Ok(*known);
        }
        let added = self.add(object)?;
        self.tokens.insert(name, added);
        Ok(added)
    }

    pub(crate) fn array(&mut self, element: &str, values: Vec<Value>) -> Result<Ref, Fault> {
        self.add(Object::Array { element: element.into(), values })
    }

    /// The content of a string.
    pub(crate) fn text(&self, string: Ref) -> Result<Text, Fault> {
        match self.get(string) {
            Object::String(text) => Ok(Rc::clone(text)),
            _ => Err(Fault::malformed("an object that is no string")),
        }
    }

    pub(crate) fn set_constant(
        &mut self,
        object: Ref,
        name: Value,
        ordinal: i32,
    ) -> Result<(), Fault> {
        self.charge(OBJECT)?;
        self.constants.insert(object, (name, ordinal));
        Ok(())
    }

    /// Name and ordinal of an enum constant; before the run of its constructor they are unset,
    /// as in Java.
    pub(crate) fn constant(&self, object: Ref) -> (Value, i32) {
        self.constants.get(&object).copied().unwrap_or((Value::Null, 0))
    }

    /// The elements of an array or a list.
    pub(crate) fn elements(&self, object: Ref) -> Result<&[Value], Fault> {
        match self.get(object) {
            Object::Array { values, .. } => Ok(values),
            Object::List { values, .. } => Ok(values),
            _ => Err(Fault::malformed("an object that is no array")),
        }
    }

    /// The content of an array of bytes.
    pub(crate) fn bytes(&self, array: Ref) -> Result<Vec<u8>, Fault> {
        self.elements(array)?.iter().map(|value| Ok(value.int()? as u8)).collect()
    }

    /// Numbers of the kind `kind` are equal as `equals` of their box says: NaN equals NaN, 0.0 is
    /// not -0.0.
    pub(crate) fn same_value(left: Value, right: Value) -> bool {
        match (left, right) {
            (Value::Float(left), Value::Float(right)) => {
                (left.is_nan() && right.is_nan()) || left.to_bits() == right.to_bits()
            }
            (Value::Double(left), Value::Double(right)) => {
                (left.is_nan() && right.is_nan()) || left.to_bits() == right.to_bits()
            }
            _ => left.kind() != Kind::Reference && left == right,
        }
    }
}
