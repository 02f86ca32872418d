//! Values of constant expressions, and why an expression has none.

use crate::call::Text;
use std::ops::Range;
use tree_sitter::Node;

/// A value known at build time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Text),
    Bool(bool),
    /// An int or a long.
    Number(Number),
    Char(char),
    Null,
}

/// An expression that has no value at build time: which, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotConstant {
    pub(crate) range: Range<usize>,
    pub(crate) reason: String,
}

/// A number with its type, on which depends where it wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Int(i32),
    Long(i64),
}

impl Number {
    /// Its value, of any type.
    pub(crate) fn value(self) -> i64 {
        match self {
            Self::Int(value) => value.into(),
            Self::Long(value) => value,
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.value() == 0
    }
}

impl Value {
    /// The number that a number or character is in arithmetic.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Char(char) => Some(Number::Int(u32::from(*char) as i32)),
            _ => None,
        }
    }

    /// The value in a variable, or as a result, of the type `declared`; `node` is where it was
    /// given.
    pub(crate) fn declared(self, declared: &str, node: Node<'_>) -> Result<Self, NotConstant> {
        let char = |number: Number| u32::try_from(number.value()).ok().and_then(char::from_u32);
        match (declared, self) {
            ("long", Self::Number(value)) => Ok(Self::Number(Number::Long(value.value()))),
            ("long", Self::Char(value)) => Ok(Self::Number(Number::Long(u32::from(value).into()))),
            ("int" | "short" | "byte", Self::Char(value)) => {
                Ok(Self::Number(Number::Int(u32::from(value) as i32)))
            }
            ("char", Self::Number(value)) => {
                char(value).map(Self::Char).ok_or_else(|| not_constant(node, "is half a character"))
            }
            ("float" | "double", Self::Number(_) | Self::Char(_)) => {
                Err(not_constant(node, "is a floating-point number"))
            }
            (_, value) => Ok(value),
        }
    }

    /// The value as that of the expression `node`: messages about it point there.
    pub(super) fn at(self, node: Node<'_>) -> Self {
        let Self::Text(text) = self else { return self };
        let mut moved = Text::default();
        text.as_str().chars().for_each(|char| moved.push(char, node.start_byte()));
        Self::Text(moved)
    }
}

/// The answer for an expression without a value.
pub(crate) fn not_constant(node: Node<'_>, reason: &str) -> NotConstant {
    NotConstant { range: node.byte_range(), reason: reason.to_owned() }
}
