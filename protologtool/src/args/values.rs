//! Parsers of the values of flags: they check what the text alone shows.

use crate::source::Kind;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;
use viewer_config::Format;

/// A class's full name, `$` or `.` before nested ones.
pub(crate) fn class_name(text: &str) -> Result<String, String> {
    let is_name = |part: &str| {
        let first = part
            .chars()
            .next()
            .is_some_and(|char| char.is_alphabetic() || matches!(char, '_' | '$'));
        first && part.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '$'))
    };
    if text.contains('.') && text.split('.').all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("not a full class name such as `com.foo.AppLog`".to_owned())
    }
}

/// The path of a module, in Rust.
pub(crate) fn rust_path(text: &str) -> Result<String, String> {
    let is_name = |part: &str| {
        part.starts_with(|char: char| char.is_alphabetic() || char == '_')
            && part.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    if text.split("::").all(is_name) {
        Ok(text.to_owned())
    } else {
        Err("not a path such as `app` or `crate::log`".to_owned())
    }
}

/// A crate's name, `=` and its root.
pub(crate) fn named_root(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, root)) if !root.is_empty() => Ok((rust_path(name)?, PathBuf::from(root))),
        _ => Err("not a crate's name and root such as `app=app/src/lib.rs`".to_owned()),
    }
}

/// The path of a dictionary.
pub(crate) fn dictionary(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Format::of_path(&path) {
        Some(_) => Ok(path),
        None => Err(NO_FORMAT.to_owned()),
    }
}

/// The fault of a name that says no format.
pub(crate) const NO_FORMAT: &str = "a dictionary's name ends with `.pb`, `.json` or `.json.gz`";

/// The path of a Java source.
pub(crate) fn java_source(text: &str) -> Result<PathBuf, String> {
    path_ending(text, ".java", "a Java source's name")
}

/// The path of a source with groups.
pub(crate) fn groups_source(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match Kind::of_path(&path) {
        Some(Kind::Java | Kind::Kotlin) => Ok(path),
        _ => Err("the name of a source with groups ends with `.java` or `.kt`".to_owned()),
    }
}

/// The path of a jar.
pub(crate) fn jar(text: &str) -> Result<PathBuf, String> {
    path_ending(text, ".jar", "a jar's name")
}

/// The path of an archive of sources.
pub(crate) fn srcjar(text: &str) -> Result<PathBuf, String> {
    path_ending(text, ".srcjar", "a source archive's name")
}

/// The path, on the device, of a dictionary in protobuf.
pub(crate) fn device_proto(text: &str) -> Result<String, String> {
    ending(text, ".pb", "the name of a dictionary on the device")
}

/// The path, on the device, of a dictionary as Android read it before it had Perfetto.
pub(crate) fn device_json(text: &str) -> Result<String, String> {
    ending(text, ".json.gz", "the name of a legacy dictionary on the device")
}

/// The path, on the device, of a log as Android wrote it before it had Perfetto.
pub(crate) fn device_log(text: &str) -> Result<String, String> {
    ending(text, ".winscope", "the name of a legacy log on the device")
}

/// The permissions of a file that is made, in octal digits.
pub(crate) fn file_mode(text: &str) -> Result<u32, String> {
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| is_octal && *mode <= 0o777);
    mode.ok_or_else(|| "not the permissions of a file in octal digits, such as 640".to_owned())
}

/// A span of time: a number with its unit, such as `90s`, `30m`, `12h` or `1d`.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let seconds =
        [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)].iter().find_map(|(unit, one)| {
            let digits = text.strip_suffix(unit)?;
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(*one)
        });
    let age = seconds.map(Duration::from_secs);
    age.ok_or_else(|| "not a number with its unit, such as 90s, 30m, 12h or 1d".to_owned())
}

/// A number of threads.
pub(crate) fn threads(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "not a number of threads, 1 or more".to_owned())
}

fn path_ending(text: &str, suffix: &str, what: &str) -> Result<PathBuf, String> {
    ending(text, suffix, what).map(PathBuf::from)
}

/// The text if it ends as the name of `what` must.
fn ending(text: &str, suffix: &str, what: &str) -> Result<String, String> {
    if text.ends_with(suffix) {
        Ok(text.to_owned())
    } else {
        Err(format!("{what} ends with `{suffix}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_units() {
        for (text, seconds) in
            [("0s", 0), ("90s", 90), ("30m", 1800), ("12h", 43_200), ("1d", 86_400)]
        {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)));
        }
        for bad in ["", "d", "1", "1w", "+1d", "-1d", "1.5d", "1 d", "300000000000000d"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn permissions_are_octal() {
        for (text, mode) in [("600", 0o600), ("0640", 0o640), ("777", 0o777), ("000", 0)] {
            assert_eq!(file_mode(text), Ok(mode));
        }
        for bad in ["", "6", "64", "680", "1777", "06400", "rw-", "+60", "-600", "0x1ff"] {
            assert!(file_mode(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn class_names() {
        for good in [
            "com.foo.AppLog",
            "org.example.ProtoLog$Cache",
            "com.foo_bar.My_Log",
            "Com.X",
            "a.b",
            "com.größe.Log",
            "$a._b",
        ] {
            assert_eq!(class_name(good).as_deref(), Ok(good));
        }
        for bad in
            ["", "invalid", ".", "a.", ".a", "a..b", "a.1b", "a.b-c", "a.b c", "a/b.C", "a.b;"]
        {
            assert!(class_name(bad).is_err(), "{bad}");
        }
    }
}
