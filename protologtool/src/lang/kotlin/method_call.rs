//! The places where a file calls methods of one class.

use super::names::ScopedFile;
use super::scopes::DeclaredKind;
use crate::lang::java::Java;
use crate::lang::jvm::dialect::Dialect;
use crate::lang::jvm::level_of;
use std::collections::HashSet;
use std::ops::Range;

/// Tokens that call a method of the class.
#[derive(Clone, Debug)]
pub(crate) struct MethodCall {
    /// The tokens of the class's name; none, before the method's, where the method is imported.
    pub(crate) class: Range<usize>,
    /// The position of the method's name, before the parenthesis that opens its arguments.
    pub(crate) method: usize,
    /// The method's name in the class, which an import can rename.
    pub(crate) name: String,
}

/// All calls of methods of `class`, in source order.
pub(super) fn method_calls(named: &ScopedFile<'_>, class: &str) -> Vec<MethodCall> {
    let file = &named.file;
    let is_call =
        |at: &usize| file.is_word(*at) && file.is_punct(at + 1, b'(') && !file.begins_line(at + 1);
    let all = named.scopes.all().iter().filter(|it| may_have_parameters(it.kind));
    let declared: HashSet<usize> = all.map(|it| it.offset).collect();
    let calls = (0..file.tokens.len()).filter(is_call).filter_map(|method| {
        let mut first = method;
        while first >= 2 && file.is_punct(first - 1, b'.') && file.is_word(first - 2) {
            first -= 2;
        }
        let before = first.checked_sub(1);
        let offset = file.tokens[first].range().start;
        // A member of an expression's value, or the declaration of a function, a class or a
        // constant of an enum.
        let is_other = |at| {
            file.raw(at) == "." || file.is_punct(at, b':') && at > 0 && file.is_punct(at - 1, b':')
        };
        if before.is_some_and(is_other) || declared.contains(&offset) {
            return None;
        }
        let name = file.word(method).into_owned();
        if first == method {
            let member = named.imported_member(&name, class)?;
            let is_known = level_of(&member, &Dialect::Protolog).is_some() || member == "isEnabled";
            return is_known.then_some(MethodCall { class: method..method, method, name: member });
        }
        let path = file.path(first..method - 1)?;
        named.means(&path, class, offset).then_some(MethodCall {
            class: first..method - 1,
            method,
            name,
        })
    });
    calls.collect()
}

/// Returns whether parameters or arguments may follow the name in a declaration of this kind.
fn may_have_parameters(kind: DeclaredKind) -> bool {
    matches!(kind, DeclaredKind::Function | DeclaredKind::Type | DeclaredKind::EnumEntry)
}

/// The references to log methods of the class, such as `ProtoLog::d`: code that holds one logs by
/// it. Each as its tokens.
pub(super) fn references(named: &ScopedFile<'_>, java: &Java) -> Vec<Range<usize>> {
    let (file, class) = (&named.file, java.protolog());
    let is_colon = |at: usize| file.is_punct(at, b':');
    let found = (2..file.tokens.len()).filter_map(|method| {
        let is_reference = file.is_word(method) && is_colon(method - 1) && is_colon(method - 2);
        if !is_reference || !file.touches(method - 1) {
            return None;
        }
        let name = file.word(method);
        let mut first = method - 2;
        while first >= 1 && file.is_word(first - 1) {
            first -= 1;
            if first == 0 || !file.is_punct(first - 1, b'.') {
                break;
            }
            first -= 1;
        }
        let offset = file.tokens[first].range().start;
        let member = if first == method - 2 {
            let is_hidden = named.scopes.function(&name, offset).is_some();
            named.imported_member(&name, class).filter(|_| !is_hidden)?
        } else {
            let path = file.path(first..method - 2)?;
            named.means(&path, class, offset).then(|| name.into_owned())?
        };
        level_of(&member, java.dialect()).map(|_| first..method + 1)
    });
    found.collect()
}
