//! Headers of requests, of which most are secrets.
//!
//! They come from a file, the environment, or the command line, where other users of the machine
//! can see them.
//!
//! Invariants: no message has a value of a header or of the URL's query, not even one of the
//! collector that repeats it; what stands in a file or in the environment is in no list of
//! processes.

use std::fmt;
use std::path::Path;

use protolog_files::open_regular_file;
use std::io::Read;
use ureq::http::{HeaderName, HeaderValue};

use crate::failure::{Failure, Result};
use crate::percent::decoded;

/// The most bytes of a file with headers.
const MOST: u64 = 64 << 10;

/// The least size of a hidden text: a shorter one says nothing, and is in words that are shown.
const SHORTEST_SECRET: usize = 4;

/// Names and values.
#[derive(Clone, Default)]
pub(super) struct Headers {
    all: Vec<(HeaderName, HeaderValue)>,
    /// More texts that are not shown.
    hidden: Vec<String>,
}

/// Names alone.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|(name, _)| name)).finish()
    }
}

impl Headers {
    /// Adds `NAME=VALUE`. A name that is there gets the new value.
    pub(super) fn add(&mut self, header: &str, from: &str) -> Result<()> {
        let Some((name, value)) = header.split_once('=') else {
            let message = format!("a header of {from} has no `=`");
            return Err(Failure::new(message).help("write it as `NAME=VALUE`"));
        };
        self.insert(name.trim(), value.trim(), from)
    }

    /// Adds the lines of a file: `NAME=VALUE`, or as they are in HTTP, `NAME: VALUE`. Empty ones
    /// and those that begin with `#` say nothing.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<()> {
        let mut text = String::new();
        let read =
            open_regular_file(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
        read.map_err(|error| Failure::cant_read(path, &error))?;
        let from = format!("`{}`", path.display());
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.find(['=', ':']) {
                Some(at) if line[at..].starts_with(':') => {
                    self.insert(line[..at].trim(), line[at + 1..].trim(), &from)?;
                }
                _ => self.add(line, &from)?,
            }
        }
        Ok(())
    }

    /// Adds what a variable has: `name=value,name=value`, with `%20` and the like.
    pub(super) fn add_variable(&mut self, name: &str, value: &str) -> Result<()> {
        for (key, value) in pairs(value, name)? {
            self.insert(&key, &value, &format!("`{name}`"))?;
        }
        Ok(())
    }

    fn insert(&mut self, name: &str, value: &str, from: &str) -> Result<()> {
        // As of a variable that is not set.
        if value.is_empty() && HeaderName::try_from(name).is_ok() {
            let message = format!("the header `{name}` of {from} has no value");
            return Err(Failure::new(message).help("write it as `NAME=VALUE`"));
        }
        let parsed = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
        let Some((name, mut value)) = parsed else {
            let message = format!("a header of {from} is malformed");
            return Err(Failure::new(message).help("write it as `NAME=VALUE`"));
        };
        value.set_sensitive(true);
        self.all.retain(|(known, _)| *known != name);
        self.all.push((name, value));
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(HeaderName, HeaderValue)> {
        self.all.iter()
    }

    /// Hides the values of a URL's query, too.
    pub(super) fn hide_query(&mut self, url: &str) {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        for pair in query.split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            self.hidden.extend([value.to_owned()].into_iter().chain(decoded(value)));
        }
    }

    /// The text without values of headers. What is hidden is found in the text as it came: one
    /// secret may be a part of another, which would not be found without it.
    pub(super) fn redacted(&self, text: &str) -> String {
        let mut is_hidden = vec![false; text.len()];
        // A header may have more than ASCII.
        let values = self.all.iter().map(|(_, value)| String::from_utf8_lossy(value.as_bytes()));
        for value in values.chain(self.hidden.iter().map(|text| text.as_str().into())) {
            // `Bearer TOKEN`: a message may have the token alone.
            let value = &*value;
            let words = [value].into_iter().chain(value.split_whitespace());
            for secret in words.filter(|word| word.len() >= SHORTEST_SECRET) {
                if !["bearer", "basic"].contains(&secret.to_ascii_lowercase().as_str()) {
                    for (at, _) in text.match_indices(secret) {
                        is_hidden[at..at + secret.len()].fill(true);
                    }
                }
            }
        }
        let (mut shown, mut was_hidden) = (String::with_capacity(text.len()), false);
        for (at, letter) in text.char_indices() {
            if !is_hidden[at] {
                shown.push(letter);
            } else if !was_hidden {
                shown.push('…');
            }
            was_hidden = is_hidden[at];
        }
        shown
    }
}

/// The pairs of a variable of OpenTelemetry, as in W3C's baggage: `name=value,name=value`, with
/// `%20` and the like.
pub(super) fn pairs(text: &str, variable: &str) -> Result<Vec<(String, String)>> {
    let pair = |pair: &str| {
        let decoded = |text: &str| decoded(text.trim());
        let both = pair.split_once('=').map(|(key, value)| (decoded(key), decoded(value)));
        match both {
            Some((Some(key), Some(value))) if !key.is_empty() => Ok((key, value)),
            _ => Err(Failure::new(format!("`{variable}` has a part that is no `NAME=VALUE`"))
                .help("write `NAME=VALUE,NAME=VALUE`, and `%2C` for a comma")),
        }
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_shown() {
        let mut headers = Headers::default();
        headers.add_variable("V", "authorization=Bearer%20to%2Cken, x-key = k3y1 ").unwrap();
        headers.add("x-key=k3y2", "`--header`").unwrap();
        let shown = headers.redacted("no to,ken of Bearer to,ken, and k3y2");
        assert_eq!(shown, "no … of …, and …");
        assert_eq!(format!("{headers:?}"), r#"["authorization", "x-key"]"#);
        headers.add("x-name=pässwörd", "`--header`").unwrap();
        headers.hide_query("http://localhost/?key=k%2D3y3&k3y4");
        let shown = headers.redacted("pässwörd at /?key=k%2D3y3, k-3y3, k3y4");
        assert_eq!(shown, "… at /?key=…, …, …");
        for wrong in ["secret", "a b=secret", "a=sec\nret", "=secret"] {
            let message = headers.add(wrong, "`--header`").unwrap_err().to_string();
            assert!(!message.contains("sec"), "{message}");
        }
        let message = headers.add_variable("V", "a=b,secret").unwrap_err().to_string();
        assert!(!message.contains("secret"), "{message}");
    }

    /// Whatever their order is.
    #[test]
    fn a_secret_is_hidden_that_begins_with_another_one() {
        let secrets = ["x-tenant=prod", "authorization=Bearer prod-9f8a", "x-key=9f8a-prod-k3y1"];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut headers = Headers::default();
            for at in order {
                headers.add(secrets[at], "`--header`").unwrap();
            }
            let shown = headers.redacted("prod: Bearer prod-9f8a, prod-9f8a-prod-k3y1, 9f8a");
            assert_eq!(shown, "…: …, …, 9f8a", "{order:?}");
        }
    }

    #[test]
    fn a_file_has_lines_of_both_forms() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# for X\n\nauthorization: Basic YTpi==\nx-a=b:c\n").unwrap();
        let mut headers = Headers::default();
        headers.add_file(file.path()).unwrap();
        let all: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(all, [("authorization", "Basic YTpi=="), ("x-a", "b:c")]);
    }
}
