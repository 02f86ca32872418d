//! The calls of a group, in place of the groups: which of them have rules, limits and rates, and
//! keys that switch one.
//!
//! Invariants: a key means the call that stood out when it was pressed, or none; the words of a
//! rule are those of `configuration site`.

use super::super::process::ProcessName;
use super::columns::{AROUND, cut, inverse};
use super::keys::Key;
use super::watch::{CallRule, GroupRow};
use crate::cells::{beginning_of, end_of, width_of};
use protolog_control::Site;
use protolog_core::control::name::Quoted;
use protolog_core::control::site_rule::SiteSetting;
use protolog_reader::printable;

const KEYS: &str = "up/down choose  e enable  d disable  x take the rule back  s groups  q end";
/// The same for a narrow screen.
const FEW_KEYS: &str = "e on  d off  x take back  s groups";
/// The most cells of a rule.
const MOST_OF_RULE: usize = 32;
/// The cells of a level, with the gap behind it.
const LEVEL: usize = 8;

/// The effect of a key.
pub(super) enum Pressed {
    Nothing,
    /// The groups are shown again.
    Leave,
    Pause,
    Note(String),
    End,
    Suspend,
    /// A call gets a rule.
    Rule(ProcessName, Box<CallRule>),
}

/// What tells calls of a group apart, also when their lines have moved on the screen.
type CallPlace = (String, u32, u64);

/// The calls of a group of a program, in the order of their places.
pub(super) struct SiteList {
    group: GroupRow,
    sites: Vec<Site>,
    /// The number of calls that are not listed.
    left_out: u64,
    /// None where there is no call.
    chosen: Option<CallPlace>,
    /// The rule that the next key confirms.
    unconfirmed: Option<CallRule>,
}

impl SiteList {
    /// The calls, with the choice of the list that was there before.
    pub(super) fn new(
        group: GroupRow,
        mut sites: Vec<Site>,
        left_out: u64,
        old: Option<Self>,
    ) -> Self {
        sites.sort_by_cached_key(place);
        let first = || sites.first().map(place);
        let (chosen, unconfirmed) = match old {
            Some(old) => (old.chosen.or_else(first), old.unconfirmed),
            None => (first(), None),
        };
        Self { group, sites, left_out, chosen, unconfirmed }
    }

    pub(super) fn group(&self) -> &GroupRow {
        &self.group
    }

