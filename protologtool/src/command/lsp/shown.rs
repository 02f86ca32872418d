//! A call's message in words, for the editor to show.

use crate::groups::Group;
use crate::pipeline::ShownCall;
use crate::source::Source;
use protolog_core::escape::controls_output;
use protolog_core::{Arg, ArgumentNames, ParamKind, Template, render};
use std::fmt::Write;

/// The limit on the characters of an argument in the example.
const MAX_ARGUMENT: usize = 30;

/// The message as Markdown: level, group, id, template, an example of its text, and the fate of the
/// group.
pub(super) fn markdown(call: &ShownCall, group: &Group, source: &Source) -> String {
    let mut shown = String::new();
    let ShownCall { level, id, template, .. } = call;
    let _ = writeln!(
        shown,
        "**{level}** {}, id `{id:#018x}` (`{}`)\n",
        code(&group.full_name),
        *id as i64
    );
    let _ = writeln!(shown, "    {}", on_one_line(template));
    let names: Vec<String> = ArgumentNames::parse(&call.names)
        .iter()
        .map(|name| name.map_or_else(|| "…".to_owned(), code))
        .collect();
    if !call.names.is_empty() {
        let _ = writeln!(shown, "\narguments: {}", names.join(", "));
    }
    if let Some(example) = example(call, source) {
        let _ = writeln!(shown, "\nfor example\n\n    {}", on_one_line(&example));
    }
    let _ = write!(shown, "\n{}", state(group));
    shown
}

fn state(group: &Group) -> String {
    if !group.enabled {
        return format!("Group {} is compiled out: the call is never made.", code(&group.name));
    }
    let printed = if group.log_to_text { "prints as text, too" } else { "is recorded only" };
    let [name, tag] = [&group.name, &group.tag].map(|it| code(it));
    format!("Group {name} is compiled in and {printed}; its tag is {tag}.")
}

/// The text as it is, for Markdown: the author of the sources chose it, and an editor may load the
/// pictures that Markdown names.
fn code(text: &str) -> String {
    let line = on_one_line(text);
    let (longest, _) = line.chars().fold((0, 0), |(longest, run), char| {
        let run = if char == '`' { run + 1 } else { 0 };
        (run.max(longest), run)
    });
    let (fence, gap) = ("`".repeat(longest + 1), if longest > 0 { " " } else { "" });
    format!("{fence}{gap}{line}{gap}{fence}")
}

/// The text without links of Markdown, which some editors show in messages, too: programs and files
/// may have been named by anybody. Its lines are kept.
pub(super) fn unlinked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            // `]` and what makes it the text of a link are parted.
            '(' | '[' | ':' if shown.ends_with(']') => shown.extend([' ', char]),
            '\n' => shown.push(char),
            _ if controls_output(char) => shown.extend(char.escape_default()),
            _ => shown.push(char),
        }
    }
    shown
}

/// The text of the message for made-up numbers, with the expressions of texts in place of their
/// values.
fn example(call: &ShownCall, source: &Source) -> Option<String> {
    let template = Template::parse(&call.template).ok()?;
    if template.is_empty() {
        return None;
    }
    let names: Vec<String> = call.args.iter().map(|arg| name(&source.text(arg.clone()))).collect();
    let (mut text, mut names) = (String::new(), names.iter());
    let next = |conversion: &protolog_core::Conversion| {
        let name = names.next()?;
        Some(match conversion.verb.kind() {
            ParamKind::Int => Arg::Int(42),
            ParamKind::Float => Arg::Float(1.5),
            ParamKind::Bool => Arg::Bool(true),
            ParamKind::Str => Arg::Str(name),
        })
    };
    render(&mut text, &template, next).ok()?;
    Some(text)
}

fn name(expression: &str) -> String {
    let line = on_one_line(expression);
    match line.char_indices().nth(MAX_ARGUMENT) {
        Some((end, _)) => format!("<{}…>", &line[..end]),
        None => format!("<{line}>"),
    }
}

/// The text with line ends and control characters escaped: it stands in a block of one line.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        if controls_output(char) { line.extend(char.escape_default()) } else { line.push(char) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markdown() {
        for (text, shown) in [
            ("net", "`net`"),
            ("a` ![](http://example.com/a.png) `b", "`` a` ![](http://example.com/a.png) `b ``"),
            ("```", "```` ``` ````"),
            ("a\n\n[b](c)", "`a\\n\\n[b](c)`"),
        ] {
            assert_eq!(code(text), shown);
        }
    }

    #[test]
    fn no_message_has_a_link() {
        for (text, shown) in [
            ("[Fix it](command:run) in a", "[Fix it] (command:run) in a"),
            ("[a][b]\n[b]: http://c", "[a] [b]\n[b] : http://c"),
            ("]((", "] (("),
            ("a (b) [c]", "a (b) [c]"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
        ] {
            assert_eq!(unlinked(text), shown);
        }
    }
}
