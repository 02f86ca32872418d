//! The methods of the platform that group classes call, as tables from name to function. [`lang`]
//! objects, enums, classes and arithmetic; [`string`], [`builder`] text; [`boxed`] numbers as
//! objects; [`util`] UUIDs and lists; [`kotlin`] the methods that kotlinc's code calls.
//!
//! Invariants: a method that is here behaves as the JDK's, or is a fault; one whose result
//! depends on the machine, such as `System.getProperty` or `Object.hashCode`, is not here.

mod boxed;
mod builder;
mod kotlin;
mod lang;
mod string;
mod util;

use crate::fault::Fault;
use crate::heap::Object;
use crate::machine::{Answer, Args, Machine, Native};
use crate::text::{Charset, Text};
use crate::value::{Ref, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Class, name and descriptor, `java/lang/Math.abs(I)I`, and the method.
type Entry = (&'static str, Native);

/// Longer names are no method's here.
const MAX_KEY: usize = 256;

static METHODS: LazyLock<HashMap<&'static str, Native>> = LazyLock::new(|| {
    let tables =
        [lang::TABLE, string::TABLE, builder::TABLE, boxed::TABLE, util::TABLE, kotlin::TABLE];
    tables.into_iter().flatten().copied().collect()
});

/// The method that this class itself has.
pub(super) fn exact(class: &str, name: &str, descriptor: &str) -> Option<Native> {
    if class.len() + name.len() + descriptor.len() > MAX_KEY {
        return None;
    }
    METHODS.get(format!("{class}.{name}{descriptor}").as_str()).copied()
}

/// The method that an object of this class has, inherited or not.
pub(super) fn method(class: &str, name: &str, descriptor: &str) -> Option<Native> {
    let class = if class.starts_with('[') { "[" } else { class };
    let inherited = || {
        let mut parents = supertypes(class)?.iter();
        parents.find_map(|parent| exact(parent, name, descriptor))
    };
    exact(class, name, descriptor)
        .or_else(inherited)
        .or_else(|| exact(supertypes(class).map(|_| "java/lang/Object")?, name, descriptor))
}

/// The class of an object that is not of the source, as an internal name.
pub(super) fn class_of(object: &Object) -> &str {
    match object {
        Object::Instance { .. } | Object::Array { .. } => "java/lang/Object",
        Object::String(_) => "java/lang/String",
        Object::Class(_) => "java/lang/Class",
        Object::Builder { class, .. } | Object::Boxed(class, _) | Object::List { class, .. } => {
            class
        }
        Object::Uuid(..) => "java/util/UUID",
        Object::Charset(_) => "java/nio/charset/Charset",
        Object::Throwable { class, .. } => class,
        Object::Iterator { .. } => "java/util/Iterator",
        Object::Token(class) => class,
    }
}

/// Returns whether a platform class is a kind of another class; `None` if that is not known here.
pub(super) fn is_kind_of(from: &str, to: &str) -> Option<bool> {
    let from = if from.starts_with('[') { "[" } else { from };
    if from == to || to == "java/lang/Object" || (is_throwable(from) && to == "java/lang/Throwable")
    {
        return Some(true);
    }
    supertypes(from).map(|parents| parents.contains(&to))
}

/// All that a platform class inherits from but `Object`; `None` for a class that is not known here.
fn supertypes(class: &str) -> Option<&'static [&'static str]> {
    const SERIAL: &str = "java/io/Serializable";
    const COMPARABLE: &str = "java/lang/Comparable";
    const CONSTABLE: &str = "java/lang/constant/Constable";
    const DESC: &str = "java/lang/constant/ConstantDesc";
    Some(match class {
        "java/lang/Object"
        | COMPARABLE
        | SERIAL
        | "java/lang/Cloneable"
        | "java/lang/CharSequence"
        | "java/lang/Runnable"
        | "java/util/Locale"
        | "java/nio/charset/Charset"
        | "java/util/Iterator"
        | "kotlin/Unit" => &[],
        "[" => &["java/lang/Cloneable", SERIAL],
        "java/lang/Enum" => &[COMPARABLE, SERIAL, CONSTABLE],
        "java/lang/Record" => &[],
        "java/lang/String" => &["java/lang/CharSequence", COMPARABLE, SERIAL, CONSTABLE, DESC],
        "java/lang/Class" => &[
            SERIAL,
            CONSTABLE,
            "java/lang/reflect/Type",
            "java/lang/reflect/AnnotatedElement",
            "java/lang/reflect/GenericDeclaration",
            "java/lang/invoke/TypeDescriptor",
            "java/lang/invoke/TypeDescriptor$OfField",
        ],
        "java/lang/StringBuilder" | "java/lang/StringBuffer" => &[
            "java/lang/AbstractStringBuilder",
            "java/lang/Appendable",
            "java/lang/CharSequence",
            COMPARABLE,
            SERIAL,
        ],
        "java/lang/Boolean" | "java/lang/Character" => &[COMPARABLE, SERIAL, CONSTABLE],
        "java/lang/Byte" | "java/lang/Short" => {
            &["java/lang/Number", COMPARABLE, SERIAL, CONSTABLE]
        }
        "java/lang/Integer" | "java/lang/Long" | "java/lang/Float" | "java/lang/Double" => {
            &["java/lang/Number", COMPARABLE, SERIAL, CONSTABLE, DESC]
        }
        "java/util/UUID" => &[COMPARABLE, SERIAL],
        "java/util/List" => &["java/util/Collection", "java/lang/Iterable"],
        "kotlin/enums/EnumEntries" => &[
            "java/util/List",
            "java/util/Collection",
            "java/lang/Iterable",
            "kotlin/jvm/internal/markers/KMappedMarker",
        ],
        _ => return None,
    })
}

