//! Names of arguments in the templates of Java and Kotlin: `sent %(bytes)d to %s`.
//!
//! A name stands in parentheses behind the per cent sign, so that the call is the same as without,
//! and costs the same. It goes where names of Rust's `bytes = n` go: into the dictionary and the
//! id, see [`ArgumentNames`](protolog_core::ArgumentNames). Android's class has none.
//!
//! Invariant: the runtime takes the same templates, since a call may be one that was not
//! rewritten. `protolog-core/testdata/named_templates.tsv` has vectors for both.

use crate::call::Text;
use crate::diagnostic::{Code, Diagnostic};
use crate::lang::jvm::dialect::Dialect;
use protolog_core::is_name;
use std::ops::Range;

/// A name that is none: its place in the template, what is wrong, and what to do.
type NameFault = (Range<usize>, String, &'static str);

/// Takes the names out of a template, and returns their list.
pub(in crate::lang) fn take_names(
    text: &mut Text,
    dialect: &Dialect,
) -> Result<String, Diagnostic> {
    if *dialect != Dialect::Protolog {
        return Ok(String::new());
    }
    match names(text.as_str()) {
        Ok((written, names)) => {
            text.remove(&written);
            Ok(names)
        }
        Err((range, message, help)) => {
            let range = text.origin(range);
            Err(Diagnostic::error(Code::BadTemplate, range, message).help(help))
        }
    }
}

/// The parts that give names, and the list of these; the list is empty where there are none.
fn names(text: &str) -> Result<(Vec<Range<usize>>, String), NameFault> {
    let (mut names, mut written, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(found) = text[at..].find('%') {
        let start = at + found;
        let rest = &text[start + 1..];
        at = start + 1 + usize::from(rest.starts_with('%'));
        if rest.starts_with('%') {
            continue;
        }
        let Some(inner) = rest.strip_prefix('(') else {
            names.push("");
            continue;
        };
        let Some(len) = inner.find(')') else {
            let message = "unfinished name of an argument `%(`".to_owned();
            return Err((start..start + 2, message, "write it in parentheses, as in `%(bytes)d`"));
        };
        let (name, part) = (&inner[..len], start + 1..start + len + 3);
        if !is_name(name) {
            let message = format!("`{name}` can't be the name of an argument");
            return Err((start..part.end, message, "write a short word, as in `%(bytes)d`"));
        }
        if names.contains(&name) {
            let message = format!("two arguments have the name `{name}`");
            let help = "give each argument a name of its own, or none";
            return Err((start..part.end, message, help));
        }
        at = part.end;
        if text[at..].starts_with('%') {
            let message = format!("no conversion behind the name `{name}`");
            return Err((start..at, message, "write a letter, as in `%(bytes)d`"));
        }
        names.push(name);
        written.push(part);
    }
    let names = if written.is_empty() { String::new() } else { names.join(",") };
    Ok((written, names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::jvm::dialect::{Android, Guard, MaskType};

    #[test]
    fn templates_have_the_names_that_the_runtime_finds() {
        let table = include_str!("../../../../protolog-core/testdata/named_templates.tsv");
        for line in table.lines().skip(1) {
            let [written, template, names, problem] = line.split('\t').collect::<Vec<_>>()[..]
            else {
                panic!("{line}")
            };
            let mut text = Text::at(written, 0);
            match take_names(&mut text, &Dialect::Protolog) {
                Ok(found) => assert_eq!([text.as_str(), &found, ""], [template, names, problem]),
                Err(fault) => assert_eq!(fault.message, problem, "{line}"),
            }
        }
    }

    #[test]
    fn a_fault_is_where_its_name_is_written() {
        let mut text = Text::default();
        for (at, char) in "é%(a)d %(a)d".char_indices() {
            text.push(char, 100 + at);
        }
        let fault = take_names(&mut text, &Dialect::Protolog).unwrap_err();
        assert_eq!(fault.range, 108..112);
    }

    #[test]
    fn templates_of_androids_class_have_no_names() {
        let mut text = Text::at("%(bytes)d", 0);
        let (guard, mask) = (Guard::None, MaskType::Int);
        let form = Android { guard, passes_text: true, mask, methods: None };
        assert_eq!(take_names(&mut text, &Dialect::Android(form)).unwrap(), "");
        assert_eq!(text.as_str(), "%(bytes)d");
    }
}
