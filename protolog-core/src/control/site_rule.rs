//! Rules for single calls: settings of the form `site SELECTOR=WORDS`, which stand among those of
//! groups ([`super::setting`]) wherever these may be.
//!
//! ```text
//! site net.rs:120-180=on             recorded by every session that runs, though its group is off
//! site "retry %d"=off                neither recorded nor printed, though its group is on
//! site #58f2c41b9a07d36e=on,text     recorded and printed
//! site module app::net=notext        not printed, recorded as before
//! site net and verbose=default       as its group, whatever an earlier rule says
//! site net=limit:100/s:500           each call at most 100 times a second, and 500 at once
//! site net=group-limit:1000/s        all calls that the rule takes in a group together
//! site net=nolimit,nogroup-limit     without limits, whatever an earlier rule says
//! site net=sample:1/100              one of 100 messages by chance; of WARN and worse only by name
//! site net=nosample                  all of them, whatever an earlier rule says
//! site net=repeat                    messages that say the same as the one before only counted
//! site net=norepeat                  all of them, whatever an earlier rule says
//! site net.rs:120 and arg1 == 42=on  messages of a call by an argument; no limits, no rates
//! ```
//!
//! [`super::limit`] has the forms of limits, [`super::rate`] those of rates.
//!
//! A rule changes only what it mentions, and a later rule wins.

use super::limit::{HELP as LIMIT_HELP, Limit};
use super::name::{after_keyword, find_equals};
use super::rate::Rate;
use super::selector::{Selector, SelectorError};
use super::setting::Settings;
use super::words::OneLine;
use core::fmt;

/// The effect of a rule on a call. None leaves it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSetting {
    /// True if sessions record it.
    pub trace: Option<bool>,
    /// True if it is printed.
    pub text: Option<bool>,
    /// The limit of each call; `Some(None)` for no limit.
    pub limit: Option<Option<Limit>>,
    /// The limit of all calls together that the rule takes in a group.
    pub group_limit: Option<Option<Limit>>,
    /// The rate at which messages are sampled; `Some(None)` for all of them.
    pub sample: Option<Option<Rate>>,
    /// True if identical consecutive messages of a call become one, and a count.
    pub repeat: Option<bool>,
    /// Earlier rules no longer hold.
    pub resets: bool,
}

/// The help line for a word that is none, which begins with a verb.
pub const WORDS_HELP: &str = "use on, off, text, notext, notrace, limit:100/s, group-limit:100/s, sample:1/100, repeat, nolimit, nogroup-limit, nosample, norepeat or default, with commas between";

/// The problem of a limit or a rate with a condition on an argument.
pub const BY_ARGUMENT: &str = "limit, rate or `repeat` of calls by an argument";

/// The help line for that, which begins with a verb.
pub const BY_ARGUMENT_HELP: &str = "leave out the condition on the argument: only `on`, `off`, `text`, `notext`, `notrace` and `default` go with one";

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRule<'a> {
    /// The program; none for all programs.
    pub program: Option<&'a str>,
    /// The calls.
    pub selector: Selector<'a>,
    /// The effect on them.
    pub setting: SiteSetting,
}

/// An invalid rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteRuleError<'a> {
    /// The line, from 1.
    pub line: usize,
    /// The offending text.
    pub text: &'a str,
    /// The problem.
    pub problem: SiteRuleProblem<'a>,
}

/// The ways in which a rule can be invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteRuleProblem<'a> {
    /// There is no `=`.
    NoEquals,
    /// A word after `=` is no keyword, or there is none.
    BadWord,
    /// The limit after `limit:` or `group-limit:` is none.
    BadLimit,
    /// The rate after `sample:` is none.
    BadRate,
    /// The selector has a condition on an argument, which no limit or rate goes with.
    ByArgument,
    /// The selector is invalid.
    Selector(SelectorError<'a>),
}

/// Iterator over the rules in a text with settings. An invalid one does not stop the iteration.
#[derive(Clone, Debug)]
pub struct SiteRules<'a>(Settings<'a>);

impl<'a> SiteRules<'a> {
    /// The rules in `text`.
    pub const fn new(text: &'a str) -> Self {
        Self(Settings::new(text))
    }
}

impl<'a> Iterator for SiteRules<'a> {
    type Item = Result<SiteRule<'a>, SiteRuleError<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (text, line) = self.0.part()?;
            if self.0.takes_section(text).is_some() {
                continue;
            }
            let Some(rule) = after_keyword(text) else { continue };
            let program = self.0.program();
            return Some(item(text, rule, line, program));
        }
    }
}

impl SiteSetting {
    /// That of a rule that says nothing.
    pub const NONE: Self = Self {
        trace: None,
        text: None,
        limit: None,
        group_limit: None,
        sample: None,
        repeat: None,
        resets: false,
    };

