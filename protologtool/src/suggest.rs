//! Names in place of one that is not there: the one that was probably meant, and those that there
//! are.
//!
//! Invariants: a name is suggested only if few characters differ, so that nobody is led astray by a
//! wild guess; names may come from a trace, so what would control a terminal in them is escaped.

use protolog_core::control::name::{Quoted, characters};
use protolog_reader::printable;
use std::collections::BTreeSet;
use std::iter::once;

/// The most characters of a name that are shown.
const LONGEST: usize = 100;

/// The most names that are listed.
const LISTED: usize = 8;

/// `; did you mean …?`, or nothing where no name is close. Of a name with several segments, as many
/// are compared and suggested as `wanted` has.
pub(crate) fn did_you_mean(wanted: &str, names: &BTreeSet<impl AsRef<str>>) -> String {
    nearest(wanted, names.iter().map(AsRef::as_ref))
        .map_or(String::new(), |name| format!("; did you mean `{}`?", printable(name)))
}

/// As [`did_you_mean`], of groups. `names` are in the form of [`name_forms`], and so is what is
/// suggested.
pub(crate) fn did_you_mean_group(wanted: &str, names: &BTreeSet<impl AsRef<str>>) -> String {
    let text = |written: &str| characters(written).collect::<String>();
    let names: BTreeSet<String> = names.iter().map(|name| text(name.as_ref())).collect();
    nearest(&text(wanted), names.iter().map(String::as_str))
        .map_or(String::new(), |name| format!("; did you mean `{}`?", Quoted(name)))
}

/// The names of groups as people write them.
pub(crate) fn name_forms<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(|name| Quoted(name).to_string()).collect()
}

/// The help line with the names that there are; nothing where there are none. `whose` says whose
/// they are: `of the trace`.
pub(crate) fn list(names: &BTreeSet<impl AsRef<str> + Ord>, whose: &str) -> String {
    match names.len() {
        0 => String::new(),
        1..=LISTED => {
            let names: Vec<String> =
                names.iter().map(|name| format!("`{}`", shown(name.as_ref()))).collect();
            let one_of = if names.len() == 1 { "" } else { "one of " };
            format!("help: use {one_of}{}\n", names.join(", "))
        }
        many => {
            let first = shown(names.first().map_or("", AsRef::as_ref));
            format!("help: use one of the {many} {whose}, such as `{first}`\n")
        }
    }
}

/// A name that stands in a line, which it does not fill.
fn shown(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        None => printable(name),
        Some((end, _)) => format!("{}…", printable(&name[..end])),
    }
}

/// The commands below `parent` that `wanted` may mean, in backticks: those of this name further
/// below, or else the one with a close name, or the only one with a name that begins with `wanted`
/// or contains it.
pub(crate) fn command(parent: &clap::Command, wanted: &str) -> Option<String> {
    let shown = || parent.get_subcommands().filter(|one| !one.is_hide_set());
    let below =
        shown().filter(|one| one.find_subcommand(wanted).is_some_and(|it| !it.is_hide_set()));
    let below: Vec<_> = below.map(|one| format!("`{} {wanted}`", one.get_name())).collect();
    if !below.is_empty() && wanted != "help" {
        return Some(below.join(" or "));
    }
    let names = || shown().flat_map(|one| once(one.get_name()).chain(one.get_visible_aliases()));
    let only = |is_meant: &dyn Fn(&str) -> bool| {
        let mut meant = names().filter(|name| wanted.len() > 2 && is_meant(name));
        meant.next().filter(|_| meant.next().is_none())
    };
    nearest(wanted, names())
        .or_else(|| only(&|name| name.starts_with(wanted)))
        .or_else(|| only(&|name| name.contains(wanted)))
        .map(|name| format!("`{name}`"))
}

