//! Hyperlinks from messages to their places in the sources, for terminals (OSC 8).
//!
//! Invariant: a link names a file that is there, below the root of the sources, and has no
//! character that could end it.

use crate::system::System;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// The parts of a form of links that a place replaces.
const PARTS: [&str; 3] = ["{host}", "{path}", "{line}"];

/// Makes links, each once.
pub(crate) struct Links<'a> {
    root: &'a Path,
    form: &'a str,
    host: String,
    system: &'a dyn System,
    known: RefCell<HashMap<String, Option<String>>>,
}

impl<'a> Links<'a> {
    /// The links of lines of text; none where output is no terminal or `none` was asked for.
    pub(crate) fn new(form: &'a str, root: &'a Path, system: &'a dyn System) -> Option<Self> {
        let is_dumb = system.variable("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
        if !system.output_to_terminal() || is_dumb || form == "none" {
            return None;
        }
        let host = system.read(Path::new("/proc/sys/kernel/hostname")).unwrap_or_default();
        let host = String::from_utf8_lossy(&host).trim().to_owned();
        Some(Self { root, form, host, system, known: RefCell::default() })
    }

    /// The address of a location, `path:line`; none if its file is not there.
    pub(crate) fn address(&self, location: &str) -> Option<String> {
        if let Some(known) = self.known.borrow().get(location) {
            return known.clone();
        }
        let made = self.make(location);
        self.known.borrow_mut().insert(location.to_owned(), made.clone());
        made
    }

    fn make(&self, location: &str) -> Option<String> {
        let (path, lines) = location.rsplit_once(':')?;
        let line = lines.split(',').next().filter(|line| line.parse::<u32>().is_ok())?;
        let root = std::path::absolute(self.root).ok()?;
        let path = Path::new(path);
        // The trace names it, so it is looked for nowhere else.
        let below = if path.is_absolute() { path.strip_prefix(&root).ok()? } else { path };
        below.file_name()?;
        if !self.system.has_file_below(&root, below) {
            return None;
        }
        let path = std::path::absolute(root.join(below)).ok()?;
        let values = [encoded(&self.host), encoded(path.to_str()?), line.to_owned()];
        let parts = PARTS.into_iter().zip(values);
        Some(parts.fold(self.form.to_owned(), |made, (part, value)| made.replace(part, &value)))
    }
}

/// The text within escape sequences that make it a link.
pub(crate) fn linked(text: &str, address: &str) -> String {
    format!("\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\")
}

/// The form of links that a text on the command line is.
///
/// # Errors
///
/// If it has no `{path}`, another part in braces, or characters that end a link.
pub(crate) fn form(text: &str) -> Result<String, String> {
    let rest = PARTS.into_iter().fold(text.to_owned(), |rest, part| rest.replace(part, ""));
    let is_plain = rest.chars().all(|char| char.is_ascii_graphic() && !"{}".contains(char));
    if text == "none" || is_plain && text.contains(PARTS[1]) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "neither `none` nor an address with `{{path}}`, and `{{line}}` or `{{host}}`: `{text}`"
    ))
}

/// The text with all but plain characters as `%1f`.
fn encoded(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~+".contains(&byte) {
            made.push(char::from(byte));
        } else {
            write!(made, "%{byte:02X}").expect("a string takes every write");
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_there_have_addresses() {
        let system = crate::system::Memory::default();
        system.add_file("/src/net work.rs", "x");
        let links = Links {
            root: Path::new("/src"),
            form: "editor://{host}{path}:{line}",
            host: "a b".to_owned(),
            system: &system,
            known: RefCell::default(),
        };
        let address = |location| links.address(location);
        assert_eq!(
            address("net work.rs:12,40").as_deref(),
            Some("editor://a%20b/src/net%20work.rs:12")
        );
        assert_eq!(
            address("/src/net work.rs:7").as_deref(),
            Some("editor://a%20b/src/net%20work.rs:7")
        );
        system.add_file("/etc/passwd", "x");
        for location in ["/etc/passwd:1", "other.rs:12", "net work.rs", "net work.rs:x", ".:1", ""]
        {
            assert_eq!(address(location), None, "{location}");
        }
        assert_eq!(encoded("\x1b\\%é"), "%1B%5C%25%C3%A9");
    }

    #[test]
    fn forms_of_links_are_checked() {
        for text in ["none", "file://{host}{path}", "vscode://file{path}:{line}"] {
            assert_eq!(form(text).as_deref(), Ok(text));
        }
        for text in ["", "file://", "{path}{column}", "{path} x", "\x1b{path}"] {
            assert!(form(text).is_err(), "{text:?}");
        }
    }
}
