//! Lines, byte by byte but for time and ids.

use super::lines::{Output, TAG_MAX};
use super::*;
use protolog_core::escape::controls_output;

#[derive(Default)]
struct Collected(Vec<String>);

impl Output for Collected {
    fn line(&mut self, line: &[u8]) {
        self.0.push(String::from_utf8(line.to_vec()).unwrap());
    }
}

/// The lines, without date, time and ids.
fn printed(tag: &str, template: &str, args: &[Arg<'_>]) -> Vec<String> {
    let mut out = Collected::default();
    lines::print_with(&mut out, &TextLine::new(Level::Debug, tag, ""), |out| {
        known(out, template, args)
    });
    let after_head = |line: &String| {
        let (time, rest) = line.split_at(18);
        assert_eq!(time.as_bytes()[14], b'.', "{line}");
        let ids: Vec<_> = rest.split_whitespace().take(2).collect();
        assert_eq!(ids[0], std::process::id().to_string());
        assert!(ids[1].parse::<u32>().is_ok());
        rest.split_once(" D ").unwrap().1.strip_suffix('\n').unwrap().to_owned()
    };
    out.0.iter().map(after_head).collect()
}

#[test]
fn a_message_is_a_line() {
    assert_eq!(
        printed("Net", "sent %04d to %-s", &[]),
        ["Net     : sent %04d to %-s"],
        "no template, so printed as it stands"
    );
    assert_eq!(
        printed(
            "Net",
            "%04d|%6.2f|%s|%b|%d",
            &[Arg::Int(7), Arg::Float(1.0), Arg::Str("x"), Arg::Bool(true), Arg::Uint(u64::MAX)]
        ),
        ["Net     : 0007|  1.00|x|true|18446744073709551615"]
    );
    // Of a template known at run time only, nothing is lost, whatever is wrong with it.
    let two = [Arg::Int(7), Arg::Str("x")];
    for (template, text) in [
        ("50% %", "50% % 7 x"),
        ("100%% of %d%%", "100% of 7% x"),
        ("%q", "%q 7 x"),
        ("%o %s %s", "7 x [MISSING_PARAM]"),
    ] {
        assert_eq!(printed("Net", template, &two), [format!("Net     : {text}")], "{template}");
    }
    assert_eq!(printed("a longer tag", "", &[]), ["a longer tag: "]);
}

#[test]
fn several_lines_repeat_the_head() {
    assert_eq!(
        printed("T", "a\n%s\n", &[Arg::Str("b\n\nc")]),
        ["T       : a", "T       : b", "T       : ", "T       : c"]
    );
    assert_eq!(printed("T", "\n", &[]), ["T       : "]);
    assert_eq!(printed("T\nU", "x", &[]), ["TU      : x"]);
}

#[test]
fn control_characters_are_shown() {
    let all: String = ('\0'..=char::MAX).collect();
    for line in printed("T\u{9b}", "%s", &[Arg::Str(&all)]) {
        assert_eq!(line.find(|char| char != '\t' && controls_output(char)), None, "{line:?}");
    }
    assert_eq!(
        printed("T", "%s", &[Arg::Str("a\u{2028}b\u{202e}c\u{2069}\u{200f}")]),
        ["T       : a\\u{2028}b\\u{202e}c\\u{2069}\\u{200f}"]
    );
    assert_eq!(
        printed("T", "%s", &[Arg::Str("\u{1b}[31m\r\ttab\u{7f}")]),
        ["T       : \\u{1b}[31m\\r\ttab\\u{7f}"]
    );
}

#[test]
fn long_lines_are_cut() {
    for char in ["x", "€", "\u{1b}"] {
        let long = char.repeat(LINE);
        let lines = printed("T", "%s\nnext", &[Arg::Str(&long)]);
        assert_eq!(lines.len(), 2, "{char:?}");
        assert!(lines[0].ends_with('…') && lines[1].ends_with("next"), "{char:?}");
    }
    let mut out = Collected::default();
    let text = "x".repeat(LINE);
    lines::print(&mut out, &TextLine::new(Level::Wtf, &"t".repeat(5000), &text));
    assert_eq!(out.0[0].len(), LINE);
    assert!(out.0[0].contains(&format!(" F {}: x", "t".repeat(TAG_MAX))));
}

/// Takes lines as a terminal does.
#[derive(Default)]
struct Terminal(Collected);

impl Output for Terminal {
    fn line(&mut self, line: &[u8]) {
        self.0.line(line);
    }

    fn has_colors(&self) -> bool {
        true
    }
}

#[test]
fn colours_stand_around_each_line() {
    let mut out = Terminal::default();
    lines::print(&mut out, &TextLine::new(Level::Error, "Net", "one\ntwo"));
    lines::print(&mut out, &TextLine::new(Level::Verbose, "Net", "plain"));
    let text = "ä".repeat(LINE);
    lines::print(&mut out, &TextLine::new(Level::Wtf, "Net", &text));
    let lines = out.0.0;
    for (line, text) in lines.iter().zip(["one", "two"]) {
        assert!(line.starts_with("\x1b[31m"), "{line:?}");
        assert!(line.ends_with(&format!(" E Net     : {text}\x1b[0m\n")), "{line:?}");
    }
    assert!(!lines[2].contains('\x1b') && lines[2].ends_with("plain\n"), "{:?}", lines[2]);
    assert!(lines[3].len() <= LINE && lines[3].ends_with("…\x1b[0m\n"));
}
