//! Arguments of log calls, converted from the program's types to those that the write path encodes.
//!
//! A call's arguments become a list of values, such as `(Int(1), (Str("x"), ()))`. Traits
//! ([`IntArg`], [`FloatArg`], [`BoolArg`]) define which types each conversion accepts, so the
//! compiler's error names the rejected type. `%s` accepts strings as they are and formats
//! everything else that is `Display`. Method lookup order picks between the two ([`fn@string`]),
//! since a trait can't be implemented both for all `Display` types and for `Option`.
//!
//! Invariants: no allocation but for formatted texts of more than a kilobyte; a `Display` that
//! fails half way or panics keeps the text written so far; user code runs here and never in the
//! write path.

mod fixed_string;
mod growing_string;

pub(crate) use fixed_string::FixedString;
pub(crate) use growing_string::{GrowingString, allow_strings_of};

use core::fmt::{self, Display};
use core::num::NonZero;
use core::ops::Deref;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// An integer that fits an `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int(pub i64);

/// An unsigned integer of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uint(pub u64);

/// A float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(pub f64);

/// A boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bool(pub bool);

/// A string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Str<'a>(pub &'a str);

/// An argument that is formatted before it is logged, and the function that formats it. It keeps
/// the argument's type, because a future that awaits a later argument holds it, and must be
/// [`Send`] only if the argument is.
#[derive(Clone, Copy)]
pub struct Shown<'a, T: ?Sized> {
    argument: &'a T,
    print: fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl<T: ?Sized> Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.print)(self.argument, f)
    }
}

/// An argument of `%d`, `%o` and `%x`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%d`, `%o` and `%x`, which take integers of up to 64 bits",
    label = "not an integer of up to 64 bits",
    note = "use `%f` for a float, `%b` for a boolean, and `%s` for text, `char`, an `Option`, a 128-bit integer and all that is `Display`"
)]
pub trait IntArg {
    #[doc(hidden)]
    type Value;
    #[doc(hidden)]
    fn int(&self) -> Self::Value;
}

/// An argument of `%f`, `%e` and `%g`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%f`, `%e` and `%g`, which take `f32` and `f64`",
    label = "not a float",
    note = "use `%d` for an integer, or convert it, as in `f64::from(n)`; `%b` for a boolean, and `%s` for text, an `Option` and all that is `Display`"
)]
pub trait FloatArg {
    #[doc(hidden)]
    fn float(&self) -> Float;
}

/// An argument of `%b`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%b`, which takes `bool`",
    label = "not a boolean",
    note = "use `%d` for an integer, `%f` for a float, and `%s` for text, an `Option` and all that is `Display`"
)]
pub trait BoolArg {
    #[doc(hidden)]
    fn bool(&self) -> Bool;
}

/// An argument of `%s` that is not a string.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%s`, which takes text, everything that is `Display`, and options of both",
    label = "not `Display`",
    note = "pass `.display()` of a path or an `OsStr`, `protolog_rt::debug(&…)` of what is `Debug`, or a field of `{Self}`"
)]
pub trait StringArg: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display + ?Sized> StringArg for T {}

/// Converts an argument of `%d`, `%o` or `%x`.
#[inline]
pub fn int<T: IntArg + ?Sized>(argument: &T) -> T::Value {
    argument.int()
}

/// Converts an argument of `%f`, `%e` or `%g`.
#[inline]
pub fn float<T: FloatArg + ?Sized>(argument: &T) -> Float {
    argument.float()
}

/// Converts an argument of `%b`.
#[inline]
pub fn bool<T: BoolArg + ?Sized>(argument: &T) -> Bool {
    argument.bool()
}

macro_rules! integers {
    ($value:ident($as:ident): $($type:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl IntArg for $type {
            type Value = $value;
            #[inline]
            fn int(&self) -> $value {
                $value(*self as $as)
            }
        }

        #[diagnostic::do_not_recommend]
        impl IntArg for NonZero<$type> {
            type Value = $value;
            #[inline]
            fn int(&self) -> $value {
                $value(self.get() as $as)
            }
        }
    )* };
}

integers!(Int(i64): i8 i16 i32 i64 isize u8 u16 u32);
integers!(Uint(u64): u64 usize);

#[diagnostic::do_not_recommend]
impl FloatArg for f32 {
    #[inline]
    fn float(&self) -> Float {
        Float(f64::from(*self))
    }
}

#[diagnostic::do_not_recommend]
impl FloatArg for f64 {
    #[inline]
    fn float(&self) -> Float {
        Float(*self)
    }
}

#[diagnostic::do_not_recommend]
impl BoolArg for bool {
    #[inline]
    fn bool(&self) -> Bool {
        Bool(*self)
    }
}