    /// Returns what is left of it before a later one of the same calls: the parts that this leaves
    /// as they are.
    #[must_use]
    pub fn before(self, later: Self) -> Self {
        Self {
            trace: self.trace.filter(|_| later.trace.is_none()),
            text: self.text.filter(|_| later.text.is_none()),
            limit: self.limit.filter(|_| later.limit.is_none()),
            group_limit: self.group_limit.filter(|_| later.group_limit.is_none()),
            sample: self.sample.filter(|_| later.sample.is_none()),
            repeat: self.repeat.filter(|_| later.repeat.is_none()),
            resets: self.resets,
        }
    }

    /// Returns whether it sets or ends limits, rates or merging, which calls have, whatever their
    /// arguments.
    pub const fn is_of_calls(&self) -> bool {
        self.limit.is_some()
            || self.group_limit.is_some()
            || self.sample.is_some()
            || self.repeat.is_some()
    }

    /// Reads the words after `=`; the word that is none.
    ///
    /// # Errors
    /// The first word that is no keyword.
    pub fn parse(words: &str) -> Result<Self, &str> {
        let mut setting = Self::default();
        for word in words.split(',').map(str::trim_ascii) {
            let is = |other: &str| word.eq_ignore_ascii_case(other);
            if is("on") {
                setting.trace = Some(true);
            } else if is("off") {
                setting.trace = Some(false);
                setting.text = setting.text.or(Some(false));
            } else if is("notrace") {
                setting.trace = Some(false);
            } else if is("text") {
                setting.text = Some(true);
            } else if is("notext") {
                setting.text = Some(false);
            } else if is("nolimit") {
                setting.limit = Some(None);
            } else if is("nogroup-limit") {
                setting.group_limit = Some(None);
            } else if is("nosample") {
                setting.sample = Some(None);
            } else if is("repeat") {
                setting.repeat = Some(true);
            } else if is("norepeat") {
                setting.repeat = Some(false);
            } else if is("default") {
                setting.resets = true;
            } else if let Some(limit) = limit_of("limit", word) {
                setting.limit = Some(Some(limit));
            } else if let Some(limit) = limit_of("group-limit", word) {
                setting.group_limit = Some(Some(limit));
            } else if let Some(rate) = value_of("sample", word).and_then(Rate::parse) {
                setting.sample = Some(Some(rate));
            } else {
                return Err(word);
            }
        }
        Ok(setting)
    }
}

/// The limit in a word of this name: `limit:100/s`, or with a space.
fn limit_of(name: &str, word: &str) -> Option<Limit> {
    value_of(name, word).and_then(Limit::parse)
}

/// The text behind this name in a word: `NAME:TEXT`, or with a space.
pub(super) fn value_of<'a>(name: &str, word: &'a str) -> Option<&'a str> {
    let (start, rest) = word.split_at_checked(name.len())?;
    let rest = rest.strip_prefix([':', ' '])?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

fn item<'a>(
    text: &'a str,
    rule: &'a str,
    line: usize,
    program: Option<&'a str>,
) -> Result<SiteRule<'a>, SiteRuleError<'a>> {
    let error = |text: &'a str, problem| SiteRuleError { line, text, problem };
    let Some((selector, words)) = parted(rule) else {
        return Err(error(text, SiteRuleProblem::NoEquals));
    };
    let selector = Selector::parse(selector)
        .map_err(|problem| error(text, SiteRuleProblem::Selector(problem)))?;
    let setting = SiteSetting::parse(words).map_err(|word| {
        let limit = || value_of("limit", word).or_else(|| value_of("group-limit", word));
        if let Some(rate) = value_of("sample", word) {
            error(rate.trim_ascii(), SiteRuleProblem::BadRate)
        } else if let Some(limit) = limit() {
            error(limit.trim_ascii(), SiteRuleProblem::BadLimit)
        } else {
            error(if word.is_empty() { text } else { word }, SiteRuleProblem::BadWord)
        }
    })?;
    if selector.is_by_arguments() && setting.is_of_calls() {
        return Err(error(text, SiteRuleProblem::ByArgument));
    }
    Ok(SiteRule { program, selector, setting })
}

/// The selector and the words.
fn parted(rule: &str) -> Option<(&str, &str)> {
    let at = find_equals(rule)?;
    Some((rule.get(..at)?.trim_ascii(), rule.get(at + 1..)?.trim_ascii()))
}

impl SiteRuleError<'_> {
    /// The help line, which begins with a verb.
    pub fn help(&self) -> &'static str {
        match self.problem {
            SiteRuleProblem::NoEquals => {
                "write site SELECTOR=WORDS, as in `site net.rs:120-180=on`"
            }
            SiteRuleProblem::BadWord => WORDS_HELP,
            SiteRuleProblem::BadLimit => LIMIT_HELP,
            SiteRuleProblem::BadRate => Rate::help(self.text),
            SiteRuleProblem::ByArgument => BY_ARGUMENT_HELP,
            SiteRuleProblem::Selector(error) => error.help(),
        }
    }

    /// The error without the offending text, for readers who may not know the file.
    pub const fn unquoted(&self) -> UnquotedRuleError {
        UnquotedRuleError { line: self.line }
    }
}