/// Returns whether this is the name of an exception of the platform.
pub(super) fn is_throwable(class: &str) -> bool {
    class.starts_with("java/")
        && (class.ends_with("Exception")
            || class.ends_with("Error")
            || class == "java/lang/Throwable")
}

/// The object that a static field of the platform refers to, and a name for it.
pub(super) fn constant(class: &str, name: &str) -> Option<(&'static str, Object)> {
    match (class, name) {
        ("java/nio/charset/StandardCharsets" | "kotlin/text/Charsets", _) => {
            let charset = Charset::named(name).filter(|_| name.contains('_'))?;
            let key = match charset {
                Charset::Utf8 => "UTF_8",
                Charset::Latin1 => "ISO_8859_1",
                Charset::Ascii => "US_ASCII",
            };
            Some((key, Object::Charset(charset)))
        }
        ("java/util/Locale", "ROOT") => Some(("Locale.ROOT", Object::Token("java/util/Locale"))),
        ("java/util/Locale", "US") => Some(("Locale.US", Object::Token("java/util/Locale"))),
        ("java/util/Locale", "ENGLISH") => {
            Some(("Locale.ENGLISH", Object::Token("java/util/Locale")))
        }
        ("kotlin/Unit", "INSTANCE") => Some(("Unit", Object::Token("kotlin/Unit"))),
        _ => None,
    }
}

/// The object that `new` makes of a platform class, before its constructor runs.
pub(super) fn unset(class: &str) -> Option<Object> {
    match class {
        "java/lang/Object" => Some(Object::Token("java/lang/Object")),
        "java/lang/String" => Some(Object::String(Text::from([]))),
        "java/lang/StringBuilder" => Some(Object::Builder {
            class: "java/lang/StringBuilder",
            content: Vec::new(),
            unknown: None,
        }),
        "java/lang/StringBuffer" => Some(Object::Builder {
            class: "java/lang/StringBuffer",
            content: Vec::new(),
            unknown: None,
        }),
        "java/util/UUID" => Some(Object::Uuid(0, 0)),
        _ => is_throwable(class).then(|| Object::Throwable { class: class.into(), message: None }),
    }
}

impl Args<'_> {
    fn at(self, index: usize) -> Result<Value, Fault> {
        self.0.get(index).copied().ok_or_else(|| Fault::malformed("a call without its arguments"))
    }

    fn int(self, index: usize) -> Result<i32, Fault> {
        self.at(index)?.int()
    }

    fn long(self, index: usize) -> Result<i64, Fault> {
        self.at(index)?.long()
    }

    fn object(self, index: usize) -> Result<Ref, Fault> {
        self.at(index)?.object()
    }

    /// The content of an argument that is a string; null is the exception that Java throws. Counts
    /// as steps.
    fn text(self, index: usize, machine: &mut Machine<'_>) -> Result<Text, Fault> {
        let text = machine.heap.text(self.object(index)?)?;
        machine.spend(text.len() / 16)?;
        Ok(text)
    }
}

#[allow(clippy::unnecessary_wraps)] // what functions of the tables end with
fn void() -> Answer {
    Ok(None)
}

#[allow(clippy::unnecessary_wraps)] // likewise
fn answer(value: impl Into<Value>) -> Answer {
    Ok(Some(value.into()))
}

/// A new string.
fn new_string(machine: &mut Machine<'_>, text: impl Into<Text>) -> Answer {
    machine.heap.string(text).map(Some)
}
