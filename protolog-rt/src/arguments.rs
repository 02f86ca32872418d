//! Argument lists, on their way from the macros to the write path.
//!
//! A list is passed on by continuation. Each [`Shown`] is formatted into a buffer on the stack of a
//! function of its own, and the rest of the call runs while the buffer lives. So the functions that
//! log need no stack for it. A longer text continues on the heap.
//!
//! Invariant: user code (`Display`) runs here only, before the write path is entered.

use crate::log::FastArgs;
use crate::value::GrowingString;
use crate::value::{Bool, Float, Int, Shown, Str, Uint};
use core::fmt::Display;

/// A list of arguments, some of them perhaps [`Shown`].
pub trait Arguments {
    /// Passes the arguments to `visitor`, with strings in place of those that had to be formatted.
    fn visit(self, visitor: impl Visitor);
}

/// A receiver of an argument list.
pub trait Visitor {
    /// Takes the arguments from here on.
    fn visit<A: FastArgs>(self, args: A);

    /// Counts the message as one of which a string was cut, for want of memory.
    fn count_cut(&self);
}

impl Arguments for () {
    #[inline]
    fn visit(self, visitor: impl Visitor) {
        visitor.visit(());
    }
}

/// A visitor that puts `value` before the arguments that follow.
struct Prepend<H, K> {
    value: H,
    visitor: K,
}

macro_rules! values {
    ($($value:ty)*) => { $(
        impl<R: Arguments> Arguments for ($value, R) {
            #[inline]
            fn visit(self, visitor: impl Visitor) {
                self.1.visit(Prepend { value: self.0, visitor });
            }
        }

        impl<K: Visitor> Visitor for Prepend<$value, K> {
            #[inline]
            fn visit<A: FastArgs>(self, args: A) {
                self.visitor.visit((self.value, args));
            }

            fn count_cut(&self) {
                self.visitor.count_cut();
            }
        }
    )* };
}

values!(Int Uint Float Bool Str<'_>);

impl<T: ?Sized, R: Arguments> Arguments for (Shown<'_, T>, R) {
    #[inline]
    fn visit(self, visitor: impl Visitor) {
        visit_formatted(&self.0, self.1, visitor);
    }
}

/// Bytes of a formatted argument that need no memory of the heap.
const STACK: usize = 1024;

/// One instance for all types that are formatted.
#[inline(never)]
fn visit_formatted(value: &dyn Display, rest: impl Arguments, visitor: impl Visitor) {
    let mut buffer = GrowingString::<STACK>::new();
    let text = buffer.append(value);
    if buffer.lacks_memory() {
        visitor.count_cut();
    }
    let text = buffer.text(text);
    rest.visit(Prepend { value: Str(text), visitor });
}
