//! `site`: single calls of target processes, listed and switched by request.

mod function;

use super::args::{Choice, GivenLimit, GivenRate, LimitArgs, RepeatArgs, SampleArgs, SiteAction};
use super::process::ProcessName;
use super::programs::Programs;
use super::state;
use super::trace::print_json;
use super::values::RepeatSwitch;
use crate::exit::Failure;
use crate::logs::functions::FunctionSelector;
use crate::system::System;
use protolog_control::{Error, Program, Rule, Rules, Site};
use protolog_core::Level;
use protolog_core::control::name::{Quoted, is_plain};
use protolog_core::control::protocol::Request;
use protolog_core::control::selector::{Condition, Selector};
use protolog_core::control::site_rule::SiteSetting;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most calls that are named when they are switched.
const NAMED: u32 = 10;

/// The most calls that are remembered one by one.
const REMEMBERED: u32 = 100;

/// A call of a program, as JSON.
#[derive(Serialize)]
struct JsonSite<'a> {
    #[serde(flatten)]
    process: &'a ProcessName,
    id: String,
    level: &'a str,
    rule: Option<&'a str>,
    group: &'a str,
    module: &'a str,
    file: &'a str,
    line: u32,
    template: &'a str,
}

/// A rule of a program, as JSON.
#[derive(Serialize)]
struct JsonRule<'a> {
    #[serde(flatten)]
    process: &'a ProcessName,
    selector: &'a str,
    rule: &'a str,
    calls: u64,
}

/// The calls that were switched in a program, as JSON.
#[derive(Serialize)]
struct JsonSwitch<'a> {
    #[serde(flatten)]
    process: &'a ProcessName,
    selector: &'a str,
    rule: String,
    calls: u64,
    /// Calls beside these of which no message is sampled.
    #[serde(skip_serializing_if = "is_none")]
    kept: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Runs the command.
pub(super) fn run(
    programs: &mut Programs,
    action: &SiteAction,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let (calls, setting) = match action {
        SiteAction::List { selector, limit } => {
            list(programs, selector, *limit, choice.json, system);
            return Ok(());
        }
        SiteAction::Rules => {
            rules(programs, choice.json, system);
            return Ok(());
        }
        SiteAction::Enable { calls, text } => {
            let text = text.then_some(true);
            (calls, SiteSetting { trace: Some(true), text, ..SiteSetting::default() })
        }
        SiteAction::Disable(calls) => {
            let off = Some(false);
            (calls, SiteSetting { trace: off, text: off, ..SiteSetting::default() })
        }
        SiteAction::Reset(calls) => (calls, SiteSetting { resets: true, ..SiteSetting::default() }),
    };
    switch_all(programs, (&calls.selector, calls.persist), setting, choice, system)
}

/// Runs `limit`.
pub(super) fn run_limit(
    programs: &mut Programs,
    args: &LimitArgs,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let LimitArgs { selector, limit: GivenLimit(limit), group, persist } = args;
    let mut setting = SiteSetting::default();
    match (limit, group) {
        // Both kinds end, unless one is named.
        (None, false) => (setting.limit, setting.group_limit) = (Some(None), Some(None)),
        (limit, true) => setting.group_limit = Some(*limit),
        (limit, false) => setting.limit = Some(*limit),
    }
    switch_all(programs, (selector, *persist), setting, choice, system)
}

/// Runs `sample`.
pub(super) fn run_sample(
    programs: &mut Programs,
    args: &SampleArgs,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let SampleArgs { selector, rate: GivenRate(rate), persist } = args;
    let setting = SiteSetting { sample: Some(*rate), ..SiteSetting::default() };
    switch_all(programs, (selector, *persist), setting, choice, system)
}

/// Runs `repeat`.
pub(super) fn run_repeat(
    programs: &mut Programs,
    args: &RepeatArgs,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let repeat = Some(args.merging == RepeatSwitch::On);
    let setting = SiteSetting { repeat, ..SiteSetting::default() };
    switch_all(programs, (&args.selector, args.persist), setting, choice, system)
}

