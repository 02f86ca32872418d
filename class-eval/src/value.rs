//! Values of local variables, operands and fields.

use crate::fault::Fault;

/// A value. Java's boolean, byte, char and short are an `Int`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An int, or a smaller integer.
    Int(i32),
    /// A long.
    Long(i64),
    /// A float.
    Float(f32),
    /// A double.
    Double(f64),
    /// The null reference.
    Null,
    /// A reference to an object.
    Ref(Ref),
    /// A value from outside that is not known; the number stands for the fault that says why, see
    /// [`crate::unknown`]. Code that needs it ends in that fault.
    Unknown(Kind, u32),
}

/// An object: its index in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ref(pub(crate) u32);

/// The kinds of values that instructions tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ints and smaller integers.
    Int,
    /// Longs.
    Long,
    /// Floats.
    Float,
    /// Doubles.
    Double,
    /// References and null.
    Reference,
}

impl Value {
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Int(_) => Kind::Int,
            Self::Long(_) => Kind::Long,
            Self::Float(_) => Kind::Float,
            Self::Double(_) => Kind::Double,
            Self::Null | Self::Ref(_) => Kind::Reference,
            Self::Unknown(kind, _) => kind,
        }
    }

    /// A value of this kind that is not known, for the same reason as this one, which is not known.
    pub(crate) fn unknown_as(self, kind: Kind) -> Option<Self> {
        if let Self::Unknown(_, origin) = self { Some(Self::Unknown(kind, origin)) } else { None }
    }

    /// The initial value of a field or array element with this descriptor.
    pub(crate) fn default_of(descriptor: &str) -> Self {
        match descriptor.as_bytes().first() {
            Some(b'J') => Self::Long(0),
            Some(b'F') => Self::Float(0.0),
            Some(b'D') => Self::Double(0.0),
            Some(b'L' | b'[') => Self::Null,
            _ => Self::Int(0),
        }
    }

    /// The value as a variable with this descriptor keeps it: small integers are cut to their size,
    /// another kind is refused.
    pub(crate) fn fit(self, descriptor: &str) -> Result<Self, Fault> {
        let fitted = match (descriptor.as_bytes().first(), self) {
            (Some(b'Z'), Self::Int(value)) => Self::Int(value & 1),
            (Some(b'B'), Self::Int(value)) => Self::Int(i32::from(value as i8)),
            (Some(b'C'), Self::Int(value)) => Self::Int(i32::from(value as u16)),
            (Some(b'S'), Self::Int(value)) => Self::Int(i32::from(value as i16)),
            _ => self,
        };
        if fitted.kind() == Self::default_of(descriptor).kind() {
            return Ok(fitted);
        }
        Err(Fault::malformed(format!("a value that is no `{descriptor}`")))
    }

    /// The value, or the fault that it is not known.
    pub fn known(self) -> Result<Self, Fault> {
        if let Self::Unknown(_, origin) = self { Err(Fault::unknown(origin)) } else { Ok(self) }
    }

    /// True for a value that takes two locals and counts twice for instructions such as `dup2`.
    pub(crate) const fn is_wide(self) -> bool {
        matches!(self.kind(), Kind::Long | Kind::Double)
    }

    /// The int, or the fault that it is none.
    pub fn int(self) -> Result<i32, Fault> {
        if let Self::Int(value) = self { Ok(value) } else { Err(self.unexpected("an int")) }
    }

    pub(crate) fn long(self) -> Result<i64, Fault> {
        if let Self::Long(value) = self { Ok(value) } else { Err(self.unexpected("a long")) }
    }

    pub(crate) fn float(self) -> Result<f32, Fault> {
        if let Self::Float(value) = self { Ok(value) } else { Err(self.unexpected("a float")) }
    }

    pub(crate) fn double(self) -> Result<f64, Fault> {
        if let Self::Double(value) = self { Ok(value) } else { Err(self.unexpected("a double")) }
    }

    /// The object, `None` for null.
    pub fn reference(self) -> Result<Option<Ref>, Fault> {
        match self {
            Self::Null => Ok(None),
            Self::Ref(object) => Ok(Some(object)),
            _ => Err(self.unexpected("a reference")),
        }
    }

    /// The object; null is the exception that Java throws.
    pub fn object(self) -> Result<Ref, Fault> {
        self.reference()?.ok_or_else(Fault::null)
    }

    fn unexpected(self, wanted: &str) -> Fault {
        if let Self::Unknown(_, origin) = self {
            return Fault::unknown(origin);
        }
        Fault::malformed(format!("{wanted} wanted, found {:?}", self.kind()))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i32::from(value))
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Long(value)
    }
}

impl From<Ref> for Value {
    fn from(object: Ref) -> Self {
        Self::Ref(object)
    }
}
