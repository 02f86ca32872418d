//! Files of cases, whatever the language: a text of its own first, then cases.
//!
//! ```text
//! === title
//! the source
//! ---
//! what the tool makes of it, or several such parts, each behind a line that begins with `---`
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A suite's form of a case.
pub(crate) trait FromText {
    /// A case by its title and its source.
    fn from_text(title: &str, body: &str) -> Self;

    /// Title and source, as the file has them.
    fn text(&self) -> (&str, &str);
}

/// The cases of one file, in order, with the text that comes before the first.
pub(crate) struct CaseFile<C> {
    pub(crate) path: PathBuf,
    intro: String,
    pub(crate) cases: Vec<C>,
}

/// The case files of a directory, sorted.
pub(crate) fn case_files<C: FromText>(directory: &Path) -> Vec<CaseFile<C>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", directory.display());
    paths.into_iter().map(CaseFile::read).collect()
}

impl<C: FromText> CaseFile<C> {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut parts = text.split("\n=== ");
        let intro = parts.next().unwrap_or_default().to_owned();
        let case = |part: &str| {
            let (title, rest) = part.split_once('\n').unwrap();
            let Some((body, _)) = rest.split_once("\n---") else {
                panic!("no `---` in case `{title}` of {}", path.display());
            };
            C::from_text(title, body)
        };
        let cases = parts.map(case).collect();
        Self { path, intro, cases }
    }

    /// The file's text, with what the tool says of each case in the place of the expectations:
    /// parts, each with what stands behind its `---`.
    pub(crate) fn with_parts(
        &self,
        mut actual: impl FnMut(&C) -> Vec<(&'static str, String)>,
    ) -> String {
        let mut text = self.intro.clone();
        for case in &self.cases {
            let parts = actual(case);
            let (title, body) = case.text();
            let _ = write!(text, "\n=== {title}\n{body}\n");
            for (name, result) in parts {
                let line = format!("--- {name}");
                let _ = write!(text, "{}\n{}\n", line.trim_end(), result.trim_end_matches('\n'));
            }
        }
        text
    }

    /// As [`Self::with_parts`], with one part.
    #[allow(dead_code, reason = "not every suite has cases with one part")]
    pub(crate) fn with(&self, mut actual: impl FnMut(&C) -> String) -> String {
        self.with_parts(|case| vec![("", actual(case))])
    }
}
