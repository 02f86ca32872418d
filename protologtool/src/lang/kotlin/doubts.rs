//! Calls of which the sources do not tell whether they are log calls: a member of a superclass, of
//! a receiver or of the package may be meant instead, or a variable that can be called.
//!
//! Kotlin looks for a name in the innermost scope first, receivers of lambdas and of extensions
//! included, and takes the first function that the arguments fit; explicit imports come before the
//! package, the package before wildcards.

use super::kinds::is_declared;
use super::lexer::LexemeKind;
use super::method_call::MethodCall;
use super::names::ScopedFile;
use super::read::CallReader;
use super::receivers::has_receiver;
use super::scopes::{DeclaredKind, DeclaredName};
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::Kind;
use crate::lang::jvm::rivals::{Rival, RivalKind, TYPES_OF_KOTLIN};

impl CallReader<'_, '_> {
    /// The note on a log call that may be a call of something else; none if it is one for certain.
    pub(super) fn doubt(&self, call: &MethodCall) -> Option<Diagnostic> {
        let file = &self.named.file;
        let first = call.class.start;
        let offset = file.tokens[first].range().start;
        let elements = file.elements(call.method + 1);
        let name = file.word(first).into_owned();
        let by_name = if first == call.method {
            self.called_by_name(&name, offset, elements.len(), first)
        } else {
            self.rival_of(&name, offset, first, |it| !matches!(it.kind, RivalKind::Function(_)))
        };
        let group = || {
            let group = elements.first()?.start;
            let name = file.is_word(group).then(|| file.word(group).into_owned())?;
            let is_value = |rival: &Rival| !matches!(rival.kind, RivalKind::Function(_));
            self.rival_of(&name, offset, group, is_value)
        };
        let why = by_name.or_else(group)?;
        let message =
            format!("this call stays as it is, since it is not known what it means: {why}");
        let range = file.bytes_of(&(first..call.method + 1));
        let help = "write the full name of the class, or rename the other declaration";
        Some(Diagnostic::note(Code::NotRewritten, range, message).help(help))
    }

    /// Other declarations that the imported method `name` may be.
    fn called_by_name(
        &self,
        name: &str,
        offset: usize,
        arguments: usize,
        at: usize,
    ) -> Option<String> {
        let scopes = &self.named.scopes;
        if scopes.variable(name, offset).is_some_and(|it| !is_never_called(self.named, it)) {
            return Some(format!("the variable `{name}` may be one that can be called"));
        }
        let is_imported = self.named.file.imports.iter().any(|it| it.name.as_deref() == Some(name));
        let mut declared = scopes.named(name).filter(|it| {
            let is_top =
                scopes.types_around(it.offset).next().is_none() && !self.named.is_local(it);
            it.kind == DeclaredKind::Function
                && it.scope.contains(&offset)
                && !(is_top && is_imported)
        });
        if declared.any(|it| self.fits(it, arguments)) {
            return Some(format!("the file has a function `{name}` there"));
        }
        let is_made = |it: &DeclaredName| it.written_type.is_none();
        if !is_imported && scopes.type_named(name, offset).is_some_and(is_made) {
            return Some(format!("the file has a class `{name}` there"));
        }
        self.rival_of(name, offset, at, |rival| rival.takes(arguments))
    }

    /// Returns whether a function of the file may be called with so many arguments.
    fn fits(&self, function: &DeclaredName, arguments: usize) -> bool {
        let file = &self.named.file;
        let open = self.named.token_at(function.offset) + 1;
        let parameters = file.elements(open);
        let is_any = (open..file.partner(open))
            .any(|at| file.is_punct(at, b'=') || file.raw(at) == "vararg");
        is_any || parameters.len() == arguments
    }

    /// A declaration of the inputs that `name`, at a token, may mean instead, as words.
    fn rival_of(
        &self,
        name: &str,
        offset: usize,
        at: usize,
        is_meant: impl Fn(&Rival) -> bool,
    ) -> Option<String> {
        let named = self.named;
        let [class, groups] = [self.kotlin.java.protolog(), self.groups.class()];
        let is_rival =
            |it: &&Rival| is_meant(it) && !it.is_file_of(class) && !it.is_file_of(groups);
        let mut rivals = named.others?.rivals(name).iter().filter(is_rival).peekable();
        rivals.peek()?;
        let inherits = named.scopes.types_around(offset).any(|it| !it.supertypes.is_empty());
        let receives = has_receiver(named, at);
        let is_imported = named.file.imports.iter().any(|it| it.name.as_deref() == Some(name));
        let is_wildcard = !is_imported && named.file.package != self.package();
        let rival = rivals.find(|it| {
            let is_type = it.kind == RivalKind::Type;
            let is_near = it.package == named.file.package
                && it.language == Kind::Kotlin
                && it.kind != RivalKind::Variable;
            // Types are no members of receivers.
            inherits || receives && !is_type || is_wildcard && is_near
        })?;
        Some(format!("`{}` declares `{name}`, too", rival.path.display()))
    }

    /// The package of the class whose calls are rewritten.
    fn package(&self) -> &str {
        let class = self.kotlin.java.protolog();
        class.rsplit_once('.').map_or("", |(package, _)| package)
    }
}

/// Returns whether a variable evidently has a type without `invoke`.
fn is_never_called(named: &ScopedFile<'_>, variable: &DeclaredName) -> bool {
    if named.others.is_some_and(|others| !others.rivals("invoke").is_empty())
        || memchr::memmem::find(named.file.text, b"invoke").is_some()
    {
        return false;
    }
    let file = &named.file;
    let name = named.token_at(variable.offset);
    if variable.kind == DeclaredKind::EnumEntry {
        return true;
    }
    let before = name.checked_sub(2).map_or("", |at| file.raw(at));
    let is_caught = before == "catch" && file.is_punct(name - 1, b'(');
    let is_counted = before == "for"
        && file.raw(name + 1) == "in"
        && file.kind(name + 2) == Some(LexemeKind::Number);
    let of_type = |written: &String| {
        let name = written.trim_end_matches('?');
        TYPES_OF_KOTLIN.contains(&name) && !is_declared(named, name)
    };
    let is_literal = variable.written_type.is_none()
        && variable.value.as_ref().is_some_and(|value| {
            let kind = file.kind(value.start);
            value.len() == 1 && matches!(kind, Some(LexemeKind::Number | LexemeKind::Char))
                || matches!(kind, Some(LexemeKind::TextOpen { .. }))
                    && file.partner(value.start) + 1 == value.end
        });
    is_caught || is_counted || is_literal || variable.written_type.as_ref().is_some_and(of_type)
}
