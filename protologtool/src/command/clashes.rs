//! Showing the reason why a dictionary is refused, at the call that brought it about.

use crate::diagnostic::{Code, Diagnostic, Notice, Reporter, Severity};
use crate::groups::GroupClash;
use crate::pipeline::Processed;
use crate::source::Source;
use crate::system::System;
use std::path::Path;
use viewer_config::{Message, Problem, Problems};

/// Shows all problems.
pub(super) fn report(
    problems: &Problems,
    processed: &[Processed],
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) {
    for problem in problems.as_slice() {
        let messages = match problem {
            Problem::MessageClash { first, second } => vec![second, first],
            Problem::UndeclaredGroup { message } => vec![message],
            _ => Vec::new(),
        };
        let (text, help) = (problem.to_string(), problem.help().to_owned());
        match messages.into_iter().find_map(|message| line(message, processed, system)) {
            Some((source, line)) => {
                let range = source.line_range(line);
                let indent = source
                    .slice(range.clone())
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace());
                let start = range.start + indent.count();
                let diagnostic =
                    Diagnostic::error(Code::IdClash, start..range.end, text).help(help);
                reporter.diagnostic(&diagnostic, &source);
            }
            None => reporter.notice(&Notice {
                severity: Severity::Error,
                code: Code::IdClash,
                message: text,
                help: Some(help),
            }),
        }
    }
}

/// Shows two groups of one id; `path` is the file that they were read from.
pub(super) fn report_groups(clash: &GroupClash, path: &Path, reporter: &mut Reporter<'_>) {
    let (first, second) = &clash.names;
    let (path, id) = (path.display(), clash.id as i32);
    reporter.notice(&Notice {
        severity: Severity::Error,
        code: Code::IdClash,
        message: format!("`{path}`: the groups `{first}` and `{second}` have the same id `{id}`"),
        help: Some("let `getId()` return another number for one of them".to_owned()),
    });
}

/// Shows two groups of Rust enums, or one of them and one of Java, that have one id.
pub(super) fn report_rust_groups(clash: &GroupClash, reporter: &mut Reporter<'_>) {
    let (first, second) = &clash.names;
    reporter.notice(&Notice {
        severity: Severity::Error,
        code: Code::IdClash,
        message: format!("the groups `{first}` and `{second}` have the same id `{}`", clash.id),
        help: Some("rename one of them: the id is computed from the name".to_owned()),
    });
}

/// The source and the line of a message's first call, if both can be had.
fn line(
    message: &Message,
    processed: &[Processed],
    system: &dyn System,
) -> Option<(Source, usize)> {
    let location = message.locations.first()?;
    let line = usize::try_from(*location.lines.first()?).ok()?;
    let file = processed.iter().find(|file| file.place == location.path)?;
    let source = Source::new(&file.path, system.read(&file.path).ok()?);
    let lines = source.line(source.bytes().len());
    (1..=lines).contains(&line).then_some((source, line))
}
