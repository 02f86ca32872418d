//! Java: calls of the static methods `v d i w e wtf` and `span` of one class, rewritten in one of
//! several dialects.
//!
//! ```text
//! if (c) ProtoLog.d(NET, "sent %d", n); else f();
//! if (c) { if (dev.protolog.ProtoLogImpl.isEnabled(NET, dev.protolog.LogLevel.DEBUG)) dev.protolog.ProtoLogImpl.d(NET, 123L, 1L, dev.protolog.ProtoLogImpl.l(n)); } else f();
//! ```
//!
//! Arguments keep their bytes in every dialect, so that comments and nested calls in them need no
//! care of their own. Reading order: [`find`], [`invocation`], [`resolve`] (what names mean),
//! [`constant`], [`context`], [`effects`], [`emit`]; below them [`mod@unit`] and
//! [`outline`] (a file by its tokens), [`locals`] and [`flow`] (a member by its tree), [`syntax`]
//! and [`lexer`].
//!
//! Method references stay as they are, with a note. So do calls of the class's other methods
//! (`isEnabled`, `init` …) in dialect protolog, where both classes answer `isEnabled` alike;
//! Android's dialects have their own ways, see [`emit`].

mod argument_type;
mod array;
mod brackets;
mod broken;
pub(crate) mod constant;
mod context;
mod doubts;
mod effects;
pub(crate) mod emit;
mod escapes;
mod fields;
mod find;
mod flow;
mod form;
mod functions;
pub mod groups;
mod header;
mod initialiser;
pub(crate) mod instance;
mod integer;
mod invocation;
pub(crate) mod lexer;
mod library;
mod literal;
pub(crate) mod locals;
#[cfg(test)]
mod looks;
mod marks;
pub(crate) mod meaning;
pub(crate) mod migrate;
mod named;
mod names;
mod newer;
pub(crate) mod outline;
mod passed;
pub(crate) mod place;
pub(crate) mod resolve;
mod scopes;
mod secondary;
mod span;
pub(crate) mod syntax;
mod thrown;
mod trivia;
pub(crate) mod unit;
pub(crate) mod value;
mod wrapper;

pub(crate) use constant::constant_text;
pub use context::Context;
pub use form::Forms;
pub(crate) use functions::java_functions;
pub(crate) use library::{Classes, Library};
pub(crate) use outline::TypeId;
pub(crate) use unit::Unit;

use super::{Found, Inputs, Language, Message};
use crate::call::Call;
use crate::diagnostic::{Code, Diagnostic};
use crate::encoding::SourceEncoding;
use crate::groups::Groups;
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::groups::canonical;
use crate::lang::jvm::wrapper::Wrappers;
use crate::rewrite::PlanBuilder;
use crate::source::Source;
use find::FileCalls;
use memchr::memmem::Finder;
use protolog_core::MAX_PARAMS;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

/// Java, with the classes that calls and rewritten code name.
#[derive(Clone, Debug)]
pub struct Java {
    /// Canonical name of the class whose calls are rewritten.
    protolog: String,
    /// Canonical name of the class that rewritten code calls.
    implementation: String,
    /// Canonical name of the enum of levels.
    level: String,
    dialect: Dialect,
    encoding: SourceEncoding,
    /// Finds the simple name of the class; made once, since every byte of every file is looked at.
    finder: Finder<'static>,
    spelling: escapes::Spelling,
}

/// The part of a call that only Java's emitter needs.
#[derive(Clone, Debug)]
pub struct JavaShape {
    /// Where the call stands, which decides what must be put around it.
    pub context: Context,
    /// The class's name before the method's; empty, right before the method's name, for a static
    /// import.
    pub class: Range<usize>,
    /// The group argument.
    pub group: Range<usize>,
    /// The rest of a call of a method that passes the template on; `class` is its whole name then.
    pub passed_on: Option<PassedOn>,
    /// The prefix of the names of locals, in dialects that have them.
    pub local: String,
    /// Arguments that need other methods or locals.
    pub forms: Forms,
    /// The prefix of the names of the platform's types: `java.lang.` where a type hides one of
    /// them.
    pub platform: &'static str,
}

/// The part of a log call that a method which passes a template on adds to the calls of it.
#[derive(Clone, Debug)]
pub struct PassedOn {
    /// The group, by its full name.
    pub group: String,
}

impl JavaShape {
    /// The names of the locals of a call with `count` arguments.
    fn locals(&self, count: usize) -> Vec<String> {
        (0..count).map(|index| format!("{}{index}", self.local)).collect()
    }
}

impl Java {
    /// Calls of `protolog` become calls of `implementation`; the levels are the enum `LogLevel`
    /// beside `protolog`. Names as the command line gives them, `$` for nested classes allowed.
    pub fn new(protolog: &str, implementation: &str) -> Self {
        let protolog = canonical(protolog);
        let level = match protolog.rsplit_once('.') {
            Some((package, _)) => format!("{package}.LogLevel"),
            None => "LogLevel".to_owned(),
        };
        let implementation = canonical(implementation);
        let simple = protolog.rsplit('.').next().unwrap_or_default();
        let finder = Finder::new(simple).into_owned();
        let (dialect, spelling) = (Dialect::Protolog, escapes::Spelling::new());
        let encoding = SourceEncoding::Utf8;
        Self { protolog, implementation, level, dialect, encoding, finder, spelling }
    }

