//! Puts log calls before statements of real files, with arguments from the parameters of the
//! function around them.
//!
//! The places are found by lines, not by the lexer that is tested. A place is in the body of a
//! function, of a loop or of a branch. It is before a line with the indentation of the body, if the
//! line before that can only end a statement. kotlinc compiles the result.

use protolog_testkit::Random;
use std::fmt::Write;

/// A file with calls in it.
pub(super) struct Inserted {
    pub(super) text: String,
    pub(super) calls: usize,
    imports: &'static str,
}

const BEGIN: &str = "/*[*/";
const END: &str = "/*]*/";
/// A call is put before about one statement in so many, and into one file at most so many times.
const EVERY: u64 = 4;
const MOST: usize = 60;
/// One step of indentation.
const INDENT: usize = 4;

impl Inserted {
    /// `rewritten` without what became of the calls and without the imports.
    pub(super) fn without_calls(&self, rewritten: &str) -> String {
        let mut rest = rewritten.replacen(self.imports, "", 1);
        let mut out = String::new();
        while let Some(at) = rest.find(BEGIN) {
            let end = at + rest[at..].find(END).expect("each call has an end");
            assert!(rest[at..end].contains("ProtoLogImpl."), "a call is not rewritten");
            out.push_str(&rest[..at]);
            rest = rest.split_off(end + END.len());
        }
        out + &rest
    }
}

/// Inserts calls into `original`, the file at `path`, which decides where. None where there is no
/// place.
pub(super) fn insert(path: &str, original: &str) -> Option<Inserted> {
    let mut random = Random::from_seed(path.as_bytes());
    let mut style = STYLES[random.below(STYLES.len() as u64) as usize];
    // If a file of the standard library itself imports a member of a Java class, kotlinc 2.4 finds
    // nothing more of its packages.
    if path.contains("jvmMain/") && style.0.contains("ProtoLog.wtf") {
        style = STYLES[STYLES.len() - 1];
    }
    let mut places = Places {
        file: original,
        blocks: Vec::new(),
        last: Line::default(),
        comment: false,
        raw: false,
    };
    let (mut text, mut calls, mut has_package) = (String::new(), 0, false);
    for line in original.split_inclusive('\n') {
        let is_place = places.next(line);
        if is_place && has_package && calls < MOST && random.below(EVERY) == 0 {
            let indent = line.len() - line.trim_start().len();
            let statement = statement(calls, style.1, places.parameters(), &mut random);
            let _ = write!(text, "{}{BEGIN}{statement} {END}{}", &line[..indent], &line[indent..]);
            calls += 1;
            continue;
        }
        text.push_str(line);
        if line.starts_with("package ") && !has_package && !line.contains(['/', ';']) {
            text.truncate(text.trim_end().len());
            text.push_str(style.0);
            text.push_str(&line[line.trim_end().len()..]);
            has_package = true;
        }
    }
    (calls > 0).then_some(Inserted { text, calls, imports: style.0 })
}

/// The ways in which calls name the class: what stands behind the package, and what before the
/// template.
const STYLES: [(&str, &str); 4] = [
    ("; import dev.protolog.ProtoLog; import demo.AppLog", "ProtoLog.d(AppLog.NET, "),
    ("; import dev.protolog.ProtoLog as ZzLog; import demo.AppLog.*", "ZzLog.v(NET, "),
    ("; import dev.protolog.ProtoLog.wtf; import demo.AppLog.DISK as ZZ_DISK", "wtf(ZZ_DISK, "),
    ("", "dev.protolog.ProtoLog.i(demo.AppLog.NET, "),
];

/// A statement with a call, in one of the forms that calls can have.
fn statement(
    number: usize,
    head: &str,
    parameters: &[(String, char)],
    random: &mut Random,
) -> String {
    let (mut template, mut args) = (format!("call {number}:"), String::new());
    for _ in 0..random.below(4) {
        if parameters.is_empty() {
            break;
        }
        let (name, conversion) = &parameters[random.below(parameters.len() as u64) as usize];
        let _ = match random.below(4) {
            0 => write!(template, " ${name}"),
            1 => write!(template, " ${{{name}}}"),
            _ => write!(template, " %{conversion}").and_then(|()| write!(args, ", {name}")),
        };
    }
    let quotes = if random.below(5) == 0 { "\"\"\"" } else { "\"" };
    let call = format!("{head}{quotes}{template}{quotes}{args})");
    match random.below(18) {
        0 => format!("run {{ {call} }};"),
        1 => format!("if (true) {call} else {{ }};"),
        2 => format!("when (1) {{ 1 -> {call}; else -> {{ }} }};"),
        3 => format!("do {call} while (false);"),
        4 => format!("for (zz{number} in 0..0) {call};"),
        5 => format!("val zz{number}: Unit = {call};"),
        6 => format!("try {{ {call} }} finally {{ }};"),
        7 => format!("zz{number}@ do {{ {call}; break@zz{number} }} while (true);"),
        8 => format!("(fun() = {call})();"),
        9 => format!("val zz{number} = if (true) {call} else Unit;"),
        10 => format!("listOf({call});"),
        _ => format!("{call};"),
    }
}

/// Knows, line by line, where a statement begins.
struct Places<'s> {
    file: &'s str,
    /// Blocks that are open, the innermost last.
    blocks: Vec<Block>,
    /// The last line with code.
    last: Line,
    /// True within a comment, or within a text of several lines.
    comment: bool,
    raw: bool,
}

