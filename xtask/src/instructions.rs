//! The step `instructions`: how many instructions a log call takes, beside a committed table.
//!
//! Counts do not depend on how busy the machine is, but on the compiler: the table has a part for
//! each. Without one for the compiler of this workspace, another compiler for the same target
//! counts, which rustup has or fetches. Without that it is skipped. Only calls that got longer
//! fail; the table of shorter ones is for `cargo xtask bless instructions`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::{Result, callgrind, install, shell, toolchain, workspace};

/// By how much a call may get longer, in per cent.
const TOLERANCE: f64 = 3.0;

/// Repetitions of a call: many chunks full.
const REPETITIONS: u64 = 50_000;

/// Names in the table, and what the program is to do.
const CASES: [(&str, [&str; 2]); 8] = [
    ("switched off", ["turns", "protolog"]),
    ("two integers", ["calls", "two-ints"]),
    ("an integer and a text, one of 8", ["calls", "int-and-text"]),
    ("two integers and a float", ["calls", "two-ints-and-float"]),
    ("a text of 40 bytes", ["calls", "long-text"]),
    ("an integer and a new text, 8 bytes", ["calls", "new-8"]),
    ("an integer and a new text, 40 bytes", ["calls", "new-40"]),
    ("two integers to two sessions", ["calls", "two-sessions"]),
];

const HEAD: &str = "\
# Instructions of a log call, counted by callgrind, in the loop that makes the calls; switched off, without the loop.
# `cargo xtask test instructions` compares, `cargo xtask bless instructions` rewrites the part of this compiler.
";

/// A part of the table: compiler and target, and the counts.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    key: String,
    counts: Vec<(String, f64)>,
}

/// Counts and compares; what can't be compared is added to `skipped`.
pub(crate) fn compare(skipped: &mut Vec<String>) -> Result<()> {
    let toolchain = match toolchain() {
        Ok(toolchain) => toolchain,
        Err(why) => {
            install::skip(skipped, "the instructions of calls", &why);
            return Ok(());
        }
    };
    let part = comparable()?;
    let now = count(part.key.clone(), toolchain.as_deref())?;
    print!("{}", text(std::slice::from_ref(&now)));
    let longer = longer(&part, &now);
    if longer.is_empty() {
        return Ok(());
    }
    Err(format!("log calls take more instructions\n{}", longer.join("\n")))
}

/// The toolchain of rustup's that counts, or none for that of the workspace. An error says why none
/// does.
pub(crate) fn toolchain() -> Result<Option<String>> {
    let part = comparable()?;
    if part.key == key()? { Ok(None) } else { toolchain::find(part.version()).map(Some) }
}

/// Has rustup fetch the toolchain that counts.
pub(crate) fn fetch_toolchain() -> Result<()> {
    toolchain::fetch(comparable()?.version())
}

/// The part of the table for the compiler of the workspace, or the last one for the same target.
fn comparable() -> Result<Part> {
    let key = key()?;
    part_for(&read()?, &key)
        .cloned()
        .ok_or_else(|| format!("no table is for {key} (`cargo xtask bless instructions`)"))
}

/// The part of the compiler `key`, or the last one for the same target.
fn part_for<'a>(known: &'a [Part], key: &str) -> Option<&'a Part> {
    let target = |key: &str| key.rsplit(", ").next().unwrap_or_default().to_owned();
    let same_target = || known.iter().rfind(|part| target(&part.key) == target(key));
    known.iter().find(|part| part.key == key).or_else(same_target)
}

impl Part {
    /// The compiler's version, as in `1.95.0`.
    fn version(&self) -> &str {
        self.key.split(' ').nth(1).unwrap_or_default()
    }
}

/// Counts and writes the part of this compiler.
pub(crate) fn bless() -> Result<()> {
    let mut parts = read()?;
    let now = count(key()?, None)?;
    parts.retain(|part| part.key != now.key);
    parts.push(now);
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    let path = path();
    workspace::write(&path, format!("{HEAD}{}", text(&parts)))
}

fn path() -> PathBuf {
    workspace::root().join("bench/instructions.txt")
}

/// Version of the compiler, and what it compiles for.
fn key() -> Result<String> {
    let verbose = shell::read(Command::new("rustc").arg("-vV"))?;
    let version = verbose.lines().next().unwrap_or_default();
    let target = verbose.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(format!("{version}, {}", target.unwrap_or("unknown target")))
}

