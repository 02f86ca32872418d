//! Names of functions, as people write them.
//!
//! A symbol of C++ refers to its own parts: 300 bytes stand for a name in which each type has two
//! of the one before, and that would take all memory. The maker of the program has chosen its
//! symbols.
//!
//! Invariant: a name is made of at most [`LONGEST`] bytes; one that is longer stays as it is in the
//! program.

use cpp_demangle::{DemangleOptions, Symbol};
use gimli::DwLang;
use std::fmt::{self, Write};

/// The most bytes of a name. Those of templates may have thousands.
const LONGEST: usize = 64 << 10;

/// A name that is being written.
#[derive(Default)]
struct Name(String);

/// The name that a symbol stands for, in a unit of this language, if it is known; the symbol if it
/// stands for none.
pub(super) fn demangled(symbol: &str, language: Option<DwLang>) -> String {
    let may_be_rust = language.is_none_or(|it| it == gimli::DW_LANG_Rust);
    let may_be_cpp = language.is_none_or(is_cpp);
    let rust = || may_be_rust.then(|| of_rust(symbol)).flatten();
    let cpp = || may_be_cpp.then(|| of_cpp(symbol)).flatten();
    rust().or_else(cpp).unwrap_or_else(|| symbol.to_owned())
}

fn is_cpp(language: DwLang) -> bool {
    [
        gimli::DW_LANG_C_plus_plus,
        gimli::DW_LANG_C_plus_plus_03,
        gimli::DW_LANG_C_plus_plus_11,
        gimli::DW_LANG_C_plus_plus_14,
        gimli::DW_LANG_C_plus_plus_17,
        gimli::DW_LANG_C_plus_plus_20,
    ]
    .contains(&language)
}

fn of_rust(symbol: &str) -> Option<String> {
    let demangle = rustc_demangle::try_demangle(symbol).ok()?;
    let mut name = Name::default();
    write!(name, "{demangle:#}").ok().map(|()| name.0)
}

fn of_cpp(symbol: &str) -> Option<String> {
    let demangle = Symbol::new(symbol).ok()?;
    let mut name = Name::default();
    demangle.structured_demangle(&mut name, &DemangleOptions::default()).ok().map(|()| name.0)
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_stand_for_names() {
        for (symbol, expected) in [
            ("_ZN3app3run17h0123456789abcdefE", "app::run"),
            ("_RNvC3app3run", "app::run"),
            ("_ZN3app4NodeD2Ev", "app::Node::~Node()"),
            ("main", "main"),
            ("_Zwhatever", "_Zwhatever"),
        ] {
            assert_eq!(demangled(symbol, None), expected);
        }
        let of = |language| demangled("_ZN3app4NodeD2Ev", Some(language));
        assert_eq!(of(gimli::DW_LANG_C_plus_plus_14), "app::Node::~Node()");
        assert_eq!(of(gimli::DW_LANG_C11), "_ZN3app4NodeD2Ev");
    }

    /// `f(A<int, int>, A<A<int, int>, A<int, int>>, …)`
    fn doubled(times: usize) -> String {
        let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let all = digits[..times].iter().map(|digit| {
            let part = format!("S{}_", char::from(*digit));
            format!("S_I{part}{part}E")
        });
        ["_Z1f1AIiiE".to_owned()].into_iter().chain(all).collect()
    }

    #[test]
    fn names_that_grow_without_end_stay_symbols() {
        assert_eq!(demangled(&doubled(1), None), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
        assert!(demangled(&doubled(8), None).len() > 5000);
        assert_eq!(demangled(&doubled(36), None), doubled(36));
    }
}
