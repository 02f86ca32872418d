//! Calls in a function of some name: the program says where its calls are, the sources here say
//! which of them are in the function, and rules name its lines.

use super::sites_of;
use crate::command::configuration::process::ProcessName;
use crate::command::configuration::programs::Programs;
use crate::logs::functions::{FunctionOfCall, FunctionSelector, FunctionSources};
use crate::system::System;
use protolog_control::{Program, Site};
use protolog_core::control::name::is_plain;
use std::collections::{BTreeMap, BTreeSet};

/// The most calls of a program that are looked at.
const LOOKED_AT: u32 = 10_000;

/// The most functions that one command switches in a program.
const MOST: usize = 50;

/// The calls of a program that a selector takes, and their number.
type Sites = (Vec<Site>, u64);

/// A call, and the lines of its function.
type SiteInFunction = (Site, (u32, u32));

/// The calls in the functions, each with its program, and the lines of its function.
struct CallsInFunction {
    answers: Vec<(ProcessName, Vec<SiteInFunction>)>,
}

/// Returns the calls that a selector takes: at most `limit` of each program, and their number.
pub(super) fn listed(
    programs: &mut Programs,
    selector: &FunctionSelector,
    limit: u32,
    system: &dyn System,
) -> Vec<(ProcessName, Sites)> {
    let CallsInFunction { answers } = calls(programs, selector, system);
    let listed = |(process, calls): (ProcessName, Vec<(Site, _)>)| {
        let taken = calls.len() as u64;
        let sites = calls.into_iter().take(limit as usize).map(|(site, _)| site).collect();
        (process, (sites, taken))
    };
    answers.into_iter().map(listed).collect()
}

/// Returns selectors that name the lines of the functions, and have the other conditions: to each
/// program those of its own calls. One with too many functions has none, and is reported.
pub(super) fn by_lines(
    programs: &mut Programs,
    selector: &FunctionSelector,
    system: &dyn System,
) -> BTreeMap<ProcessName, Vec<String>> {
    let CallsInFunction { answers } = calls(programs, selector, system);
    let FunctionSelector { name, rest } = selector;
    let and = if rest.is_empty() { String::new() } else { format!(" and {rest}") };
    let mut all = BTreeMap::new();
    for (process, calls) in answers {
        let places: BTreeSet<(String, u32, u32)> = calls
            .into_iter()
            // The program's word, which may have line ends and more conditions in it.
            .filter(|(site, _)| is_plain(&site.file))
            .map(|(site, (first, last))| (site.file, first, last))
            .collect();
        if places.len() > MOST {
            programs.failed = true;
            let message = format!("{} functions of {process} are called `{name}`", places.len());
            let help = "name the type as well, as in `fn Client::send`, or a file or a group";
            system.print_error(&format!("warning: {message}\nhelp: {help}\n"));
            continue;
        }
        let text =
            |(file, first, last): (String, u32, u32)| format!("file {file}:{first}-{last}{and}");
        all.insert(process, places.into_iter().map(text).collect());
    }
    all
}

/// Looks for the calls in functions, and says what can't be looked at.
fn calls(
    programs: &mut Programs,
    selector: &FunctionSelector,
    system: &dyn System,
) -> CallsInFunction {
    let wanted = selector.others().to_owned();
    let ask = move |program: &mut Program| sites_of(program, &wanted, LOOKED_AT);
    let mut sites = programs.each(ask, system);
    // Sources are read for this user's programs first: there are not endlessly many.
    sites.sort_by_key(|(process, _)| process.is_other_users);
    let mut sources = FunctionSources::new(system);
    let mut without_source = BTreeSet::new();
    let (mut others, mut without_word, mut too_many) = (0_u64, 0_u64, 0_u64);
    let mut answers = Vec::new();
    for (process, (sites, taken)) in sites {
        if taken > sites.len() as u64 {
            let help = "name a group or a file as well, as in `fn send and net`";
            let what = format!("only {} of {taken} calls of {process} are looked at", sites.len());
            system.print_error(&format!("warning: {what}\nhelp: {help}\n"));
        }
        let mut found = Vec::new();
        for site in sites {
            match sources.find(&selector.name, &site.file, site.line, &site.template) {
                FunctionOfCall::In(first, last) => found.push((site, (first, last))),
                FunctionOfCall::NotIn => {}
                FunctionOfCall::NoSource => drop(without_source.insert(site.file)),
                FunctionOfCall::OtherText => others += 1,
                FunctionOfCall::NoWord => without_word += 1,
                FunctionOfCall::TooMuch => too_many += 1,
            }
        }
        answers.push((process, found));
    }
    answers.sort_by(|(one, _), (other, _)| one.cmp(other));
    let is_empty = answers.iter().all(|(_, found)| found.is_empty());
    if let Some(file) = without_source.first().filter(|_| is_empty) {
        let count = without_source.len();
        let what = format!(
            "{count} sources in Rust or Java are not here, `{}` among them",
            file.escape_debug()
        );
        let help = "run it in the directory that the build ran in, or name lines";
        system.print_error(&format!("warning: {what}\nhelp: {help}\n"));
    }
    for (count, what, help) in [
        (
            others,
            "are at other lines in the sources than in the program",
            "run it in the sources of that build",
        ),
        (without_word, "have no word by which a source could be known", "name their lines"),
        (
            too_many,
            "are in sources that are not read: there are too many, or too large ones",
            "name a group or a file as well, as in `fn send and net`",
        ),
    ] {
        if count > 0 {
            system.print_error(&format!("warning: {count} calls {what}\nhelp: {help}\n"));
        }
    }
    CallsInFunction { answers }
}