    fn chosen_place(&self) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        self.sites.iter().position(|site| place(site) == *chosen)
    }

    pub(super) fn press(&mut self, key: Key) -> Pressed {
        let unconfirmed = self.unconfirmed.take();
        match (key, unconfirmed) {
            (Key::End, _) => return Pressed::End,
            (Key::Suspend, _) => return Pressed::Suspend,
            (Key::Char('y'), Some(rule)) => return self.rule(rule),
            (_, Some(_)) => return Pressed::Nothing,
            (_, None) => {}
        }
        match key {
            Key::Up | Key::Char('k') => self.step(-1),
            Key::Down | Key::Char('j') => self.step(1),
            Key::PageUp => self.step(-10),
            Key::PageDown => self.step(10),
            Key::Char('q') => return Pressed::End,
            Key::Char('s') | Key::Escape => return Pressed::Leave,
            Key::Char('p') => return Pressed::Pause,
            Key::Char(letter @ ('e' | 'd' | 'x')) => return self.ask(letter),
            Key::Char(_) | Key::End | Key::Suspend => {}
        }
        Pressed::Nothing
    }

    fn step(&mut self, by: isize) {
        let last = self.sites.len().saturating_sub(1);
        let at = self.chosen_place().map_or(0, |at| at.saturating_add_signed(by).min(last));
        self.chosen = self.sites.get(at).map(place);
    }

    /// The rule of a key for the chosen call, which has to be confirmed where less may be recorded.
    fn ask(&mut self, letter: char) -> Pressed {
        let Some(site) = self.chosen_place().and_then(|at| self.sites.get(at)) else {
            return Pressed::Note("nothing is switched: there is no such call".to_owned());
        };
        let setting = match letter {
            'e' => SiteSetting { trace: Some(true), ..SiteSetting::default() },
            'd' => SiteSetting { trace: Some(false), text: Some(false), ..SiteSetting::default() },
            _ => SiteSetting { resets: true, ..SiteSetting::default() },
        };
        let has = |wanted: &str| {
            site.rule.as_deref().is_some_and(|rule| rule.split(',').any(|word| word == wanted))
        };
        let is_less = match letter {
            'e' => false,
            'd' => !has("off"),
            _ => has("on"),
        };
        let rule = CallRule { site: site.clone(), setting };
        if is_less {
            self.unconfirmed = Some(rule);
            return Pressed::Nothing;
        }
        self.rule(rule)
    }

    fn rule(&self, rule: CallRule) -> Pressed {
        Pressed::Rule(self.group.process.clone(), Box::new(rule))
    }

    /// The lines of a screen, the last of which is `note` if no question has to be answered.
    pub(super) fn lines(
        &self,
        (width, height): (usize, usize),
        is_paused: bool,
        note: Option<String>,
    ) -> Vec<String> {
        let room = height.saturating_sub(AROUND);
        let chosen = self.chosen_place();
        let first = chosen.unwrap_or(0).saturating_sub(room.saturating_sub(1));
        let shown = || self.sites.iter().skip(first).take(room);
        // As wide as the rules on the screen, and a third of it at most.
        let rule_width = shown().filter_map(|site| site.rule.as_deref()).map(width_of).max();
        let rule_width = rule_width.unwrap_or(0).max("RULE".len()).min(MOST_OF_RULE).min(width / 3);
        let mut lines = vec![
            cut(&self.summary(is_paused, width), width),
            inverse(&columns("LEVEL", "RULE", "CALL", rule_width), width),
        ];
        for (at, site) in self.sites.iter().enumerate().skip(first).take(room) {
            let rule = site.rule.as_deref().unwrap_or_default();
            let line = columns(&site.level, rule, &call(site, width, rule_width), rule_width);
            lines.push(if Some(at) == chosen { inverse(&line, width) } else { cut(&line, width) });
        }
        lines.resize(height.saturating_sub(1).max(2), String::new());
        let keys = if width < KEYS.len() { FEW_KEYS } else { KEYS };
        let last = match &self.unconfirmed {
            Some(rule) => question(rule, width),
            None => note.unwrap_or_else(|| keys.to_owned()),
        };
        lines.push(cut(&last, width));
        lines.truncate(height);
        lines
    }

    /// The group, and how many of its calls have rules.
    fn summary(&self, is_paused: bool, width: usize) -> String {
        let GroupRow { process, trace, .. } = &self.group;
        let ruled = self.sites.iter().filter(|site| site.rule.is_some()).count();
        let all = self.left_out.saturating_add(self.sites.len() as u64);
        let calls = if all == 1 { "call" } else { "calls" };
        let left_out = match self.left_out {
            0 => String::new(),
            more => format!(", {more} of them not listed"),
        };
        let paused = if is_paused { "  PAUSED" } else { "" };
        let rest = format!(", {all} {calls}, {ruled} with rules{left_out}, trace {trace}{paused}");
        let group = printable(&Quoted(&self.group.group).to_string());
        let start = format!("{} {group}", printable(&process.to_string()));
        let room = width.saturating_sub(width_of(&rest));
        format!("{}{rest}", end_of(&start, room))
    }
}

/// The place and the id of a call.
fn place(site: &Site) -> CallPlace {
    (site.file.clone(), site.line, site.id)
}

/// The question to confirm, with the call.
fn question(rule: &CallRule, width: usize) -> String {
    let line = "may record less: y to do it, any other key to leave it: ";
    let Site { file, line: number, template, .. } = &rule.site;
    let call = printable(&format!("{file}:{number} {template:?}"));
    format!("{line}{}", end_of(&call, width.saturating_sub(width_of(line))))
}

/// The place and the template of a call, of whose file the end is there.
fn call(site: &Site, width: usize, rule_width: usize) -> String {
    let Site { file, line, template, .. } = site;
    let file = if file.is_empty() { "?" } else { file.rsplit('/').next().unwrap_or(file) };
    let place = printable(&format!("{file}:{line}"));
    let room = width.saturating_sub(LEVEL + rule_width + 1);
    format!("{} {template:?}", end_of(&place, room / 2))
}

