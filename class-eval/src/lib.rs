//! Evaluates class files without a JVM: enough of the Java virtual machine to find the constants of
//! an enum.
//!
//! A group's flags and tag are results of code: a constructor, a static initialiser, getters.
//! [`Machine`] runs that code over the class files of a [`ClassSource`], with the few methods of
//! the platform that such code calls ([`platform`]). For `Groups.values()` it loads `Groups`, runs
//! its `<clinit>`, which makes the constants, then the body of `values`.
//!
//! Class files are parsed by `noak`; `docs/design/rewriting.md` says why, and why the evaluator is
//! not smaller.
//!
//! Invariants:
//! * Code that can't be evaluated ends in a [`Fault`] that names class, method and instruction; a
//!   value is never guessed. Code that no group depends on may do anything, within the rules
//!   of [`unknown`].
//! * Any bytes are safe: no panic, no endless loop, bounded memory. Each instruction and each
//!   platform method takes steps in proportion to its work, each object takes heap, and the limits
//!   below end both. Nothing is freed before the machine is, so no loop gets around the heap's
//!   limit.
//! * Exceptions are not caught: code that throws ends in a fault that names the exception.
#![forbid(unsafe_code)]

mod class;
mod decode;
mod descriptor;
mod fault;
mod frame;
mod heap;
mod link;
mod machine;
mod op;
mod platform;
mod pool;
mod step;
mod text;
mod unknown;
mod value;

pub use class::Class;
pub use fault::{Fault, FaultKind, Location};
pub use machine::{Machine, StaticField};
pub use value::{Kind, Ref, Value};

/// Instructions, and the same amount of work in platform methods, that one machine does. Some
/// hundred groups take some ten thousand.
const MAX_STEPS: usize = 2_000_000;
/// Bytes of objects, roughly, that one machine makes.
const MAX_HEAP: usize = 32 << 20;
/// Unfinished method calls at one time.
const MAX_DEPTH: usize = 1024;
/// Local variables of all unfinished calls.
const MAX_LOCALS: usize = 1 << 18;
/// Class initialisers and calls from platform methods within each other: these take the host's
/// stack.
const MAX_NESTING: usize = 48;
/// Superclasses of a class; loading them takes the host's stack.
const MAX_SUPERCLASSES: usize = 32;
/// Classes that one machine loads.
const MAX_CLASSES: usize = 4096;
/// Bytes of a name or descriptor.
const MAX_NAME: usize = 4096;

/// A collection of class files, such as a jar.
pub trait ClassSource {
    /// Returns the bytes of the class with this internal name (`com/foo/Bar$Baz`), `None` if there
    /// is no such class, or why it can't be read.
    fn class(&self, name: &str) -> Result<Option<&[u8]>, String>;
}