struct Block {
    /// The indentation of the line that opens it.
    indent: usize,
    /// True if statements stand in it: it is no class, `when` or lambda.
    is_code: bool,
    parameters: Vec<(String, char)>,
}

#[derive(Clone, Copy, Default)]
struct Line {
    indent: usize,
    /// True if a statement may begin behind it.
    ends: bool,
}

impl Places<'_> {
    /// Takes the next line; returns whether a statement begins with it.
    fn next(&mut self, line: &str) -> bool {
        let code = line.trim();
        let indent = line.len() - line.trim_start().len();
        let was_within = self.comment || self.raw;
        if self.comment {
            self.comment = !code.contains("*/");
            return false;
        }
        self.raw ^= code.matches("\"\"\"").count() % 2 == 1;
        if code.is_empty() || code.starts_with("//") || code.starts_with("/*") {
            self.comment = code.starts_with("/*") && !code.contains("*/");
            return false;
        }
        if was_within {
            return false;
        }
        while self.blocks.last().is_some_and(|block| {
            block.indent > indent || block.indent == indent && code.starts_with('}')
        }) {
            self.blocks.pop();
        }
        let is_place = self.blocks.last().is_some_and(|block| {
            let of_block = block.indent + INDENT;
            let is_first = self.last.indent == block.indent;
            block.is_code
                && indent == of_block
                && self.last.ends
                && (is_first || self.last.indent == of_block)
                && begins_statement(code)
        });
        let code = code.split(" //").next().unwrap_or(code).trim_end();
        self.last = Line { indent, ends: ends_statement(code) };
        if code.ends_with('{') {
            let is_function = is_function(code);
            let inherited =
                self.blocks.last().map(|block| block.parameters.clone()).unwrap_or_default();
            let parameters = if is_function { self.parameters_of(code) } else { inherited };
            let is_code = is_function || is_branch(code);
            self.last.ends = is_code;
            self.blocks.push(Block { indent, is_code, parameters });
        }
        is_place
    }

    /// The parameters of the function around the last line, with their conversions.
    fn parameters(&self) -> &[(String, char)] {
        self.blocks.last().map_or(&[], |block| &block.parameters)
    }

    /// The parameters of plain types in the head of a function, but for names that may mean
    /// something else in its body.
    fn parameters_of(&self, head: &str) -> Vec<(String, char)> {
        let list = head
            .rsplit_once("fun ")
            .and_then(|(_, rest)| rest.split_once('('))
            .map_or("", |(_, list)| list);
        // Types of functions have parameters of their own.
        let list = list.split_once(')').map_or("", |(list, _)| list);
        let list = if list.contains('(') { "" } else { list };
        let known = list.split(", ").filter_map(|parameter| {
            let (name, kind) = parameter.split_once(": ")?;
            let kind = kind.split(" = ").next()?;
            let conversion = match kind {
                "Int" | "Long" | "Short" | "Byte" => 'd',
                "Boolean" => 'b',
                "Double" | "Float" => 'f',
                "String" | "Char" | "Any" | "Any?" | "T" | "E" | "K" | "V" => 's',
                _ => return None,
            };
            let others = ["val NAME", "var NAME", "NAME ->", "NAME,", "(NAME in"];
            let is_clear =
                !others.iter().any(|other| self.file.contains(&other.replace("NAME", name)));
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            (is_clear && is_plain).then(|| (name.to_owned(), conversion))
        });
        known.collect()
    }
}

/// Returns whether a line can be the first of a statement, and one before which another may stand.
fn begins_statement(code: &str) -> bool {
    const OTHERS: [&str; 6] = ["else", "catch", "finally", "while (", "contract", "super"];
    let first = code.chars().next().unwrap_or(' ');
    (first.is_alphabetic() || first == '_') && !OTHERS.iter().any(|other| code.starts_with(other))
}

/// Returns whether nothing of a statement can follow on the next line, as far as this line tells.
fn ends_statement(code: &str) -> bool {
    let is_open = code.matches(['(', '[']).count() > code.matches([')', ']']).count();
    let last = code.chars().last().unwrap_or(' ');
    let word = code.rsplit(' ').next().unwrap_or(code);
    let is_head =
        ["if (", "for (", "while (", "} else if (", "@"].iter().any(|head| code.starts_with(head))
            && last == ')';
    !(is_open
        || is_head
        || "=(,+-*/<>&|?:.[{%".contains(last)
        || matches!(word, "else" | "return" | "in" | "is" | "as" | "do" | "try"))
}

/// Returns whether a line is the whole head of a function with a block as its body.
fn is_function(code: &str) -> bool {
    let is_whole = code.matches('(').count() == code.matches(')').count() && code.contains('(');
    let mut depth = 0;
    let has_value = code.char_indices().any(|(at, char)| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        char == '=' && depth == 0 && code[at..].starts_with("= ")
    });
    is_whole
        && !has_value
        && (code.starts_with("fun ") || code.contains(" fun "))
        && code.matches('{').count() == 1
}

/// Returns whether a line opens the block of a loop or a branch.
fn is_branch(code: &str) -> bool {
    const HEADS: [&str; 9] = [
        "if (",
        "} else if (",
        "} else {",
        "else {",
        "for (",
        "while (",
        "try {",
        "} finally {",
        "} catch (",
    ];
    HEADS.iter().any(|head| code.starts_with(head))
        && code.matches('{').count() == 1
        && code.matches('(').count() == code.matches(')').count()
}