fn list(programs: &mut Programs, selector: &str, limit: u32, json: bool, system: &dyn System) {
    let wanted = selector.to_owned();
    let answers = match FunctionSelector::of(selector) {
        Ok(Some(function)) => function::listed(programs, &function, limit, system),
        _ => programs.each(move |program| sites_of(program, &wanted, limit), system),
    };
    let (mut text, mut all) = (String::new(), 0);
    for (process, (sites, taken)) in &answers {
        all = taken.saturating_add(all);
        for site in sites {
            if json {
                print_json(&JsonSite::new(process, site), system);
            } else {
                let _ =
                    writeln!(text, "{}", line(site, Some(process).filter(|_| answers.len() > 1)));
            }
        }
        let more = taken.saturating_sub(sites.len() as u64);
        if more > 0 {
            let help = "choose fewer by the selector, or list more with `--limit`";
            system.print_error(&format!(
                "note: {more} more calls of {process} are not listed\nhelp: {help}\n"
            ));
        }
    }
    system.print(&text);
    if all == 0 && !answers.is_empty() {
        warn_of_none(selector, system);
    }
}

fn rules(programs: &mut Programs, json: bool, system: &dyn System) {
    let answers = programs.each(Program::rules, system);
    let mut text = String::new();
    for (process, found) in &answers {
        let Some(Rules { rules, problems }) = found else { continue };
        for rule in rules {
            if json {
                let Rule { calls, words, selector } = rule;
                print_json(&JsonRule { process, selector, rule: words, calls: *calls }, system);
            } else {
                let _ = writeln!(text, "{} in {process}", rule_line(rule));
            }
        }
        for problem in problems {
            system.print_error(&format!("warning: {process}: {problem}\n"));
        }
    }
    system.print(&text);
}

/// The line of a rule: its setting, and how many calls it takes.
pub(super) fn rule_line(rule: &Rule) -> String {
    let Rule { calls, words, selector } = rule;
    let calls = match calls {
        0 => "no call that is known".to_owned(),
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    };
    format!("site {selector}={words} ({calls})")
}

/// Switches calls; those in a function of some name by its lines.
fn switch_all(
    programs: &mut Programs,
    (selector, is_persistent): (&str, bool),
    setting: SiteSetting,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let Ok(Some(function)) = FunctionSelector::of(selector) else {
        let whom = Whom::All(selector.to_owned());
        return switch(programs, (&whom, is_persistent), setting, choice, system);
    };
    let mut selectors = function::by_lines(programs, &function, system);
    selectors.retain(|_, selectors| !selectors.is_empty());
    if selectors.is_empty() {
        warn_of_none(selector, system);
    }
    // A round takes one of each program.
    while !selectors.is_empty() {
        let next = selectors.iter_mut().filter_map(|(it, of)| Some((it.clone(), of.pop()?)));
        let whom = Whom::Each(next.collect());
        selectors.retain(|_, selectors| !selectors.is_empty());
        switch(programs, (&whom, is_persistent), setting, choice, system)?;
    }
    Ok(())
}

/// The programs to switch, and the calls in them.
#[derive(Clone)]
enum Whom {
    All(String),
    /// Some, each by a selector of its own: it is made of what that program says.
    Each(BTreeMap<ProcessName, String>),
}

/// Calls of a program, the number of all, and of those of which no message is sampled.
type SwitchedCalls = (Vec<Site>, u64, u64);

impl Whom {
    /// The selector for a program.
    fn selector(&self, process: &ProcessName) -> Option<&str> {
        match self {
            Self::All(selector) => Some(selector),
            Self::Each(selectors) => selectors.get(process).map(String::as_str),
        }
    }

    /// Has rules hold at the next start: those of what one program says for programs of its name.
    fn remember(
        &self,
        answers: &[(ProcessName, SwitchedCalls)],
        setting: SiteSetting,
        choice: &Choice,
        system: &dyn System,
    ) -> Result<(), Failure> {
        let selectors = match self {
            Self::All(selector) => {
                // The file is this user's, and what others' programs say of their calls is theirs.
                let own = answers.iter().filter(|(process, _)| !process.is_other_users);
                let sites: Vec<_> = own.flat_map(|(_, (sites, ..))| sites).collect();
                let rules = remembered(selector, setting, &sites);
                let is_declared = may_be_declared(&sites);
                return state::remember_rules(&rules, &choice.name, is_declared, system);
            }
            Self::Each(selectors) => selectors,
        };
        // The file is this user's.
        for (process, (sites, ..)) in answers.iter().filter(|(it, _)| !it.is_other_users) {
            let selector = selectors.get(process).map_or("", String::as_str);
            let sites: Vec<_> = sites.iter().collect();
            let rules = remembered(selector, setting, &sites);
            let program = std::slice::from_ref(&process.program);
            state::remember_rules(&rules, program, may_be_declared(&sites), system)?;
        }
        Ok(())
    }
}

