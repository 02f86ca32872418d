//! The project's own rules, executed.
//!
//! Each rule is a function from a file (or the package graph) to findings; a finding names file, line, and what to do.
//!
//! | rule | where |
//! |---|---|
//! | a file opens with a doc; 500 lines without tests; a Rust function 70 | [`length`], [`opening`] |
//! | `unsafe` only in the files that may; an `allow` has its reason; no test is ignored | [`rust`] |
//! | no marks of unfinished work, no paths of one machine | [`words`] |
//! | dependencies point one way; the runtime stays small | [`packages`] |
//! | exceptions in the lint tables have reasons; each package inherits the table | [`manifests`] |

mod length;
mod manifests;
mod mask;
mod opening;
mod packages;
mod rust;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;

use crate::{Result, workspace};

/// One breach of a rule.
#[derive(Debug, PartialEq)]
struct Finding {
    /// Line from 1; 0 for the whole file.
    line: usize,
    /// What is wrong and what to do, lower case.
    what: String,
}

/// A text file of the project.
struct File<'a> {
    /// Relative to the workspace, `/` between parts.
    path: &'a str,
    text: &'a str,
    /// For Rust: the text with comments, strings and characters blanked, see [`mask`].
    code: &'a str,
}

/// Checks all files and the package graph; an error when anything was found.
pub(crate) fn run() -> Result<()> {
    let files = workspace::files()?;
    let mut found = 0;
    for path in &files {
        let path = path.to_string_lossy();
        for finding in check_file(&path)? {
            println!("{path}{finding}");
            found += 1;
        }
    }
    for finding in packages::check(&workspace::metadata()?) {
        println!("{finding}");
        found += 1;
    }
    if found > 0 {
        return Err(format!("places where the project's rules are broken: {found}"));
    }
    println!("{} files keep the rules", files.len());
    Ok(())
}

fn check_file(path: &str) -> Result<Vec<Finding>> {
    let bytes = fs::read(workspace::root().join(path))
        .map_err(|error| format!("can't read `{path}`: {error}"))?;
    // What is not UTF-8 is test data, and not for people.
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(Vec::new());
    };
    let code = if extension(path) == "rs" { mask::code_of(&text) } else { String::new() };
    let file = File { path, text: &text, code: &code };
    let rules = [opening::check, length::check, rust::check, words::check, manifests::check];
    Ok(rules.iter().flat_map(|rule| rule(&file)).collect())
}

/// Whether the file is input or expectation of a test, so not written in the house's style.
fn is_data(path: &str) -> bool {
    const FOLDERS: [&str; 5] = ["testdata", "fixtures", "sample", "cases", "expected"];
    Path::new(path).iter().any(|part| FOLDERS.iter().any(|folder| part == *folder))
}

fn extension(path: &str) -> &str {
    Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, ":{}: {}", self.line, self.what)
        } else {
            write!(f, ": {}", self.what)
        }
    }
}

/// For the tests of the rules: the findings of `rule` in `text`, as they are printed.
#[cfg(test)]
fn found(rule: fn(&File) -> Vec<Finding>, path: &str, text: &str) -> Vec<String> {
    let code = if extension(path) == "rs" { mask::code_of(text) } else { String::new() };
    rule(&File { path, text, code: &code }).iter().map(ToString::to_string).collect()
}
