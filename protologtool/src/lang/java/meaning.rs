//! The meanings of names: types, variables and their files.

use super::locals::{Declaration, LocalType, Locals};
use super::outline::{MemberId, TypeId, TypeKind};
use super::unit::Unit;
use std::ops::Deref;
use std::sync::Arc;

/// A file: the one at hand or another input.
#[derive(Clone)]
pub(crate) enum Handle<'u> {
    This(&'u Unit<'u>),
    Other(Arc<Unit<'static>>),
}

impl<'u> Deref for Handle<'u> {
    type Target = Unit<'u>;

    fn deref(&self) -> &Unit<'u> {
        match self {
            Self::This(unit) => unit,
            Self::Other(unit) => unit,
        }
    }
}

/// A type of a file.
#[derive(Clone)]
pub(crate) struct TypeRef<'u> {
    pub(crate) unit: Handle<'u>,
    pub(crate) id: TypeId,
}

impl Handle<'_> {
    /// Returns whether both are the same file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::This(one), Self::This(other)) => std::ptr::eq(*one, *other),
            (Self::Other(one), Self::Other(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// A number that tells it from other files.
    pub(crate) fn address(&self) -> usize {
        match self {
            Self::This(unit) => std::ptr::from_ref(*unit).addr(),
            Self::Other(unit) => Arc::as_ptr(unit).addr(),
        }
    }
}

impl TypeRef<'_> {
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.id == other.id && self.unit.is(&other.unit)
    }

    /// Returns whether all its fields are constants.
    pub(crate) fn is_interface(&self) -> bool {
        let kind = self.unit.outline.types[self.id.0].kind;
        matches!(kind, TypeKind::Interface | TypeKind::Annotation)
    }
}

/// The type whose method a simple name means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MethodOwner {
    /// One of the file, which declares it.
    Type(TypeId),
    /// A local class, or a type that one of the file inherits it from.
    Other,
    /// None of the types around the site: the name may be an import.
    Nobody,
}

/// A place where names are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Site<'l, 't> {
    pub(crate) offset: usize,
    /// The innermost type around it that is no local one.
    pub(crate) owner: Option<TypeId>,
    /// The declarations of the member around it, where they can matter.
    pub(crate) locals: Option<&'l Locals<'t>>,
}

/// The meaning of a variable's name.
#[derive(Clone)]
pub(crate) enum Variable<'u, 't> {
    Local(Declaration<'t>),
    /// A field, constant or component of a type.
    Member(TypeRef<'u>, Declared),
}

/// The declaration of a variable of a type.
#[derive(Clone, Copy)]
pub(crate) enum Declared {
    Member(MemberId),
    /// The head of a record.
    Component,
}

/// The meaning of a type's name.
#[derive(Clone)]
pub(crate) enum Type<'u, 't> {
    Local(LocalType<'t>),
    /// A type parameter of a type.
    Parameter,
    Declared(TypeRef<'u>),
}
