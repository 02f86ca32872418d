//! Response files: `@FILE` stands for the arguments in FILE.
//!
//! ```text
//! # sources.rsp: arguments, separated by white space
//! --output-srcjar out/app.srcjar
//! src/com/foo/A.java
//! "src/with space/B.java" src/it\'s/C.java
//! @more.rsp
//! ```
//!
//! Quoting is the shell's: all is literal between `'`; between `"` a `\` takes away the meaning of
//! `"`, `\`, `$` and `` ` ``; elsewhere it takes away any, and with the line's end it disappears.
//! `#` at the start of a word begins a comment. Names in a file are relative to the working
//! directory, as those on the command line are. An argument that itself begins with `@` is written
//! `./@name`, or quoted within a file.
//!
//! Invariant: the result holds, for every argument, where it comes from, so that an error can say
//! it.

use super::Failure;
use crate::output::reason;
use crate::system::os;
use crate::system::{System, too_large};
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The nesting limit of response files.
const MAX_DEPTH: usize = 16;

/// The limit on arguments: files that name each other twice grow without end.
const MAX_ARGUMENTS: usize = 1 << 20;

/// Arguments with all response files put in.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// The arguments.
    pub(super) args: Vec<OsString>,
    /// The files that were read, in order, each once.
    pub(super) files: Vec<PathBuf>,
    /// For each argument its file, as a position in `files`, and its line.
    origins: Vec<Option<(usize, usize)>>,
}

/// Puts the arguments that response files hold in their place.
pub(super) fn expand(
    args: impl IntoIterator<Item = OsString>,
    system: &dyn System,
) -> Result<Expanded, Failure> {
    let mut expanded = Expanded::default();
    for arg in args {
        expanded.add(arg, None, &mut Vec::new(), system)?;
    }
    Ok(expanded)
}

/// A word of a response file.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    bytes: Vec<u8>,
    line: usize,
    /// True if its first character was quoted, which makes `@` an ordinary one.
    literal: bool,
}

/// A quote that does not end.
#[derive(Debug, PartialEq, Eq)]
struct Unterminated {
    quote: char,
    line: usize,
}

impl Expanded {
    /// Where an argument comes from, if from a file: `sources.rsp:3`. Of equal arguments the first
    /// one counts.
    pub(super) fn origin(&self, argument: &str) -> Option<String> {
        let at = self.args.iter().position(|arg| arg == argument)?;
        let (file, line) = self.origins[at]?;
        Some(format!("{}:{line}", self.files[file].display()))
    }

    fn add(
        &mut self,
        arg: OsString,
        origin: Option<(usize, usize)>,
        open: &mut Vec<PathBuf>,
        system: &dyn System,
    ) -> Result<(), Failure> {
        match arg.as_encoded_bytes() {
            [b'@', name @ ..] if !name.is_empty() => {
                let path = PathBuf::from(os::from_bytes(name));
                self.add_file(path, origin, open, system)
            }
            _ => self.push(arg, origin),
        }
    }

    fn push(&mut self, arg: OsString, origin: Option<(usize, usize)>) -> Result<(), Failure> {
        if self.args.len() == MAX_ARGUMENTS {
            return Err(Failure::new(format!("more than {MAX_ARGUMENTS} arguments"))
                .help("look for response files that name each other"));
        }
        self.args.push(arg);
        self.origins.push(origin);
        Ok(())
    }

    fn add_file(
        &mut self,
        path: PathBuf,
        origin: Option<(usize, usize)>,
        open: &mut Vec<PathBuf>,
        system: &dyn System,
    ) -> Result<(), Failure> {
        let at = origin.map_or(String::new(), |(file, line)| {
            format!("{}:{line}: ", self.files[file].display())
        });
        let shown = path.display();
        if open.contains(&path) || open.len() == MAX_DEPTH {
            return Err(Failure::new(format!("{at}response file `{shown}` names itself"))
                .help("remove the `@` argument that closes the cycle"));
        }
        // A file that a person named may be a pipe; one that a file names may not.
        let bytes = if open.is_empty() {
            read_named(&path, system)
        } else {
            system.read_found(&path, MAX_BYTES)
        };
        let bytes = bytes.map_err(|error| {
            Failure::new(format!("{at}can't read response file `{shown}`: {}", reason(&error)))
                .help("write `./@…` for a file whose name begins with `@`")
        })?;
        let words = words(&bytes).map_err(|Unterminated { quote, line }| {
            Failure::new(format!("{shown}:{line}: no closing `{quote}`"))
                .help("close the quote, or write `\\` before it")
        })?;
        let file = self.file(&path);
        open.push(path);
        for Word { bytes, line, literal } in words {
            let (arg, origin) = (os::from_bytes(&bytes), Some((file, line)));
            if literal {
                self.push(arg, origin)?;
            } else {
                self.add(arg, origin, open, system)?;
            }
        }
        open.pop();
        Ok(())
    }

    fn file(&mut self, path: &Path) -> usize {
        self.files.iter().position(|known| known == path).unwrap_or_else(|| {
            self.files.push(path.to_path_buf());
            self.files.len() - 1
        })
    }
}

/// The size of a response file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

fn read_named(path: &Path, system: &dyn System) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    system.open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large(MAX_BYTES)) } else { Ok(bytes) }
}