/// An invalid rule, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnquotedRuleError {
    line: usize,
}

impl fmt::Display for UnquotedRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: invalid rule of a site", self.line)
    }
}

impl fmt::Display for SiteRuleError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 1 {
            write!(f, "line {}: ", self.line)?;
        }
        let text = OneLine(self.text);
        match self.problem {
            SiteRuleProblem::NoEquals => write!(f, "missing `=` in `{text}`"),
            SiteRuleProblem::BadWord => write!(f, "unknown word `{text}`"),
            SiteRuleProblem::BadLimit => write!(f, "invalid limit `{text}`"),
            SiteRuleProblem::BadRate => write!(f, "invalid rate `{text}`"),
            SiteRuleProblem::ByArgument => write!(f, "{BY_ARGUMENT} in `{text}`"),
            SiteRuleProblem::Selector(error) => write!(f, "{error} of the selector in `{text}`"),
        }
    }
}

impl core::error::Error for SiteRuleError<'_> {}

impl fmt::Display for SiteSetting {
    /// Writes the shortest words after `=` that mean the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trace = match (self.trace, self.text) {
            (Some(true), _) => "on",
            (Some(false), Some(_)) => "off",
            (Some(false), None) => "notrace",
            (None, _) => "",
        };
        let text = match (self.text, self.trace) {
            (Some(true), _) => "text",
            (Some(false), Some(false)) | (None, _) => "",
            (Some(false), _) => "notext",
        };
        let words = [if self.resets { "default" } else { "" }, trace, text];
        let mut comma = "";
        for word in words.iter().filter(|word| !word.is_empty()) {
            write!(f, "{comma}{word}")?;
            comma = ",";
        }
        for (name, limit) in [("limit", self.limit), ("group-limit", self.group_limit)] {
            match limit {
                Some(Some(limit)) => write!(f, "{comma}{name}:{limit}")?,
                Some(None) => write!(f, "{comma}no{name}")?,
                None => continue,
            }
            comma = ",";
        }
        match self.sample {
            Some(Some(rate)) => write!(f, "{comma}sample:{rate}")?,
            Some(None) => write!(f, "{comma}nosample")?,
            None => {}
        }
        let comma = if self.sample.is_some() { "," } else { comma };
        match self.repeat {
            Some(true) => write!(f, "{comma}repeat"),
            Some(false) => write!(f, "{comma}norepeat"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::setting::Settings;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn read(text: &str) -> Vec<String> {
        let show = |item: Result<SiteRule<'_>, SiteRuleError<'_>>| match item {
            Ok(SiteRule { program, selector, setting }) => {
                let program = program.map_or(String::new(), |name| format!("[{name}] "));
                format!("{program}{selector}={setting}")
            }
            Err(error) => format!("{error} / {}", error.help()),
        };
        SiteRules::new(text).map(show).collect()
    }

    #[test]
    fn rules_are_read_as_the_vectors_say() {
        let mut rows = 0;
        for line in include_str!("../../testdata/site_rules.tsv").lines().skip(1) {
            let (text, expected) = line.split_once('\t').expect("two cells");
            assert_eq!(read(&text.replace("\\n", "\n")).join(" | "), expected, "{text:?}");
            rows += 1;
        }
        assert!(rows > 10);
    }

    /// Java's tests have the same characters.
    #[test]
    fn white_space_is_that_of_ascii() {
        for space in [" ", "\t", "\r", "\u{c}"] {
            let rule = format!("{space}site net={space}limit:9/s{space},{space}on{space}");
            assert_eq!(read(&rule), ["net=on,limit:9/s"], "{space:?}");
        }
        for other in ["\u{b}", "\u{1c}", "\u{85}", "\u{a0}", "\u{2003}", "\u{2028}"] {
            let rules = [format!("site net={other}on"), format!("site net=limit:9{other}/s")];
            let rules = rules.into_iter().chain([format!("site {other}net=on")]);
            for rule in rules {
                assert!(read(&rule)[0].contains(" / "), "{rule:?}: {:?}", read(&rule));
            }
        }
    }

    #[test]
    fn settings_of_groups_are_no_rules_and_rules_are_none_of_theirs() {
        let text = "site \"a;b=c\"=on;net=debug\nsite = info;site x=bad;site=warn";
        let groups: Vec<_> = Settings::new(text).map(|item| item.map(|item| item.group)).collect();
        assert_eq!(groups, [Ok("net"), Ok("site"), Ok("site")]);
        assert_eq!(read(text).len(), 2, "{:?}", read(text));
    }
}
