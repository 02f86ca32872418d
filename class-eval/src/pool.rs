//! Entries of a class file's constant pool, as instructions use them: with names as text.

use crate::descriptor::Signature;
use crate::text::Text;
use crate::value::Value;
use std::fmt;
use std::rc::Rc;

/// A constant that can stand in a class file's pool.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Number(Value),
    String(Text),
    Class(Rc<str>),
}

/// A field or method as an instruction names it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Internal name of the class where the search begins.
    pub(crate) class: Rc<str>,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    /// `None` for a field.
    pub(crate) signature: Option<Rc<Signature>>,
}

/// The bootstrap method of an `invokedynamic`.
#[derive(Debug)]
pub(crate) struct Bootstrap {
    /// The class and the name of the method that is called for it.
    pub(crate) class: Rc<str>,
    pub(crate) name: Rc<str>,
    /// Its further arguments; `None` is a constant of a kind that string concatenation doesn't
    /// have.
    pub(crate) arguments: Vec<Option<Constant>>,
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, name, descriptor, .. } = self;
        let separator = if descriptor.starts_with('(') { "" } else { ":" };
        write!(f, "{}.{name}{separator}{descriptor}", class.replace('/', "."))
    }
}
