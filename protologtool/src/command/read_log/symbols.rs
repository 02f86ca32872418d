//! Names for the addresses in stack traces.
//!
//! A frame's line is `#01 pc 00000000000a1b2c  /usr/bin/app (BuildId: 8f3c…)`. Where the file is on
//! this machine and has the build id that the trace says, function, file and line follow, those
//! that were inlined first:
//!
//! ```text
//! #00 app::net::send at src/net.rs:12
//!     app::net::flush at src/net.rs:40
//! #01 app::main at src/main.rs:7
//! ```
//!
//! The runtime's own frames, which every trace begins with, are left out. Other texts, such as
//! Java's stack traces, stay as they are.
//!
//! Invariant: a file with another build id, or with none where the trace has one, names nothing.

mod demangled;
mod image;
mod images;

use crate::exit::Failure;
use demangled::demangled;
use image::Image;
use images::Images;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The images whose addresses were asked for.
pub(super) struct Symbols {
    found: Images,
    images: BTreeMap<String, Result<Image, String>>,
}

/// A line of a stack trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StackLine<'a> {
    address: u64,
    image: &'a str,
    build_id: Option<&'a str>,
}

/// A frame with its functions.
#[derive(Debug)]
struct NamedFrame {
    /// As it was, where nothing is known.
    line: String,
    /// Functions with file and line, those that were inlined first; none where nothing is known.
    places: Vec<String>,
}

impl Symbols {
    /// Names from images below this directory; of this machine if there is none.
    ///
    /// # Errors
    ///
    /// If the directory can't be opened, or there is none and this is root.
    pub(super) fn new(root: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self { found: Images::new(root)?, images: BTreeMap::new() })
    }

    /// The stack trace, with names where they are known.
    pub(super) fn name(&mut self, stack: &str) -> String {
        let mut frames: Vec<NamedFrame> = stack.lines().map(|line| self.frame(line)).collect();
        let is_runtime =
            |frame: &NamedFrame| frame.places.last().is_some_and(|place| is_ours(place));
        let last = frames.iter().rposition(is_runtime);
        frames.drain(..last.map_or(0, |last| last + 1));
        if let Some(first) = frames.first_mut() {
            // The frames of the runtime that are inlined into the function that logs.
            let inlined = first.places.len().saturating_sub(1);
            let ours = first.places[..inlined].iter().rposition(|place| is_ours(place));
            first.places.drain(..ours.map_or(0, |last| last + 1));
        }
        let mut named = String::new();
        for (number, NamedFrame { line, places }) in frames.iter().enumerate() {
            // Writing to a string can't fail.
            let _ = match places.split_first() {
                None => writeln!(named, "{line}"),
                Some((first, _)) => writeln!(named, "#{number:02} {first}"),
            };
            for place in places.iter().skip(1) {
                let _ = writeln!(named, "    {place}");
            }
        }
        named
    }

    /// The errors, each once.
    pub(super) fn problems(&self) -> impl Iterator<Item = &str> {
        self.images.values().filter_map(|image| image.as_ref().err()).map(String::as_str)
    }

    fn frame(&mut self, line: &str) -> NamedFrame {
        let places = StackLine::parse(line).map_or(Vec::new(), |frame| self.places(&frame));
        NamedFrame { line: line.to_owned(), places }
    }

    /// Functions, files and lines of an address.
    fn places(&mut self, frame: &StackLine<'_>) -> Vec<String> {
        let image = self
            .images
            .entry(frame.image.to_owned())
            .or_insert_with(|| load(frame.image, frame.build_id, &self.found));
        let Ok(image) = image else { return Vec::new() };
        let mut names = Vec::new();
        image.frames(frame.address, &self.found, |frame| {
            // Without full debug information only functions that were inlined have a name here.
            let name = frame.function.as_ref().and_then(|function| {
                Some(demangled(&function.raw_name().ok()?, function.language))
            });
            let name = name.map(|name| without_hash(&name).to_owned());
            let at = frame.location.as_ref().and_then(|location| location.file.zip(location.line));
            let at = at.map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
            names.push((name.unwrap_or_default(), at));
        });
        // The symbol's name says where the function belongs, which that of the debug information
        // may leave out.
        if let Some(symbol) = image.symbol(frame.address) {
            let name = demangled(symbol, None);
            let at = names.pop().map_or(String::new(), |(_, at)| at);
            names.push((without_hash(&name).to_owned(), at));
        }
        names.into_iter().map(|(name, at)| name + &at).collect()
    }
}

/// Returns whether a place is the runtime's.
fn is_ours(place: &str) -> bool {
    let name = place.trim_start_matches('<');
    name.starts_with("protolog_rt::") || place.contains("/protolog-rt")
}

/// A function's name without the hash that tells its instances apart.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
}

fn load(path: &str, build_id: Option<&str>, images: &Images) -> Result<Image, String> {
    let cant = |reason: String| format!("no names for the addresses in `{path}`: {reason}");
    let image = Image::read(Path::new(path), images).map_err(cant)?;
    if let Some(wanted) = build_id {
        let mut found = String::new();
        for byte in &image.build_id {
            let _ = write!(found, "{byte:02x}");
        }
        if found != wanted {
            let reason = format!("it was rebuilt since: its build id is `{found}`, not `{wanted}`");
            return Err(cant(reason));
        }
    }
    Ok(image)
}

impl<'a> StackLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let rest =
            line.trim_start().strip_prefix('#')?.trim_start_matches(|c: char| c.is_ascii_digit());
        let (address, image) = rest.strip_prefix(" pc ")?.split_once("  ")?;
        let address = u64::from_str_radix(address, 16).ok()?;
        let named = image.strip_suffix(')').and_then(|image| image.split_once(" (BuildId: "));
        let (image, build_id) = named.map_or((image, None), |(image, id)| (image, Some(id)));
        Some(Self { address, image, build_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_crash_reports() {
        let frame = StackLine::parse("#01 pc 00000000000a1b2c  /usr/bin/app (BuildId: 8f3c)");
        let expected =
            StackLine { address: 0xa1b2c, image: "/usr/bin/app", build_id: Some("8f3c") };
        assert_eq!(frame, Some(expected));
        let frame = StackLine::parse("  #12 pc 10  /a b (c)");
        assert_eq!(frame, Some(StackLine { address: 16, image: "/a b (c)", build_id: None }));
        assert_eq!(StackLine::parse("\tat com.foo.Bar.run(Bar.java:12)"), None);
    }

    #[test]
    fn what_has_no_name_stays() {
        let stack = "\tat com.foo.Bar.run(Bar.java:12)\n#00 pc 0000000000000010  /no/such/file\n";
        let images = BTreeMap::new();
        let mut symbols = Symbols { found: Images::of_this_machine(), images };
        assert_eq!(symbols.name(stack), stack);
        let problems: Vec<&str> = symbols.problems().collect();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("no names for the addresses in `/no/such/file`: "));
    }

    #[test]
    fn hashes_of_instances_are_no_part_of_names() {
        assert_eq!(without_hash("app::run::h0123456789abcdef"), "app::run");
        assert_eq!(without_hash("app::h0123"), "app::h0123");
    }
}