fn read() -> Result<Vec<Part>> {
    let path = path();
    let text = workspace::read(&path)?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let counted = line.rsplit_once(' ').and_then(|(name, count)| {
            Some((name.trim_end().to_owned(), count.parse::<f64>().ok()?))
        });
        match (
            line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')),
            counted,
            parts.last_mut(),
        ) {
            (Some(key), ..) => parts.push(Part { key: key.to_owned(), counts: Vec::new() }),
            (None, Some(counted), Some(part)) => part.counts.push(counted),
            _ => return Err(format!("`{line}` does not belong in a table of instructions")),
        }
    }
    Ok(parts)
}

fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    for Part { key, counts } in parts {
        let _ = writeln!(text, "\n[{key}]");
        for (name, count) in counts {
            let _ = writeln!(text, "{name:<36} {count:>6.1}");
        }
    }
    text
}

/// The cases that got longer, or are new, in words.
fn longer(known: &Part, now: &Part) -> Vec<String> {
    let mut longer = Vec::new();
    for (name, count) in &now.counts {
        match known.counts.iter().find(|(other, _)| other == name) {
            None => longer.push(format!(
                "`{name}` is not in the table; run `cargo xtask bless instructions`"
            )),
            // A twentieth of an instruction is what rounding may hide.
            Some((_, before)) if *count > before * (1.0 + TOLERANCE / 100.0) + 0.05 => {
                longer.push(format!("`{name}`: {before:.1} before, {count:.1} now"));
            }
            Some(_) => {}
        }
    }
    longer
}

/// Counts with rustup's `toolchain`, or with that of the workspace.
fn count(key: String, toolchain: Option<&str>) -> Result<Part> {
    let build = ["build", "--locked", "--release", "--package", "protolog-bench"];
    let mut target = workspace::target_dir()?;
    if let Some(toolchain) = toolchain {
        target.push("instructions");
        let mut rustup = Command::new("rustup");
        rustup.args(["run", toolchain, "cargo"]).args(build).current_dir(workspace::root());
        shell::run(rustup.env("CARGO_TARGET_DIR", &target))?;
    } else {
        shell::run(&mut shell::cargo(&build))?;
    }
    let program = target.join("release/protolog-bench").display().to_string();
    let each = |[mode, case]: [&str; 2]| callgrind::each(&[&program, mode, case], REPETITIONS);
    let empty = each(["turns", "empty"])?;
    let mut counts = Vec::new();
    for (name, words) in CASES {
        let floor = if words[0] == "turns" { empty } else { 0.0 };
        counts.push((name.to_owned(), each(words)? - floor));
    }
    Ok(Part { key, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(counts: &[(&str, f64)]) -> Part {
        let counts = counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        Part { key: "rustc 1, here".to_owned(), counts }
    }

    #[test]
    fn what_is_written_is_read() {
        let parts = [part(&[("two integers", 170.5), ("switched off", 3.0)])];
        assert_eq!(parse(&format!("{HEAD}{}", text(&parts))), Ok(parts.to_vec()));
        assert!(parse("two integers 3").is_err(), "no compiler");
        assert!(parse("[x]\ntwo integers").is_err(), "no count");
    }

    #[test]
    fn a_part_for_the_same_target_serves_another_compiler() {
        let named = |key: &str| Part { key: key.to_owned(), counts: Vec::new() };
        let known = [
            named("rustc 1.9.0 (a b), x"),
            named("rustc 2.0.0 (c d), x"),
            named("rustc 1.9.0 (a b), y"),
        ];
        let version = |key| part_for(&known, key).map(|part| (part.version(), part.key.as_str()));
        assert_eq!(version("rustc 1.9.0 (a b), x"), Some(("1.9.0", "rustc 1.9.0 (a b), x")));
        assert_eq!(version("rustc 3.0.0 (e f), x"), Some(("2.0.0", "rustc 2.0.0 (c d), x")));
        assert_eq!(version("rustc 1.9.0 (a b), z"), None);
    }

    #[test]
    fn three_per_cent_are_too_many() {
        let known = part(&[("a", 100.0), ("b", 3.0)]);
        assert_eq!(longer(&known, &part(&[("a", 102.9), ("b", 3.0)])), [""; 0]);
        assert_eq!(longer(&known, &part(&[("a", 50.0), ("b", 4.0)])), ["`b`: 3.0 before, 4.0 now"]);
        assert_eq!(longer(&known, &part(&[("a", 103.2)])), ["`a`: 100.0 before, 103.2 now"]);
        assert_eq!(longer(&known, &part(&[("new", 1.0)])).len(), 1);
    }
}