/// The name with the fewest characters that differ, if at most a third of `wanted` does. Case does
/// not matter.
fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = wanted.to_lowercase();
    let count = lower.chars().count();
    // Of a name of one character nothing else is left.
    let most = (count / 3).max(1).min(count.saturating_sub(1));
    let distance = |name: &str| strsim::osa_distance(&lower, &name.to_lowercase());
    // A name that is much longer is not looked at: its giver may have given it any length.
    let longest = 4 * (lower.len() + most);
    let ends = names.into_iter().map(|name| end(name, segments(wanted)));
    let ends = ends.filter(|name| name.len() <= longest);
    let close = ends.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= most);
    close.min().map(|(_, name)| name)
}

/// The number of segments that `::` parts, or a point in names of Java.
fn segments(name: &str) -> usize {
    name.split("::").flat_map(|part| part.split('.')).count()
}

/// The last segments of a name.
fn end(name: &str, count: usize) -> &str {
    let is_separator = |(at, char): &(usize, char)| match char {
        '.' => true,
        ':' => name[..*at].ends_with(':'),
        _ => false,
    };
    let cut = name.char_indices().filter(is_separator).nth_back(count - 1);
    cut.map_or(name, |(at, _)| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_close_is_suggested() {
        let names = ["app::AppLog::Net", "app::AppLog::Disk", "worker-1"];
        for (wanted, expected) in [
            ("Nett", Some("Net")),
            ("nte", Some("Net")),
            ("AppLgo::net", Some("AppLog::Net")),
            ("Dsik", Some("Disk")),
            ("worker", Some("worker-1")),
            ("worker1", Some("worker-1")),
            ("x", None),
            ("", None),
            ("something", None),
        ] {
            assert_eq!(nearest(wanted, names), expected, "{wanted}");
        }
        let names = BTreeSet::from(names);
        assert_eq!(did_you_mean("Nett", &names), "; did you mean `Net`?");
        assert_eq!(did_you_mean("7", &BTreeSet::from(["", "8"])), "");
        assert_eq!(did_you_mean("Row", &names), "");
        let names = name_forms(["my logger", "a\nb", "app.Net"]);
        for wanted in ["my loger", "\"my loger\""] {
            let expected = "; did you mean `\"my logger\"`?";
            assert_eq!(did_you_mean_group(wanted, &names), expected, "{wanted}");
        }
        assert_eq!(did_you_mean_group("Nett", &names), "; did you mean `Net`?");
        let help = "help: use one of `\"a\\nb\"`, `\"my logger\"`, `app.Net`\n";
        assert_eq!(list(&names, ""), help);
    }

    #[test]
    fn commands_are_suggested_by_name_part_and_place() {
        let leaf = |name: &'static str| clap::Command::new(name);
        let table = clap::Command::new("tool").subcommands([
            leaf("read-log"),
            leaf("groups").subcommands([leaf("list"), leaf("status")]),
            leaf("trace").subcommands([leaf("start"), leaf("status")]),
            leaf("logcat").visible_alias("text"),
        ]);
        for (wanted, expected) in [
            ("readlog", Some("`read-log`")),
            ("read", Some("`read-log`")),
            ("txet", Some("`text`")),
            ("status", Some("`groups status` or `trace status`")),
            ("start", Some("`trace start`")),
            ("log", Some("`logcat`")),
            ("at", None),
            ("x", None),
        ] {
            assert_eq!(command(&table, wanted).as_deref(), expected, "{wanted}");
        }
        let trace = table.find_subcommand("trace").unwrap();
        assert_eq!(command(trace, "strat").as_deref(), Some("`start`"));
    }

    #[test]
    fn few_names_are_listed_and_many_counted() {
        let listed = |names: &str| list(&names.split_terminator(',').collect(), "of x");
        assert_eq!(listed(""), "");
        assert_eq!(listed("a"), "help: use `a`\n");
        assert_eq!(listed("\u{1b}[31m"), "help: use `\\u{1b}[31m`\n");
        assert_eq!(listed(&"x".repeat(1 << 20)), format!("help: use `{}…`\n", "x".repeat(100)));
        assert_eq!(nearest("x", [&*"x".repeat(1 << 20)]), None);
        assert_eq!(listed("b,a"), "help: use one of `a`, `b`\n");
        assert_eq!(listed("a,b,c,d,e,f,g,h,i"), "help: use one of the 9 of x, such as `a`\n");
    }
}