    /// With sources, and so rewritten code, in this encoding.
    #[must_use]
    pub fn with_encoding(self, encoding: SourceEncoding) -> Self {
        Self { encoding, ..self }
    }

    /// The encoding of sources of Java.
    pub fn encoding(&self) -> SourceEncoding {
        self.encoding
    }

    /// With rewritten code of this dialect.
    #[must_use]
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Where the class's simple name first stands as a word of its own.
    pub fn mention(&self, bytes: &[u8]) -> Option<Range<usize>> {
        // `ProtoLogGroup`, `MyProtoLog` and, in rewritten code, `ProtoLogImpl` are other names.
        let name = self.simple_name();
        let at = self.finder.find_iter(bytes).find(|at| {
            let is_word = |at: Option<usize>| {
                at.and_then(|at| bytes.get(at)).is_some_and(|b| lexer::is_word(*b))
            };
            !is_word(at.checked_sub(1)) && !is_word(Some(at + name.len()))
        })?;
        Some(at..at + name.len())
    }

    /// The texts of a source that are parsed, which is nearly all the work: for measurements of the
    /// rest.
    pub fn parsed(&self, source: &Source) -> Vec<Vec<u8>> {
        find::parsed(self, source)
    }

    /// The canonical name of the class whose calls are rewritten.
    pub(crate) fn protolog(&self) -> &str {
        &self.protolog
    }

    /// The canonical name of the class that rewritten code calls.
    pub(crate) fn implementation(&self) -> &str {
        &self.implementation
    }

    /// The canonical name of the enum of levels.
    pub(crate) fn level(&self) -> &str {
        &self.level
    }

    /// The form of rewritten code.
    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// The last part of the class's name.
    fn simple_name(&self) -> &str {
        self.protolog.rsplit('.').next().unwrap_or(&self.protolog)
    }
}

/// Package path and file name: `com/foo/Bar.java`.
pub fn place(path: &Path, bytes: &[u8]) -> String {
    let name = path.file_name().map_or(Cow::Borrowed(""), OsStr::to_string_lossy);
    let mut package = lexer::package(bytes);
    if package.contains('\\') {
        let translated = escapes::Translated::of(bytes);
        package = translated.map_or(package, |text| lexer::package(&text.bytes));
    }
    let mut place = String::with_capacity(package.len() + 1 + name.len());
    if !package.is_empty() {
        place.extend(package.chars().map(|char| if char == '.' { '/' } else { char }));
        place.push('/');
    }
    place.push_str(&name);
    place
}

impl Language for Java {
    type Shape = JavaShape;

    fn may_call(&self, bytes: &[u8]) -> bool {
        is_utf_16(bytes)
            || self.mention(bytes).is_some()
            || self.spelling.has(bytes, self.simple_name().as_bytes())
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> String {
        place(path, bytes)
    }

    fn find(
        &self,
        source: &Source,
        groups: &Groups,
        inputs: Option<&Inputs<'_>>,
    ) -> Found<JavaShape> {
        if is_utf_16(source.bytes()) {
            let message = "a source in UTF-16: its log calls are not looked for";
            let warning = Diagnostic::warning(Code::NotRewritten, 0..2, message);
            let diagnostics = vec![warning.help("convert the file to UTF-8")];
            return Found { diagnostics, ..Found::default() };
        }
        let classes = inputs.map(|inputs| library::Recorded::new(inputs));
        let asked = classes.as_ref().map(|classes| classes as &dyn Classes);
        let wrappers = inputs.and_then(|inputs| inputs.wrappers).map(Wrappers::all);
        let FileCalls { mut calls, others, diagnostics, unread, names_class, wrappers } =
            find::find(self, source, groups, asked, wrappers.unwrap_or_default());
        let lookups = classes.map(library::Recorded::into_lookups).unwrap_or_default();
        let has_locals = |call: &Call<JavaShape>| call.shape.forms.needs_locals;
        if self.dialect != Dialect::Protolog || calls.iter().any(has_locals) {
            emit::name_locals(source, &mut calls);
        }
        let edits = others.iter().filter_map(|other| emit::redirect(self, source, other)).collect();
        Found { calls, unread, edits, diagnostics, names_class, wrappers, lookups }
    }

    fn emit(
        &self,
        source: &Source,
        call: &Call<JavaShape>,
        message: &Message<'_>,
        plan: &mut PlanBuilder,
    ) {
        emit::emit(self, source, call, message, plan);
    }

    fn encode(&self, text: Vec<u8>) -> Vec<u8> {
        self.encoding.encode(text)
    }

    fn max_arguments(&self) -> usize {
        match &self.dialect {
            Dialect::Protolog => MAX_PARAMS,
            Dialect::Android(form) => form.mask.capacity(),
        }
    }
}

/// Recognizes the byte order mark of UTF-16, which no text in UTF-8 begins with.
fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe")
}