/// The type of expressions without a value, such as `return` and `panic!()`, which are valid
/// arguments. It has no name in stable Rust, but it is the result type of a function that never
/// returns.
type Never = <fn() -> ! as Function>::Result;

#[doc(hidden)]
pub trait Function {
    type Result;
}

impl<R> Function for fn() -> R {
    type Result = R;
}

#[diagnostic::do_not_recommend]
impl IntArg for Never {
    type Value = Int;
    fn int(&self) -> Int {
        match *self {}
    }
}

#[diagnostic::do_not_recommend]
impl FloatArg for Never {
    fn float(&self) -> Float {
        match *self {}
    }
}

#[diagnostic::do_not_recommend]
impl BoolArg for Never {
    fn bool(&self) -> Bool {
        match *self {}
    }
}

macro_rules! through_references {
    ($($reference:ty),*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T: IntArg + ?Sized> IntArg for $reference {
            type Value = T::Value;
            #[inline]
            fn int(&self) -> T::Value {
                (**self).int()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: FloatArg + ?Sized> FloatArg for $reference {
            #[inline]
            fn float(&self) -> Float {
                (**self).float()
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: BoolArg + ?Sized> BoolArg for $reference {
            #[inline]
            fn bool(&self) -> Bool {
                (**self).bool()
            }
        }

        impl<T: AsStringArg + ?Sized> AsStringArg for $reference {
            #[inline]
            fn as_string_arg(&self) -> &str {
                (**self).as_string_arg()
            }
        }

        impl<T: AsOption + ?Sized> AsOption for $reference {
            fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).print(f)
            }
        }
    )* };
}

through_references!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

/// A type that holds a string.
pub trait AsStringArg {
    #[doc(hidden)]
    fn as_string_arg(&self) -> &str;
}

impl AsStringArg for str {
    #[inline]
    fn as_string_arg(&self) -> &str {
        self
    }
}

impl AsStringArg for String {
    #[inline]
    fn as_string_arg(&self) -> &str {
        self
    }
}

impl AsStringArg for Cow<'_, str> {
    #[inline]
    fn as_string_arg(&self) -> &str {
        self
    }
}

/// Wraps an argument of `%s`, to be converted by `string(&argument).string()`. The compiler looks
/// up a method in the type that a wrapper derefs to only if the wrapper itself has none that fits,
/// so strings are tried first, then options, then the rest.
#[inline]
pub const fn string<T: ?Sized>(argument: &T) -> IfString<'_, T> {
    IfString(IfOption(Otherwise(argument)))
}

/// First choice: strings.
#[derive(Clone, Copy, Debug)]
pub struct IfString<'a, T: ?Sized>(IfOption<'a, T>);

/// Second choice: options, formatted as `None` or as the value inside.
#[derive(Clone, Copy, Debug)]
pub struct IfOption<'a, T: ?Sized>(Otherwise<'a, T>);

/// Last choice: all that is [`StringArg`]; otherwise a compile error.
#[derive(Clone, Copy, Debug)]
pub struct Otherwise<'a, T: ?Sized>(&'a T);

impl<'a, T: AsStringArg + ?Sized> IfString<'a, T> {
    /// Returns the string. By value, since the compiler tries that first and has one borrow less to
    /// check.
    #[inline]
    pub fn string(self) -> Str<'a> {
        Str(self.0.0.0.as_string_arg())
    }
}

impl<'a, T: AsOption + ?Sized> IfOption<'a, T> {
    /// Returns the option, to be formatted.
    #[inline]
    pub fn string(&self) -> Shown<'a, T> {
        Shown { argument: self.0.0, print: T::print }
    }
}

impl<'a, T: ?Sized> Otherwise<'a, T> {
    /// Returns the argument, to be formatted.
    #[inline]
    pub fn string(&self) -> Shown<'a, T>
    where
        T: StringArg,
    {
        Shown { argument: self.0, print: T::fmt }
    }
}

impl<'a, T: ?Sized> Deref for IfString<'a, T> {
    type Target = IfOption<'a, T>;
    #[inline]
    fn deref(&self) -> &IfOption<'a, T> {
        &self.0
    }
}

impl<'a, T: ?Sized> Deref for IfOption<'a, T> {
    type Target = Otherwise<'a, T>;
    #[inline]
    fn deref(&self) -> &Otherwise<'a, T> {
        &self.0
    }
}

/// An option of a `Display` type, or a reference to one.
pub trait AsOption {
    #[doc(hidden)]
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Display> AsOption for Option<T> {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(inner) => inner.fmt(f),
            None => f.write_str("None"),
        }
    }
}
