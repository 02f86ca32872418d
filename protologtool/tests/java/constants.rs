//! Random constant expressions: those that the tool has a value for have the one that javac gives
//! them.
//!
//! A sample in every test run; with `PROTOLOG_SOAK=1`, as `cargo xtask soak jdk` sets it, 10,000.

use crate::case::process;
use protolog_testkit::{compile_java, run_java, temp_dir};
use protologtool::source::Source;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Calls in a file.
const BATCH: usize = 250;

struct Expressions(u64);

impl Expressions {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn text(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.of(&["\"a\"", "T", "\"\"", "\"\\t\"", "K.T"]).to_owned();
        }
        let rest = depth - 1;
        match self.below(5) {
            0 => format!("{} + {}", self.text(rest), self.number(rest)),
            1 => format!("{} + {}", self.text(rest), self.truth(rest)),
            2 => format!("{} + ({})", self.text(rest), self.any(rest)),
            3 => format!("({} ? {} : {})", self.truth(rest), self.text(rest), self.text(rest)),
            _ => format!("(({}) + {})", self.any(rest), self.text(rest)),
        }
    }

    fn any(&mut self, depth: usize) -> String {
        match self.below(4) {
            0 => self.text(depth),
            1 => self.truth(depth),
            _ => self.number(depth),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            let all = [
                "1",
                "7L",
                "'a'",
                "0x7fffffff",
                "C",
                "N",
                "L",
                "B",
                "-3",
                "2.5",
                "1.5f",
                "K.N",
                "70000",
                "017",
                "0b101",
                "S",
                "-1",
                "F",
                "Integer.MIN_VALUE",
                "(char) 98",
                "(byte) 300",
                "(long) 'b'",
                "(int) 3000000000L",
                "1e3",
            ];
            return self.of(&all).to_owned();
        }
        let rest = depth - 1;
        match self.below(5) {
            0 | 1 => {
                format!("({} ? {} : {})", self.truth(rest), self.number(rest), self.number(rest))
            }
            2 => format!("-({})", self.number(rest)),
            3 => format!(
                "({} {} {})",
                self.number(rest),
                self.of(&["+", "-", "*"]),
                self.number(rest)
            ),
            _ => format!(
                "({} {} {})",
                self.whole(),
                self.of(&["<<", ">>", ">>>", "&", "|", "^", "%", "/"]),
                self.whole()
            ),
        }
    }

    fn whole(&mut self) -> &'static str {
        self.of(&["1", "7L", "'a'", "C", "N", "L", "B", "-3", "33", "S", "Long.MAX_VALUE"])
    }

    fn truth(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.of(&["true", "false", "YES", "!YES"]).to_owned();
        }
        let rest = depth - 1;
        match self.below(4) {
            0 => format!(
                "({} {} {})",
                self.number(rest),
                self.of(&["<", "<=", ">", "==", "!="]),
                self.number(rest)
            ),
            1 => format!(
                "({} {} {})",
                self.truth(rest),
                self.of(&["&&", "||", "&", "^", "=="]),
                self.truth(rest)
            ),
            2 => format!("({} ? {} : {})", self.truth(rest), self.truth(rest), self.truth(rest)),
            _ => format!("!{}", self.truth(0)),
        }
    }
}

const CONSTANTS: &str = "static final String T = \"t\"; static final char C = 'c'; static final int N = 5; static final long L = 6; \
    static final byte B = 98; static final short S = 99; static final boolean YES = true; static final float F = 1.25f; \
    static class K { static final String T = \"kt\"; static final int N = 1 << 4; }";

#[test]
fn constant_expressions_are_those_of_javac() {
    let count = if std::env::var_os("PROTOLOG_SOAK").is_some() { 10_000 } else { 1_000 };
    let (directory, mut any) = (temp_dir(), Expressions(7));
    let (mut files, mut expressions, mut read) = (Vec::new(), Vec::new(), BTreeMap::new());
    for batch in 0..count / BATCH {
        let own: Vec<String> = (0..BATCH).map(|_| any.text(3)).collect();
        let (mut calls, mut printed) = (String::new(), String::new());
        for expression in &own {
            let _ = writeln!(
                calls,
                "void f{}() {{ ProtoLog.d(AppLog.NET, {expression}); }}",
                calls.len()
            );
            let _ = writeln!(
                printed,
                "System.out.println(({expression}).replace(\"\\t\", \"<tab>\"));"
            );
        }
        let head = "package demo; import dev.protolog.ProtoLog; class X {\n";
        let source = format!("{head}{calls}{CONSTANTS} }}");
        for message in process(Source::new("X.java", source.into_bytes())).messages {
            for line in message.locations.iter().flat_map(|it| it.lines.clone()) {
                read.insert(
                    batch * BATCH + line as usize - 2,
                    message.template.replace('\t', "<tab>"),
                );
            }
        }
        let path = directory.path().join(format!("P{batch}.java"));
        let text = format!("class P{batch} {{ {CONSTANTS} static void print() {{\n{printed} }} }}");
        std::fs::write(&path, text).unwrap();
        files.push(path);
        expressions.extend(own);
    }
    let main = directory.path().join("PrintAll.java");
    let calls: Vec<String> = (0..count / BATCH).map(|batch| format!("P{batch}.print();")).collect();
    let body = format!(
        "class PrintAll {{ public static void main(String[] a) {{ {} }} }}",
        calls.join(" ")
    );
    std::fs::write(&main, body).unwrap();
    files.push(main);
    let classes = directory.path().join("classes");
    let Some(output) = compile_java(&classes, &files, &[]) else { return };
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let Some(output) = run_java(&[classes], "PrintAll", &[]) else { return };
    let real: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(real.len(), expressions.len());
    let wrong = read.iter().filter(|(at, text)| real[**at] != **text).map(|(at, text)| {
        format!("{}\n    read as `{text}`, is `{}`", expressions[*at], real[*at])
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
    println!("{} of {} expressions have a value", read.len(), real.len());
    assert!(read.len() * 6 > real.len(), "{} of {}", read.len(), real.len());
}
