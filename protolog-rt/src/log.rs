//! The write path: what a call does once its group's word said yes.

use crate::site::Site;
use crate::value::{Bool, Float, Int, Text, Uint};
use protolog_core::Arg;

/// A list of values, as in `(Int(1), (Text("x"), ()))`.
pub trait Values {
    /// Calls `f` with each value, in order.
    fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>));
}

impl Values for () {
    fn for_each<'a>(&'a self, _: &mut dyn FnMut(Arg<'a>)) {}
}

macro_rules! values {
    ($($value:ty => $arg:ident)*) => { $(
        impl<R: Values> Values for ($value, R) {
            fn for_each<'a>(&'a self, f: &mut dyn FnMut(Arg<'a>)) {
                f(Arg::$arg(self.0.0));
                self.1.for_each(f);
            }
        }
    )* };
}

values!(Int => Int Uint => Uint Float => Float Bool => Bool Text<'_> => Str);

/// Logs `values` at `site`.
#[inline(always)]
pub fn emit<V: Values>(site: Site, values: V) {
    if site.group().texted(site.level()) {
        crate::text::emit_text(site, &values);
    }
}
