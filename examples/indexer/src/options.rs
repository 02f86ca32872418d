//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// The text of `--help`.
pub(crate) const USAGE: &str = "\
usage: indexer [OPTIONS] [DIR]...
  DIR              trees to index (default: the sources in cargo's registry)
  --trace FILE     where the trace goes (default: indexer.pftrace)
  --threads N      threads that read files (default: 4)
  --report TEXT    line per file name extension, with %s, %d, %d in this order
                   (default: `%s: %d files, %d lines`)
  --expect FILE    also write every message as text, a line of JSON each
";

/// The options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) trace: PathBuf,
    pub(crate) threads: usize,
    pub(crate) report: String,
    pub(crate) expect: Option<PathBuf>,
}

impl Options {
    /// Parses `words`; none if they ask for help.
    pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self {
            roots: Vec::new(),
            trace: "indexer.pftrace".into(),
            threads: 4,
            report: "%s: %d files, %d lines".into(),
            expect: None,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value =
                |option: &str| words.next().ok_or(format!("`{option}` without a value"));
            match word.to_str() {
                Some("--help" | "-h") => return Ok(None),
                Some(option @ "--trace") => options.trace = value(option)?.into(),
                Some(option @ "--expect") => options.expect = Some(value(option)?.into()),
                Some(option @ "--threads") => {
                    let count = value(option)?.to_string_lossy().parse().ok();
                    let count = count.filter(|count| (1..=1000).contains(count));
                    options.threads = count.ok_or(format!("`{option}` takes 1 to 1000"))?;
                }
                Some(option @ "--report") => {
                    options.report = value(option)?.to_string_lossy().into_owned();
                }
                Some(option) if option.starts_with("--") => {
                    return Err(format!("unknown option `{option}`"));
                }
                _ => options.roots.push(word.into()),
            }
        }
        if options.roots.is_empty() {
            options.roots.push(registry().ok_or("no home directory, so name a directory")?);
        }
        Ok(Some(options))
    }
}

/// The directory of sources that cargo has unpacked.
fn registry() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    Some(home.join("registry/src"))
}