/// The words of a response file.
fn words(bytes: &[u8]) -> Result<Vec<Word>, Unterminated> {
    let (mut words, mut word): (Vec<Word>, Option<Word>) = (Vec::new(), None);
    let (mut line, mut at) = (1, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        if byte.is_ascii_whitespace() {
            words.extend(word.take());
        } else if byte == b'#' && word.is_none() {
            at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
        } else if byte == b'\\' && bytes.get(at) == Some(&b'\n') {
            at += 1;
        } else {
            let literal = matches!(byte, b'\'' | b'"' | b'\\');
            let word = word.get_or_insert(Word { bytes: Vec::new(), line, literal });
            at = match byte {
                b'\'' | b'"' => quoted(bytes, start, &mut word.bytes)
                    .ok_or(Unterminated { quote: byte.into(), line })?,
                b'\\' if at < bytes.len() => {
                    word.bytes.push(bytes[at]);
                    at + 1
                }
                other => {
                    word.bytes.push(other);
                    at
                }
            };
        }
        line += memchr::memchr_iter(b'\n', &bytes[start..at]).count();
    }
    words.extend(word);
    Ok(words)
}

/// Appends the text between the quote at `start` and its partner; gives the offset after that one.
fn quoted(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> Option<usize> {
    let quote = bytes[start];
    let mut at = start + 1;
    loop {
        match bytes.get(at..)? {
            [] => return None,
            [byte, ..] if *byte == quote => return Some(at + 1),
            [b'\\', b'\n', ..] if quote == b'"' => at += 2,
            [b'\\', next @ (b'"' | b'\\' | b'$' | b'`'), ..] if quote == b'"' => {
                out.push(*next);
                at += 2;
            }
            [byte, ..] => {
                out.push(*byte);
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Memory;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    proptest! {
        /// Arguments that are quoted for a shell come back.
        #[test]
        fn quoted_arguments_come_back(args in prop::collection::vec(any::<Vec<u8>>(), 0..8)) {
            let quote = |arg: &Vec<u8>| {
                let text = arg.iter().flat_map(|byte| match byte {
                    b'\'' => b"'\\''".to_vec(),
                    other => vec![*other],
                });
                [b"'".to_vec(), text.collect(), b"'\n".to_vec()].concat()
            };
            let system = Memory::default();
            system.add_file("a", args.iter().flat_map(quote).collect::<Vec<u8>>());
            let expanded = expand(["@a".into()], &system).unwrap();
            let bytes: Vec<_> = expanded.args.into_iter().map(OsString::into_vec).collect();
            prop_assert_eq!(bytes, args);
        }

        /// Any bytes give words or an error.
        #[test]
        fn any_bytes_are_survived(bytes in any::<Vec<u8>>()) {
            if let Ok(words) = words(&bytes) {
                prop_assert!(words.iter().all(|word| word.bytes.len() <= bytes.len()));
            }
        }
    }

    fn expanded(files: &[(&str, &str)], args: &[&str]) -> Result<String, String> {
        let system = Memory::with_files(files.iter().copied());
        let expanded = expand(args.iter().map(OsString::from), &system);
        let expanded = expanded.map_err(|failure| failure.message().to_owned())?;
        let texts: Vec<_> = expanded.args.iter().map(|arg| arg.to_string_lossy()).collect();
        Ok(texts.join("|"))
    }

    #[test]
    fn quoting_is_the_shells() {
        for (text, expected) in [
            ("", ""),
            ("a b\nc\r\n\td ", "a|b|c|d"),
            ("'a b' \"c d\"e f'g'", "a b|c de|fg"),
            ("a\\ b \\'c \"\\\"\\\\\\$\\x\" '\\n'", "a b|'c|\"\\$\\x|\\n"),
            ("''  \"\"", "|"),
            ("a\\\nb \\\n c", "ab|c"),
            ("# all of this\na#b #rest\nc", "a#b|c"),
            ("trailing\\", "trailing\\"),
            ("'two\nlines'", "two\nlines"),
            ("'@literal' \\@too", "@literal|@too"),
            ("@", "@"),
        ] {
            let result = expanded(&[("x.rsp", text)], &["1", "@x.rsp", "2"]);
            let expected = match expected {
                "" if text.is_empty() => "1|2".to_owned(),
                expected => format!("1|{expected}|2"),
            };
            assert_eq!(result.as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn files_name_other_files_and_lines_are_known() {
        let files = [("a", "1\n'2\n2' 3\n@b 4"), ("b", "\n5 @c"), ("c", "6")];
        let system = Memory::with_files(files);
        let expanded = expand(["0", "@a", "@c"].map(OsString::from), &system).unwrap();
        assert_eq!(expanded.files, ["a", "b", "c"].map(PathBuf::from));
        let origins = ["0", "1", "3", "4", "5", "6", "none"].map(|arg| expanded.origin(arg));
        let expected =
            [None, Some("a:1"), Some("a:3"), Some("a:4"), Some("b:2"), Some("c:1"), None];
        assert_eq!(origins.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn what_is_wrong_says_where() {
        for (files, expected) in [
            (&[("a", "x\n\n'y\n")][..], "a:3: no closing `'`"),
            (&[("a", "@b"), ("b", "\n@a")], "b:2: response file `a` names itself"),
            (&[("a", "x\n@b")], "a:2: can't read response file `b`: entity not found"),
            (&[], "can't read response file `a`: entity not found"),
        ] {
            assert_eq!(expanded(files, &["@a"]), Err(expected.to_owned()));
        }
    }

    #[test]
    fn doubling_ends() {
        let names: Vec<String> = (0..16).map(|n| n.to_string()).collect();
        let mut texts: Vec<String> = (1..16).map(|n| format!("@{n} @{n} @{n}")).collect();
        texts.push("x ".repeat(MAX_ARGUMENTS / 64));
        let files = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str));
        let files: Vec<_> = files.collect();
        assert_eq!(expanded(&files, &["@0"]), Err("more than 1048576 arguments".to_owned()));
    }
}
