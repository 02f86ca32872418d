//! One look at a file's bytes: whether it can hold calls or groups at all. Most hold none, and cost
//! no more. Whether one declares modules in other files is asked only of crates that log.
//!
//! Invariant: a look may say yes where there is nothing, never no where there is something.

use super::{LEVEL_NAMES, MACROS};
use memchr::memmem::Finder;

/// The things that a file may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Log calls.
    pub(super) calls: bool,
    /// Group enums.
    pub(super) groups: bool,
}

impl Look {
    /// Returns whether there is anything to do.
    pub(super) fn is_wanted(self) -> bool {
        self.calls || self.groups
    }
}

/// Looks at files.
#[derive(Clone, Debug)]
pub(super) struct Looker {
    /// The names by which the runtime may be known: a file that says one may give its macros other
    /// names.
    names: Vec<Finder<'static>>,
    groups: Finder<'static>,
}

impl Looker {
    /// `names` are names of the runtime's crate and of modules that pass its macros on.
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self {
            names: names.map(|name| Finder::new(name).into_owned()).collect(),
            groups: Finder::new("ProtoLogGroup"),
        }
    }

    pub(super) fn look(&self, bytes: &[u8]) -> Look {
        Look {
            calls: self.names.iter().any(|name| mentions(name, bytes)) || has_macro_call(bytes),
            groups: mentions(&self.groups, bytes),
        }
    }
}

fn mentions(name: &Finder<'_>, bytes: &[u8]) -> bool {
    let length = name.needle().len();
    name.find_iter(bytes)
        .any(|at| !ends_in_word(&bytes[..at]) && !begins_with_word(&bytes[at + length..]))
}

/// Returns whether `!` stands after the name of one of the macros.
fn has_macro_call(bytes: &[u8]) -> bool {
    let names = || {
        let levels = LEVEL_NAMES.iter().map(|(name, _)| *name);
        MACROS.iter().map(|(name, _)| *name).chain(levels)
    };
    memchr::memchr_iter(b'!', bytes).any(|at| {
        let before = bytes[..at].trim_ascii_end();
        match before {
            [.., b'*', b'/'] => true, // A comment may stand between.
            [.., b'd' | b'v' | b'i' | b'w' | b'e' | b'f' | b'g' | b'o' | b'n' | b'r'] => {
                bytes.get(at + 1) != Some(&b'=')
                    && names().any(|name| {
                        before
                            .strip_suffix(name.as_bytes())
                            .is_some_and(|before| !ends_in_word(before))
                    })
            }
            _ => false,
        }
    })
}

/// Returns whether a file declares a module in a file of its own, `mod name;`.
pub(super) fn has_module_file(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, "mod").any(|at| {
        let after = &bytes[at + 3..];
        let name = after.trim_ascii_start();
        if ends_in_word(&bytes[..at]) || name.len() == after.len() && !after.starts_with(b"/") {
            return false;
        }
        let end = name.iter().position(|byte| !is_word(*byte) && *byte != b'#');
        let rest = end.map_or(&[][..], |end| name[end..].trim_ascii_start());
        rest.starts_with(b";") || rest.starts_with(b"/")
    })
}

fn ends_in_word(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|byte| is_word(*byte))
}

fn begins_with_word(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|byte| is_word(*byte))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks() {
        let looker = Looker::new(["protolog_rt", "log"].into_iter());
        for (text, calls, groups, modules) in [
            ("fn a() { d!(G, \"x\") }", true, false, false),
            ("wtf !{}", true, false, false),
            ("debug!(); trace!()", true, false, false),
            ("info!()", true, false, false),
            ("warn !()", true, false, false),
            ("error![]", true, false, false),
            ("d/**/!()", true, false, false),
            ("add!(1); if d != e {} vec![]; //! x", false, false, false),
            ("use protolog_rt::Session;", true, false, false),
            ("use log as l;", true, false, false),
            ("use dialog as l; my_protolog_rt", false, false, false),
            ("#[derive(ProtoLogGroup)]", false, true, false),
            ("mod a { } model; mod b ;", false, false, true),
            ("pub mod r#async;", false, false, true),
            ("mod a {} // mod, a; model;", false, false, false),
        ] {
            assert_eq!(looker.look(text.as_bytes()), Look { calls, groups }, "{text}");
            assert_eq!(has_module_file(text.as_bytes()), modules, "{text}");
        }
    }
}
