//! Makefiles of dependencies, which make and Ninja read: `outputs: inputs`.
//!
//! ```text
//! out/app.srcjar out/app.pb: \
//!   src/com/foo/A.java \
//!   src/with\ space/B\#1$$.java
//! ```

use crate::exit::Failure;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The makefile's content: the outputs depend on the inputs, of which each is named once.
pub(super) fn text(outputs: &[&Path], inputs: &[PathBuf]) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    for (index, output) in outputs.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        escape(output, &mut text)?;
    }
    text.push(b':');
    let mut seen = HashSet::with_capacity(inputs.len());
    for input in inputs.iter().filter(|input| seen.insert(input.as_os_str())) {
        text.extend_from_slice(b" \\\n  ");
        escape(input, &mut text)?;
    }
    text.push(b'\n');
    Ok(text)
}

/// `\` is itself except before what it protects, where it must be doubled.
fn escape(path: &Path, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut backslashes = 0;
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            // Nothing that is written for these is read alike by make and Ninja.
            b'\n' | b'\r' | b';' | b'|' | b'=' => {
                let shown = path.display().to_string();
                return Err(Failure::new(format!(
                    "`{}` can't be written to a makefile",
                    shown.escape_debug()
                ))
                .help("rename the file, or leave out `--depfile`"));
            }
            b' ' | b'\t' | b'#' | b':' => out.extend(std::iter::repeat_n(b'\\', backslashes + 1)),
            b'$' => out.push(b'$'),
            _ => {}
        }
        backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
        out.push(*byte);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        for (name, expected) in [
            ("src/A.java", "src/A.java"),
            ("a b", "a\\ b"),
            ("a#b$c", "a\\#b$$c"),
            ("a\\b", "a\\b"),
            ("a:b", "a\\:b"),
            ("a\\ b", "a\\\\\\ b"),
        ] {
            let mut text = Vec::new();
            escape(Path::new(name), &mut text).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), expected, "{name}");
        }
        for name in ["a\nb", "a;b", "a|b", "a=b"] {
            assert!(escape(Path::new(name), &mut Vec::new()).is_err());
        }
    }
}