fn columns(level: &str, rule: &str, call: &str, rule_width: usize) -> String {
    let padded = |text: &str, cells: usize| {
        let text = printable(text);
        let text = beginning_of(&text, cells).to_owned();
        let gap = " ".repeat(cells.saturating_sub(width_of(&text)));
        text + &gap
    };
    format!("{} {} {call}", padded(level, LEVEL - 1), padded(rule, rule_width))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(line: u32, rule: Option<&str>) -> Site {
        Site {
            id: u64::from(line),
            level: "DEBUG".into(),
            rule: rule.map(str::to_owned),
            line,
            group: "a::Net".into(),
            file: "src/net.rs".into(),
            template: "sent %d".into(),
            ..Site::default()
        }
    }

    fn list(sites: Vec<Site>) -> SiteList {
        SiteList::new(GroupRow::default(), sites, 0, None)
    }

    /// The rules of the keys, as settings have them, each with the line of its call.
    fn rules(list: &mut SiteList, keys: &str) -> Vec<String> {
        let answers = keys.chars().map(|key| list.press(Key::Char(key)));
        let rule = |pressed| match pressed {
            Pressed::Rule(_, rule) => Some(format!("{}={}", rule.site.line, rule.setting)),
            _ => None,
        };
        answers.filter_map(rule).collect()
    }

    #[test]
    fn a_key_switches_the_call_that_stood_out_or_none() {
        let all = vec![site(30, None), site(10, Some("on")), site(20, Some("limit:1/s,off"))];
        let mut shown = list(all.clone());
        assert_eq!(rules(&mut shown, "e"), ["10=on"], "the first in the file");
        assert_eq!(rules(&mut shown, "jjdy"), ["30=off"]);
        // Another call comes before it, and it stays chosen; then it goes, and nothing is.
        let more = all.iter().cloned().chain([site(5, None)]).collect();
        let mut shown = SiteList::new(GroupRow::default(), more, 0, Some(shown));
        assert_eq!(rules(&mut shown, "e"), ["30=on"]);
        let mut shown = SiteList::new(GroupRow::default(), all[1..].to_vec(), 0, Some(shown));
        assert!(matches!(shown.press(Key::Char('e')), Pressed::Note(_)));
        assert!(rules(&mut shown, "dyxy").is_empty());
        assert_eq!(rules(&mut shown, "je"), ["10=on"], "a key chooses again");
        assert!(rules(&mut list(Vec::new()), "jedyxy").is_empty());
    }

    #[test]
    fn less_is_recorded_only_if_it_is_confirmed() {
        for (rule, keys, expected) in [
            (None, "d", &[][..]),
            (None, "dn", &[]),
            (None, "dj", &[]),
            (None, "dy", &["10=off"]),
            (Some("off"), "d", &["10=off"]),
            (Some("off"), "x", &["10=default"]),
            (Some("on,text"), "x", &[]),
            (Some("on,text"), "xy", &["10=default"]),
            (Some("limit:100/s"), "x", &["10=default"]),
            (None, "y", &[]),
        ] {
            let mut shown = list(vec![site(10, rule), site(11, None)]);
            assert_eq!(rules(&mut shown, keys), expected, "{rule:?} {keys}");
        }
    }

    #[test]
    fn lines_fit_and_obey_nobody() {
        let mut hostile = site(7, Some("on,limit:100/s:500,sample:1/100:arg1,group-limit:1/s"));
        (hostile.file, hostile.level) = ("a/\u{1b}[2J.rs".into(), "\u{1b}]0;x\u{7}".into());
        hostile.template = "群\u{1b}[2J".repeat(40);
        let shown = list(vec![hostile, site(9, None)]);
        for width in 1..120 {
            for height in 1..8 {
                let lines = shown.lines((width, height), true, None);
                assert!(lines.len() <= height, "{lines:?}");
                for line in lines {
                    let text = line.replace("\x1b[7m", "").replace("\x1b[0m", "");
                    assert!(!text.contains('\u{1b}') && width_of(&text) <= width, "{text:?}");
                }
            }
        }
        let lines = list(vec![site(9, Some("limit:1/s"))]).lines((60, 5), false, None);
        assert!(lines[0].ends_with(", 1 call, 1 with rules, trace "), "{lines:?}");
        assert!(lines[2].contains("DEBUG   limit:1/s net.rs:9 \"sent %d\""), "{lines:?}");
    }
}
