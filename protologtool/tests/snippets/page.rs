//! Pages of Markdown: their fenced blocks, and the commands in those.

/// A fenced block.
pub(crate) struct Block<'a> {
    /// The word after the fence.
    pub(crate) language: &'a str,
    /// The number of the fence's line in the page, from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// The fenced blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, &str, usize)> = None;
    let mut at = 0;
    for (index, line) in page.split_inclusive('\n').enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            open = match open {
                None => Some((index + 1, language.trim(), at + line.len())),
                Some((number, language, begin)) => {
                    blocks.push(Block { language, line: number, text: &page[begin..at] });
                    None
                }
            };
        }
        at += line.len();
    }
    assert!(open.is_none(), "a block without an end");
    blocks
}

/// The indented blocks of a page, outside of fenced ones and of lists, without the indentation;
/// each with the number of its first line.
pub(crate) fn indented(page: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let (mut is_fenced, mut before) = (false, "");
    for (index, line) in page.lines().enumerate() {
        is_fenced ^= line.starts_with("```");
        let code = line.strip_prefix("    ").filter(|_| !is_fenced);
        match (code, blocks.last_mut()) {
            (Some(code), Some((_, text))) if before.starts_with("    ") => {
                text.extend([code, "\n"]);
            }
            (Some(code), _) if before.is_empty() => blocks.push((index + 1, format!("{code}\n"))),
            _ => {}
        }
        before = line;
    }
    blocks
}

/// The commands of a transcript, each with the lines that it prints.
pub(crate) fn commands(text: &str) -> Vec<(&str, String)> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, String::new())),
            (None, Some((_, printed))) => printed.extend([line, "\n"]),
            (None, None) => {} // Text before the first command.
        }
    }
    commands
}

/// The lines of a log with `TIME PID TID` in place of these, and without the times of spans.
pub(crate) fn without_times(text: &str) -> String {
    let line = |line: &str| {
        let mut rest = line;
        for _ in 0..4 {
            rest = rest.trim_start().split_once(' ')?.1;
        }
        let is_time = line
            .get(..18)
            .is_some_and(|time| time.as_bytes()[2] == b'-' && time.as_bytes()[14] == b'.');
        let mut rest = rest.to_owned();
        if let Some((name, fields)) = rest.split_once(" took ") {
            let after = fields.split_once(' ').and_then(|(_, unit)| unit.split_once(' '));
            rest = format!("{name} took TIME {}", after.map_or("", |(_, fields)| fields));
        }
        is_time.then(|| format!("TIME PID TID {rest}"))
    };
    text.lines().map(|text| line(text).unwrap_or_else(|| text.to_owned()) + "\n").collect()
}

#[test]
fn reads_pages() {
    let page = "a\n```console\n$ one\n1\n$ two\n```\n```rust\nx\n```\n";
    let found: Vec<_> =
        blocks(page).iter().map(|block| (block.language, block.line, block.text)).collect();
    assert_eq!(found, [("console", 2, "$ one\n1\n$ two\n"), ("rust", 7, "x\n")]);
    assert_eq!(commands(found[0].2), [("one", "1\n".to_owned()), ("two", String::new())]);
    let page =
        "a\n\n    one\n      two\n\n    three\n- list\n    goes on\n\n```\n\n    fenced\n```\n";
    assert_eq!(indented(page), [(3, "one\n  two\n".to_owned()), (6, "three\n".to_owned())]);
    let line = "11-20 18:52:07.114  4711  4711 D Net     : sent\n1\n";
    assert_eq!(without_times(line), "TIME PID TID D Net     : sent\n1\n");
    let line = "11-20 18:52:07.114  4711  4711 < app     : request#1 took 5.341 µs id=7\n";
    assert_eq!(without_times(line), "TIME PID TID < app     : request#1 took TIME id=7\n");
}