/// The calls that a selector takes, and their number. A program may answer more than was asked.
fn sites_of(program: &mut Program, selector: &str, limit: u32) -> Result<(Vec<Site>, u64), Error> {
    let (mut sites, taken) = program.sites(selector, limit)?;
    sites.truncate(limit as usize);
    Ok((sites, taken))
}

fn switch(
    programs: &mut Programs,
    (whom, is_persistent): (&Whom, bool),
    setting: SiteSetting,
    choice: &Choice,
    system: &dyn System,
) -> Result<(), Failure> {
    let most = if is_persistent { REMEMBERED } else { NAMED };
    let is_rate = matches!(setting.sample, Some(Some(_)));
    let meant = whom.clone();
    let ask = move |program: &mut Program| {
        let Some(wanted) = meant.selector(&ProcessName::of(program)) else { return Ok(None) };
        let (sites, taken) = sites_of(program, wanted, most)?;
        let severe = (is_rate && keeps_severe(wanted))
            .then(|| program.sites(&format!("{wanted} and warn"), 0));
        // A selector that can take no further condition counts all of them.
        let kept = severe.and_then(Result::ok).map_or(0, |(_, severe)| severe);
        program.request(&Request::Set(&format!("site {wanted}={setting}")))?;
        Ok(Some((sites, taken, kept)))
    };
    let answers = programs.each(ask, system);
    let answers: Vec<_> =
        answers.into_iter().filter_map(|(process, answer)| Some((process, answer?))).collect();
    if is_persistent {
        whom.remember(&answers, setting, choice, system)?;
    }
    let (mut text, mut all, mut last) = (String::new(), 0, None);
    for (process, (sites, taken, kept)) in &answers {
        let selector = whom.selector(process).unwrap_or_default();
        last = Some(selector);
        all = taken.saturating_add(all);
        let (calls, kept) = (taken.saturating_sub(*kept), *kept);
        if choice.json {
            let rule = setting.to_string();
            print_json(&JsonSwitch { process, selector, rule, calls, kept }, system);
            continue;
        }
        let _ = write!(text, "Setting {calls} calls of client {process} to {setting}");
        let of = if kept == 1 { "1 call" } else { &format!("{kept} calls") };
        let _ = match kept {
            0 => writeln!(text),
            _ => writeln!(text, ", and keeping all messages of {of} of WARN and worse"),
        };
        for site in sites.iter().take(NAMED as usize) {
            let is_kept = is_rate
                && keeps_severe(selector)
                && site.level.parse::<Level>().is_ok_and(|it| it >= Level::Warn);
            let mark = if is_kept { " (all are kept)" } else { "" };
            let _ = writeln!(text, "  {}{mark}", line(site, None));
        }
        let more = taken.saturating_sub(NAMED.into());
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    system.print(&text);
    if let Some(selector) = last.filter(|_| all == 0) {
        warn_of_none(selector, system);
    }
    Ok(())
}

/// Returns whether a rate of these calls leaves WARN and worse as they are: the selector names none
/// of these levels.
fn keeps_severe(selector: &str) -> bool {
    let severe = [Level::Warn, Level::Error, Level::Wtf];
    Selector::parse(selector).is_ok_and(|it| !severe.iter().any(|level| it.names_level(*level)))
}

/// Says that no call is taken. A rule may be for messages that come at run time.
fn warn_of_none(selector: &str, system: &dyn System) {
    let help = "see `protologtool configuration site list`; calls of other loggers are known when they log";
    system.print_error(&format!("warning: no call is taken by `{selector}`\nhelp: {help}\n"));
}

/// The rules that stand for a rule at the next start: of calls that lines name, one by one, with
/// the place that they had.
fn remembered(selector: &str, setting: SiteSetting, sites: &[&Site]) -> Vec<String> {
    let names_lines = Selector::parse(selector).is_ok_and(|selector| {
        let is_lines =
            |it: &Condition<'_>| matches!(it, Condition::File { last, .. } if *last != u32::MAX);
        selector.conditions().iter().any(is_lines)
    });
    // A limit of a group is one for all of these calls.
    let is_for_all = matches!(setting.group_limit, Some(Some(_)));
    if !names_lines || is_for_all || sites.is_empty() || sites.len() >= REMEMBERED as usize {
        return vec![format!("site {selector}={setting}")];
    }
    let selected = Selector::parse(selector);
    let conditions = selected.iter().flat_map(Selector::argument_conditions);
    let rest = conditions.fold(String::new(), |rest, it| format!("{rest} and {it}"));
    let rule = |site: &&Site| format!("site {}{rest}={setting}", selector_of(site));
    let mut rules: Vec<_> = sites.iter().map(rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

/// Returns whether a call had a rate or a limit, before it was switched, which its group may have
/// declared: then what ends it has to be said at each start.
fn may_be_declared(sites: &[&Site]) -> bool {
    let is_part = |word: &str| word.starts_with("sample:") || word.starts_with("group-limit:");
    sites.iter().any(|site| site.rule.as_ref().is_some_and(|it| it.split(',').any(is_part)))
}

/// The selector of one call: its id with its place, or its id alone where the program's word for
/// the file, which may have line ends and more conditions in it, is none.
pub(super) fn selector_of(site: &Site) -> String {
    let Site { id, file, line, .. } = site;
    let text = format!("#{id:016x} and file {file}:{line}");
    if is_plain(file) && Selector::parse(&text).is_ok() { text } else { format!("#{id:016x}") }
}

/// The line of a call.
fn line(site: &Site, process: Option<&ProcessName>) -> String {
    let Site { id, level, rule, line, group, file, template, .. } = site;
    let (group, file) = (Quoted(group), Quoted(file));
    let mut text = format!("#{id:016x} {level} {group} {file}:{line} {template:?}");
    if let Some(rule) = rule {
        let _ = write!(text, " [{rule}]");
    }
    if let Some(process) = process {
        let _ = write!(text, " in {process}");
    }
    text
}

impl<'a> JsonSite<'a> {
    fn new(process: &'a ProcessName, site: &'a Site) -> Self {
        let Site { id, level, rule, line, group, module, file, template } = site;
        Self {
            process,
            id: format!("{id:016x}"),
            level,
            rule: rule.as_deref(),
            group,
            module,
            file,
            line: *line,
            template,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolog_core::control::limit::Limit;

    #[test]
    fn calls_that_lines_name_are_remembered_by_their_ids() {
        let site = |id, line| Site { id, line, file: "src/net.rs".into(), ..Site::default() };
        let (one, other) = (site(7, 120), site(8, 130));
        let on = SiteSetting { trace: Some(true), ..SiteSetting::default() };
        assert_eq!(
            remembered("net.rs:120-180", on, &[&other, &one, &one]),
            [
                "site #0000000000000007 and file src/net.rs:120=on",
                "site #0000000000000008 and file src/net.rs:130=on"
            ]
        );
        // What another program says of its files is its own: it may have more lines and conditions.
        for file in ["a\nsite *=on;b.rs", "a=on;site b.rs", "a b.rs", "a\u{1b}[2J.rs", "a\".rs", ""]
        {
            let hostile = Site { file: file.into(), ..site(9, 121) };
            let rules = remembered("net.rs:120-180", on, &[&hostile]);
            assert_eq!(rules, ["site #0000000000000009=on"], "{file:?}");
            let shown = line(&Site { group: file.into(), ..hostile }, None);
            assert!(!shown.contains(['\n', '\u{1b}']), "{shown:?}");
        }
        assert_eq!(
            remembered("net.rs:120-180 and arg2 >= 5 and arg1==42", on, &[&one]),
            ["site #0000000000000007 and file src/net.rs:120 and arg2 >= 5 and arg1 == 42=on"]
        );
        assert_eq!(remembered("net.rs", on, &[&one]), ["site net.rs=on"]);
        assert_eq!(remembered("net.rs:1-9", on, &[]), ["site net.rs:1-9=on"]);
        let together = SiteSetting {
            group_limit: Some(Some(Limit::parse("100/s").unwrap())),
            ..SiteSetting::default()
        };
        let rules = remembered("net.rs:120-180", together, &[&other, &one]);
        assert_eq!(rules.len(), 1, "one limit for all of them: {rules:?}");
    }
}
