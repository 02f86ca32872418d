//! Requests about single calls, and their rules.

use super::{Answer, Refusal};
use crate::level::SettingSource;
use crate::level::rules::{self, Rule};
use protolog_core::control::name::NameWord;
use protolog_core::control::protocol::{Reply, SiteLine};
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::{SiteRules, SiteSetting};

/// The most calls that are listed.
const MOST: u32 = 10_000;

/// Lists calls that a selector takes.
pub(super) fn list(limit: u32, selector: &str, answer: &mut Answer) -> Result<(), Refusal> {
    let selector = Selector::parse(selector)
        .map_err(|error| Refusal { what: error.to_string(), help: error.help() })?;
    let (mut taken, limit) = (0, u64::from(limit.min(MOST)));
    rules::for_each_taken(&selector, &mut |call, (setting, is_conditional)| {
        taken += 1;
        if taken > limit {
            return;
        }
        let word = |name| NameWord(name).to_string();
        let has_rule = setting != SiteSetting::default();
        let rule = match (has_rule, is_conditional) {
            (false, false) => "-".to_owned(),
            (false, true) => "conditional".to_owned(),
            (true, false) => setting.to_string(),
            (true, true) => format!("{setting},conditional"),
        };
        answer.line(Reply::Site(SiteLine {
            id: call.id.unwrap_or_default(),
            level: call.level.map_or("-", |level| level.name()),
            rule: &rule,
            line: call.lines.first().copied().unwrap_or_default(),
            group: &word(call.group),
            module: &word(call.module),
            file: &word(call.file),
            template: call.template,
        }));
    });
    answer.line(Reply::Taken(taken));
    Ok(())
}

/// Lists the rules that hold.
pub(super) fn rules(answer: &mut Answer) {
    for Rule { selector, setting, calls, problem, .. } in rules::rules() {
        answer.line(Reply::Rule { calls, words: &setting.to_string(), selector: &selector });
        if let Some(problem) = problem {
            answer.line(Reply::Problem(problem.lines().next().unwrap_or_default()));
        }
    }
    if let Some(problem) = rules::left_out() {
        answer.line(Reply::Problem(problem.lines().next().unwrap_or_default()));
    }
}

/// Returns the rules in the text of a request.
pub(super) fn rules_in(text: &str) -> Result<Vec<Rule>, Refusal> {
    let rule = |item: Result<_, _>| match item {
        Ok(protolog_core::control::site_rule::SiteRule { selector, setting, .. }) => {
            Ok(Rule::new(&selector, setting, SettingSource::Other))
        }
        Err(error) => Err(refusal(&error)),
    };
    SiteRules::new(text).map(rule).collect()
}

fn refusal(error: &protolog_core::control::site_rule::SiteRuleError<'_>) -> Refusal {
    Refusal { what: error.to_string(), help: error.help() }
}
