//! Calls of which the sources do not tell whether they are log calls. Either another static import
//! has the method's name, and javac chooses by the types of arguments; or a superclass is one of
//! Kotlin, whose members are not known here.

use super::invocation::Candidate;
use super::place::MemberCalls;
use crate::diagnostic::{Code, Diagnostic};

impl MemberCalls<'_, '_, '_> {
    /// The note on a call by a method's name alone that may be a call of another method.
    pub(super) fn doubt(&self, candidate: &Candidate) -> Option<Diagnostic> {
        if candidate.class.is_some() {
            return None;
        }
        let name = self.unit.str(&candidate.method);
        let class = self.java.protolog();
        let names = &self.unit.names;
        let other = names.static_single.iter().find(|import| {
            import.rsplit_once('.').is_some_and(|(of, member)| of != class && member == name)
        });
        let wildcard = || {
            let has = |of: &&String| *of != class && self.resolver.may_have_method(of, name);
            names.static_wildcard.iter().find(has).map(|of| format!("{of}.*"))
        };
        let why = match other.cloned().or_else(wildcard) {
            Some(other) => format!("`import static {other}` may bring the method, too"),
            None => {
                let owner = self.unit.outline.members[self.member.0].owner;
                let path = self.resolver.method_of_kotlin(owner, name)?;
                format!("a superclass may inherit it from `{}`", path.display())
            }
        };
        let message =
            format!("this call stays as it is, since it is not known what `{name}` means: {why}");
        let help = format!("write `{}.{name}`", class.rsplit('.').next().unwrap_or(class));
        let range = candidate.method.clone();
        Some(Diagnostic::note(Code::NotRewritten, range, message).help(help))
    }
}
