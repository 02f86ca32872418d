//! The table of instructions: a part for each compiler and target, a row for each case, a column
//! for each way of building.
//!
//! ```text
//! [rustc 1.95.0 (59807616e 2026-04-14), x86_64-unknown-linux-gnu]
//! two integers                            141.6   163.0   126.2
//! read to text                           1200.0       -       -
//! ```
//!
//! Invariant: a count never stands in another column than before, and `-` says that there is none.

use std::fmt::Write as _;

use crate::Result;

/// By how much a count may rise, in per cent.
const TOLERANCE: f64 = 3.0;

/// Ways of building, in the order of the columns.
pub(super) const COLUMNS: [&str; 3] = ["in the workspace", "as users build", "with fat LTO"];

/// The counts of a row, by column.
pub(super) type Counts = [Option<f64>; COLUMNS.len()];

/// A part of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// Compiler and target.
    pub(super) key: String,
    pub(super) rows: Vec<(String, Counts)>,
}

impl Part {
    /// The compiler's version, as in `1.95.0`.
    pub(super) fn version(&self) -> &str {
        self.key.split(' ').nth(1).unwrap_or_default()
    }
}

/// The part of the compiler `key`, or the last one for the same target.
pub(super) fn part_for<'a>(known: &'a [Part], key: &str) -> Option<&'a Part> {
    let target = |key: &str| key.rsplit(", ").next().unwrap_or_default().to_owned();
    let same_target = || known.iter().rfind(|part| target(&part.key) == target(key));
    known.iter().find(|part| part.key == key).or_else(same_target)
}

pub(super) fn parse(text: &str) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let key = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        match (key, row(line), parts.last_mut()) {
            (Some(key), ..) => parts.push(Part { key: key.to_owned(), rows: Vec::new() }),
            (None, Some(row), Some(part)) => part.rows.push(row),
            _ => return Err(format!("`{line}` does not belong in a table of instructions")),
        }
    }
    Ok(parts)
}

/// A row; names have no two spaces in a row, and columns have them between.
fn row(line: &str) -> Option<(String, Counts)> {
    let mut fields = line.split("  ").map(str::trim).filter(|field| !field.is_empty());
    let name = fields.next()?.to_owned();
    let counts = fields.map(|field| match field {
        "-" => Some(None),
        _ => field.parse().ok().map(Some),
    });
    let counts: Vec<Option<f64>> = counts.collect::<Option<_>>()?;
    Some((name, counts.try_into().ok()?))
}

pub(super) fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    for Part { key, rows } in parts {
        let _ = writeln!(text, "\n[{key}]");
        for (name, counts) in rows {
            let _ = write!(text, "{name:<36}");
            for count in counts {
                let count = count.map_or("-".to_owned(), |count| format!("{count:.1}"));
                let _ = write!(text, "  {count:>7}");
            }
            text.push('\n');
        }
    }
    text
}

/// The counts that rose, or are new, in words.
pub(super) fn longer(known: &Part, now: &Part) -> Vec<String> {
    let mut longer = Vec::new();
    for (name, counts) in &now.rows {
        let before = known.rows.iter().find(|(other, _)| other == name);
        let before = before.map_or([None; COLUMNS.len()], |(_, counts)| *counts);
        for ((column, count), before) in COLUMNS.iter().zip(counts).zip(before) {
            match (count, before) {
                (None, _) => {}
                (Some(_), None) => longer.push(format!(
                    "`{name}` {column} is not in the table; run `cargo xtask bless instructions`"
                )),
                // Rounding may hide a twentieth of an instruction.
                (Some(count), Some(before))
                    if *count > before * (1.0 + TOLERANCE / 100.0) + 0.05 =>
                {
                    longer.push(format!("`{name}` {column}: {before:.1} before, {count:.1} now"));
                }
                (Some(_), Some(_)) => {}
            }
        }
    }
    longer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: &[(&str, Counts)]) -> Part {
        let rows = rows.iter().map(|&(name, counts)| (name.to_owned(), counts)).collect();
        Part { key: "rustc 1, here".to_owned(), rows }
    }

    fn single(count: f64) -> Counts {
        [Some(count), None, None]
    }

    #[test]
    fn what_is_written_is_read() {
        let rows = [
            ("an integer and a text, one of 8", [Some(170.5), Some(181.0), Some(1140.0)]),
            ("switched off", single(3.0)),
        ];
        let parts = [part(&rows)];
        assert_eq!(parse(&format!("# Head\n{}", text(&parts))), Ok(parts.to_vec()));
        assert!(parse("two integers  3  -  -").is_err(), "no compiler");
        assert!(parse("[x]\ntwo integers").is_err(), "no count");
        assert!(parse("[x]\ntwo integers  3  4").is_err(), "a column is missing");
    }

    #[test]
    fn a_part_for_the_same_target_serves_another_compiler() {
        let named = |key: &str| Part { key: key.to_owned(), rows: Vec::new() };
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
        let known = part(&[("a", [Some(100.0), None, Some(50.0)]), ("b", single(3.0))]);
        assert_eq!(longer(&known, &part(&[("a", single(102.9)), ("b", single(3.0))])), [""; 0]);
        let slower = part(&[("a", single(50.0)), ("b", single(4.0))]);
        assert_eq!(longer(&known, &slower), ["`b` in the workspace: 3.0 before, 4.0 now"]);
        let slower = part(&[("a", [Some(103.2), None, Some(52.0)])]);
        assert_eq!(
            longer(&known, &slower),
            [
                "`a` in the workspace: 100.0 before, 103.2 now",
                "`a` with fat LTO: 50.0 before, 52.0 now"
            ]
        );
        assert_eq!(longer(&known, &part(&[("new", single(1.0))])).len(), 1);
        assert_eq!(longer(&known, &part(&[("a", [None, Some(1.0), None])])).len(), 1);
    }
}
