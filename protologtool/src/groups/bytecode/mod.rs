//! A small evaluator of class files: enough of the Java virtual machine to find out what the constants of an enum are.
//!
//! A group's flags and tag are results of code: a constructor, a static initialiser, getters. [`Machine`] runs that code
//! over the class files of a [`Classes`], with the few methods of the platform that such code calls ([`platform`]).
//! For `Groups.values()` it loads `Groups`, runs its `<clinit>`, which makes the constants, then the body of `values`.
//!
//! Invariants:
//! * What can't be evaluated is a [`Fault`] that names class, method and instruction; a value is never guessed. Code that
//!   no group depends on may do what it likes, within the rules of [`unknown`].
//! * Any bytes are safe: no panic, no endless loop, bounded memory. Each instruction and each platform method takes
//!   steps in proportion to its work, each object takes heap, and the limits below end both. Nothing is freed before the
//!   machine is, so no loop gets around the heap's limit.
//! * Exceptions are not caught: code that throws ends in a fault that names the exception.

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
mod step;
mod text;
mod unknown;
mod value;

pub(super) use class::{Class, canonical_name};
pub use fault::{Fault, FaultKind, Place};
pub(super) use machine::Machine;
pub(super) use value::{Ref, Value};

/// Instructions, and the same amount of work in platform methods, that one machine does. Some hundred groups take some
/// ten thousand.
const MAX_STEPS: usize = 2_000_000;
/// Bytes of objects, roughly, that one machine makes.
const MAX_HEAP: usize = 32 << 20;
/// Methods that are under way at one time.
const MAX_DEPTH: usize = 1024;
/// Locals of all methods that are under way.
const MAX_LOCALS: usize = 1 << 18;
/// Class initialisers and calls from platform methods within each other: these take the host's stack.
const MAX_NESTING: usize = 48;
/// Superclasses of a class; loading them takes the host's stack.
const MAX_SUPERCLASSES: usize = 32;
/// Classes that one machine loads.
const MAX_CLASSES: usize = 4096;
/// Bytes of a name or descriptor.
const MAX_NAME: usize = 4096;

/// Where class files come from.
pub(super) trait Classes {
    /// The bytes of the class with this internal name (`com/foo/Bar$Baz`), `None` if it isn't there, or why it can't be
    /// read.
    fn class(&self, name: &str) -> Result<Option<&[u8]>, String>;
}
