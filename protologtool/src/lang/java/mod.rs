//! Java: calls of the static methods `v d i w e wtf` of one class, rewritten in dialect protolog.
//!
//! ```text
//! if (c) ProtoLog.d(NET, "sent %d", n); else f();
//! if (c) { if (dev.protolog.ProtoLogImpl.isEnabled(NET, dev.protolog.LogLevel.DEBUG)) dev.protolog.ProtoLogImpl.d(NET, 123L, 1L, dev.protolog.ProtoLogImpl.l(n)); } else f();
//! ```
//!
//! Only insertions, and replacements of the class's name and of the template: arguments keep their bytes, so comments,
//! nested calls and several lines need no care of their own. Reading order: [`find`], [`names`], [`scope`], [`constant`],
//! [`context`], [`emit`]; below them [`syntax`] (the tree) and [`lexer`] (without a tree).
//!
//! Every other method of the class (`isEnabled`, `init` …) and method references stay as they are: both classes answer
//! `isEnabled` alike.

mod broken;
pub(crate) mod constant;
mod context;
mod emit;
mod find;
pub(crate) mod lexer;
mod literal;
mod names;
pub(crate) mod scope;
pub(crate) mod syntax;

pub use context::Context;

use super::{Found, Language, Message};
use crate::call::Call;
use crate::groups::Groups;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use memchr::memmem;
use std::ops::Range;

/// Java, with the classes that calls and rewritten code name.
#[derive(Clone, Debug)]
pub struct Java {
    /// Canonical name of the class whose calls are rewritten.
    protolog: String,
    /// Canonical name of the class that rewritten code calls.
    implementation: String,
    /// Canonical name of the enum of levels.
    level: String,
}

/// What only Java's emitter needs of a call.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Where the call stands, which decides what must be put around it.
    pub context: Context,
    /// The class's name before the method's; empty, right before the method's name, for a static import.
    pub class: Range<usize>,
    /// The group argument.
    pub group: Range<usize>,
}

impl Java {
    /// Calls of `protolog` become calls of `implementation`; the levels are the enum `LogLevel` beside `protolog`. Names as
    /// the command line gives them, `$` for nested classes allowed.
    pub fn new(protolog: &str, implementation: &str) -> Self {
        let protolog = canonical(protolog);
        let level = match protolog.rsplit_once('.') {
            Some((package, _)) => format!("{package}.LogLevel"),
            None => "LogLevel".to_owned(),
        };
        Self { implementation: canonical(implementation), protolog, level }
    }

    /// The last part of the class's name.
    fn simple_name(&self) -> &str {
        self.protolog.rsplit('.').next().unwrap_or(&self.protolog)
    }
}

/// A class's canonical name, from a name in which `$` may stand before the name of a nested class.
pub fn canonical(class: &str) -> String {
    class.replace('$', ".")
}

/// Package path and file name: `com/foo/Bar.java`.
pub fn place(source: &Source) -> String {
    let name =
        source.path().file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let package = lexer::package(source.bytes());
    if package.is_empty() { name } else { format!("{}/{name}", package.replace('.', "/")) }
}

impl Language for Java {
    type Shape = Shape;

    fn may_call(&self, bytes: &[u8]) -> bool {
        // `ProtoLogGroup`, `MyProtoLog` and, in rewritten code, `ProtoLogImpl` are other names.
        let name = self.simple_name();
        memmem::find_iter(bytes, name).any(|at| {
            let is_word = |at: Option<usize>| {
                at.and_then(|at| bytes.get(at)).is_some_and(|b| lexer::is_word(*b))
            };
            !is_word(at.checked_sub(1)) && !is_word(Some(at + name.len()))
        })
    }

    fn place(&self, source: &Source) -> String {
        place(source)
    }

    fn find(&self, source: &Source, groups: &Groups) -> Found<Shape> {
        find::find(self, source, groups)
    }

    fn emit(
        &self,
        source: &Source,
        call: &Call<Shape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    ) {
        emit::emit(self, source, call, message, plan);
    }
}
