//! The arguments of a call, from what the program passes to what the write path takes.
//!
//! A call's arguments become a list of values, as in `(Int(1), (Text("x"), ()))`. Which conversion takes which types is said
//! by traits ([`IntArg`], [`FloatArg`], [`BoolArg`]), so that the compiler refuses the rest by name. `%s` takes text as it
//! is and everything else that is `Display`: which of the two an argument is, is found out by the order in which methods
//! are looked up ([`fn@text`]), since a trait can't be implemented both for all of `Display` and for `Option`.
//!
//! Invariants: no allocation; a `Display` that fails or panics half way leaves what it wrote, or unwinds before anything is
//! reserved; user code runs here only, never in the write path.

mod fixed_string;

pub(crate) use fixed_string::{FixedString, SHOWN_CAPACITY};

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

/// A text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a>(pub &'a str);

/// Something that is printed to make a text of it, and how. It keeps its type, since a future that waits for a later argument
/// holds it, and may be [`Send`] only if it is.
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

/// What `%d`, `%o` and `%x` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%d`, `%o` and `%x`, which take integers of up to 64 bits",
    label = "not an integer of up to 64 bits",
    note = "use `%f` for floats, `%b` for booleans, and `%s` for everything that is `Display`, 128-bit integers included"
)]
pub trait IntArg {
    #[doc(hidden)]
    type Value;
    #[doc(hidden)]
    fn int(&self) -> Self::Value;
}

/// What `%f`, `%e` and `%g` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%f`, `%e` and `%g`, which take `f32` and `f64`",
    label = "not a float",
    note = "use `%d` for integers, `%b` for booleans, and `%s` for everything that is `Display`"
)]
pub trait FloatArg {
    #[doc(hidden)]
    fn float(&self) -> Float;
}

/// What `%b` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%b`, which takes `bool`",
    label = "not a boolean",
    note = "use `%d` for integers, `%f` for floats, and `%s` for everything that is `Display`"
)]
pub trait BoolArg {
    #[doc(hidden)]
    fn bool(&self) -> Bool;
}

/// What `%s` takes when it is no text yet.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit `%s`, which takes text, everything that is `Display`, and options of both",
    label = "not `Display`",
    note = "pass `format_args!(\"{{:?}}\", …)` if `{Self}` is `Debug`, or a field of it"
)]
pub trait TextArg: Display {}

#[diagnostic::do_not_recommend]
impl<T: Display + ?Sized> TextArg for T {}

/// The value of an argument of `%d`, `%o` or `%x`.
#[inline]
pub fn int<T: IntArg + ?Sized>(argument: &T) -> T::Value {
    argument.int()
}

/// The value of an argument of `%f`, `%e` or `%g`.
#[inline]
pub fn float<T: FloatArg + ?Sized>(argument: &T) -> Float {
    argument.float()
}

/// The value of an argument of `%b`.
#[inline]
pub fn bool<T: BoolArg + ?Sized>(argument: &T) -> Bool {
    argument.bool()
}

macro_rules! integers {
    ($value:ident($as:ident): $($type:ident)*) => { $(
        impl IntArg for $type {
            type Value = $value;
            #[inline]
            fn int(&self) -> $value {
                $value(*self as $as)
            }
        }

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

impl FloatArg for f32 {
    #[inline]
    fn float(&self) -> Float {
        Float(f64::from(*self))
    }
}

impl FloatArg for f64 {
    #[inline]
    fn float(&self) -> Float {
        Float(*self)
    }
}

impl BoolArg for bool {
    #[inline]
    fn bool(&self) -> Bool {
        Bool(*self)
    }
}

/// The type of what has no value, such as `return` and `panic!()`, which are arguments like others. It has no name in
/// stable Rust; a function that never returns has it for its result.
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
        impl<T: IntArg + ?Sized> IntArg for $reference {
            type Value = T::Value;
            #[inline]
            fn int(&self) -> T::Value {
                (**self).int()
            }
        }

        impl<T: FloatArg + ?Sized> FloatArg for $reference {
            #[inline]
            fn float(&self) -> Float {
                (**self).float()
            }
        }

        impl<T: BoolArg + ?Sized> BoolArg for $reference {
            #[inline]
            fn bool(&self) -> Bool {
                (**self).bool()
            }
        }

        impl<T: AsText + ?Sized> AsText for $reference {
            #[inline]
            fn as_text(&self) -> &str {
                (**self).as_text()
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

/// What is text already.
pub trait AsText {
    #[doc(hidden)]
    fn as_text(&self) -> &str;
}

impl AsText for str {
    #[inline]
    fn as_text(&self) -> &str {
        self
    }
}

impl AsText for String {
    #[inline]
    fn as_text(&self) -> &str {
        self
    }
}

impl AsText for Cow<'_, str> {
    #[inline]
    fn as_text(&self) -> &str {
        self
    }
}

/// An argument of `%s`, before it is known how to make text of it: `text(&argument).text()`. Methods are looked up in what a
/// type derefs to only where it has none that fits, so text is tried first, options before the rest.
#[inline]
pub const fn text<T: ?Sized>(argument: &T) -> IfText<'_, T> {
    IfText(IfOption(Otherwise(argument)))
}

/// Text, first choice.
#[derive(Clone, Copy, Debug)]
pub struct IfText<'a, T: ?Sized>(IfOption<'a, T>);

/// Options, second choice: `None`, or what is in them as it would print by itself.
#[derive(Clone, Copy, Debug)]
pub struct IfOption<'a, T: ?Sized>(Otherwise<'a, T>);

/// The rest: whatever is [`TextArg`], or an error.
#[derive(Clone, Copy, Debug)]
pub struct Otherwise<'a, T: ?Sized>(&'a T);

impl<'a, T: AsText + ?Sized> IfText<'a, T> {
    /// The text. By value, which is what the compiler tries first, and a borrow less for it to check.
    #[inline]
    pub fn text(self) -> Text<'a> {
        Text(self.0.0.0.as_text())
    }
}

impl<'a, T: AsOption + ?Sized> IfOption<'a, T> {
    /// What is in the option, to be printed.
    #[inline]
    pub fn text(&self) -> Shown<'a, T> {
        Shown { argument: self.0.0, print: T::print }
    }
}

impl<'a, T: ?Sized> Otherwise<'a, T> {
    /// The argument, to be printed.
    #[inline]
    pub fn text(&self) -> Shown<'a, T>
    where
        T: TextArg,
    {
        Shown { argument: self.0, print: T::fmt }
    }
}

impl<'a, T: ?Sized> Deref for IfText<'a, T> {
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

/// An option, or references to one, of something that prints.
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
