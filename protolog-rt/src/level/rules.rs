//! Rules of single calls: `site net.rs:120-180=on`.
//!
//! A rule names calls by a selector. When rules change, all calls in the notes of loaded modules
//! and in embedded dictionaries are looked at once, and those that a rule takes stand in a table
//! ([`table`]) from then on. Their groups are marked (`SITE_RULES`), so that each call of
//! such a group asks for its own rule, and no call of another group does. Messages whose text comes
//! at run time, those of bridges included, are compared with the rules as they are logged
//! ([`ruled_call()`]).
//!
//! Later rules win, part by part. A rule of a library's calls takes them once an enum of the
//! library registers, or any rule changes.
//!
//! Invariants: a lookup takes no lock that a change holds for longer than it takes to store a list;
//! a rule that takes no call changes nothing; no rule stops the program.

mod calls;
mod conditions;
mod declared;
mod limiter;
mod list;
mod ruled_call;
mod run_time;
mod sampler;
mod site_limits;
mod site_state;
mod table;
mod taken;

pub(crate) use declared::left_out;
pub(crate) use limiter::Refused;
pub(crate) use ruled_call::{CallLimits, RuledCall, Visit};
pub(crate) use sampler::{NotKept, has_kept, note_kept, take_kept};
pub(crate) use site_state::SiteState;
pub(super) use table::filter;

use super::source::SettingSource;
use super::{mark_groups, notify_change};
use crate::sync::{AtomicBool, AtomicU32, Ordering};
use crate::sys::fork::{ForkLock, Order};
use crate::sys::modules::load_count;
use calls::{KnownCall, for_each_call};
use conditions::{ByArguments, Numbers};
use limiter::{BucketKey, Buckets};
use list::add;
use protolog_core::Level;
use protolog_core::control::selector::{Call, Selector};
use protolog_core::control::site_rule::SiteSetting;
use site_limits::{SiteLimits, is_sampled};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use table::Ruled;
use taken::TakenCalls;

/// Attempts to read the list of rules while somebody stores one.
const ATTEMPTS: usize = 1000;

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The selector, which was parsed.
    pub(crate) selector: Box<str>,
    pub(crate) setting: SiteSetting,
    pub(crate) source: SettingSource,
    /// One that only ends others stays for what groups declare that come later: it is said at each
    /// start, before them.
    pub(crate) waits: bool,
    /// The number of calls that it takes.
    pub(crate) calls: u64,
    /// The problem with it, and a help line.
    pub(crate) problem: Option<String>,
}

/// See the module.
#[derive(Debug)]
struct Applied {
    /// The count of loaded modules when calls were looked at last.
    modules: Option<u64>,
    /// The groups of which calls have a rule, with the levels (bit = severity) that rules switch
    /// on, and whether they sample calls.
    groups: BTreeMap<String, (u8, bool)>,
    buckets: Buckets,
    /// The names of the groups whose rates and limits have come.
    declared: BTreeSet<&'static str>,
    /// What rules make of the calls that they take, by the keys of these, and whether their
    /// arguments decide.
    settings: Option<Arc<BTreeMap<u64, (SiteSetting, bool)>>>,
    conditions: Numbers,
}

/// Held while rules are applied.
static APPLIED: ForkLock<Applied> = ForkLock::with_child(
    Order::Rules,
    Applied {
        modules: None,
        groups: BTreeMap::new(),
        buckets: Buckets::new(),
        declared: BTreeSet::new(),
        settings: None,
        conditions: Numbers::new(),
    },
    |_| sampler::begin_child(),
);

/// Held for as long as it takes to store the list.
static LIST: ForkLock<Vec<Rule>> = ForkLock::new(Order::RuleList, Vec::new());

/// True once there was a rule.
static HAS_RULES: AtomicBool = AtomicBool::new(false);

/// Changes whenever a call may have another rule, and when sessions start or stop. Never 0 but
/// after four billion changes.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Returns the number by which a thread finds out whether what it knows of a call still holds.
#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// As [`generation`], for a thread that looks at the rules, sessions and groups after it.
pub(crate) fn generation_before() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// Has threads look again what rules make of a call. All that they are to see was stored.
pub(crate) fn forget_calls() {
    GENERATION.fetch_add(1, Ordering::Release);
}

/// Adds rules, each after those before it, and applies all. The caller holds no lock.
pub(crate) fn apply(new: Vec<Rule>) {
    if new.is_empty() {
        return;
    }
    change(|all| {
        for rule in new {
            add(all, rule);
        }
    });
}

/// Replaces the rules of the configuration file, and applies all. The caller holds no lock.
pub(crate) fn replace_config_file_rules(new: Vec<Rule>) {
    let is_of_file = |rule: &Rule| rule.source == SettingSource::ConfigFile;
    if new.is_empty() && !rules().iter().any(is_of_file) {
        return;
    }
    change(|all| {
        all.retain(|rule| !is_of_file(rule));
        for rule in new {
            add(all, rule);
        }
    });
}

/// Returns whether there may be rules.
pub(crate) fn is_any() -> bool {
    HAS_RULES.load(Ordering::Acquire)
}

/// Returns the rules that hold, the oldest first.
pub(crate) fn rules() -> Vec<Rule> {
    if is_any() { LIST.lock().clone() } else { Vec::new() }
}

/// Returns what rules make of a message whose call is known now, and with whose arguments `visit`
/// calls a function.
pub(crate) fn ruled_call(call: &Call<'_>, visit: Visit<'_>) -> RuledCall {
    let takes = |selector: &Selector<'_>| selector.takes(call) && selector.takes_arguments(visit);
    let find = |all: &[Rule]| {
        let (state, limits) = fold(all, call.level, takes);
        let sampling = limits.sampling();
        RuledCall::new(state, run_time::buckets(all, call, limits), sampling)
    };
    with_rules(find).unwrap_or_default()
}

/// Returns whether rules may switch on a call of which more is known later.
pub(crate) fn may_switch_on(call: &Call<'_>) -> bool {
    let may = |rule: &Rule| {
        (rule.setting.trace == Some(true) || rule.setting.text == Some(true))
            && Selector::parse(&rule.selector).is_ok_and(|selector| selector.may_take(call))
    };
    with_rules(|all| all.iter().any(may)).unwrap_or_default()
}

/// Returns what rules make of the call with this key: the address of its note, or else its id.
pub(crate) fn ruled_call_of_key(key: u64) -> RuledCall {
    table::get(key)
}

/// Calls `f` with each call that a selector takes, and a rule that does what all rules together do.
pub(crate) fn for_each_taken(
    selector: &Selector<'_>,
    f: &mut dyn FnMut(&Call<'_>, (SiteSetting, bool)),
) {
    let settings = if is_any() { APPLIED.lock().settings.clone() } else { None };
    for_each_call(&mut |KnownCall { key, call }| {
        if selector.takes(call) {
            let setting = settings.as_ref().and_then(|all| all.get(key).copied());
            f(call, setting.unwrap_or_default());
        }
    });
}

/// Returns the groups that have calls which are known.
pub(crate) fn groups_with_calls() -> HashSet<String> {
    let mut groups = HashSet::new();
    for_each_call(&mut |KnownCall { call, .. }| {
        if !groups.contains(call.group) {
            groups.insert(call.group.to_owned());
        }
    });
    groups
}

/// Returns the ids of known messages that all sessions record by a rule.
pub(crate) fn traced_ids() -> HashSet<u64> {
    let mut ids = HashSet::new();
    if is_any() {
        for_each_call(&mut |KnownCall { key, call }| {
            if ruled_call_of_key(*key).state.is_traced() {
                ids.extend(call.id);
            }
        });
    }
    ids
}

/// Applies the rules to the groups of an enum that has registered, those included that its groups
/// declare by their names: rates and limits. The caller holds no lock; a signal handler that
/// interrupted a change goes on without.
pub(super) fn on_register(declared: Vec<(&'static str, SiteSetting)>) {
    if !is_any() && declared.is_empty() {
        return;
    }
    let Some(mut applied) = APPLIED.lock_within_limit() else { return };
    let is_declared = !declared.is_empty();
    let mut left_out = Vec::new();
    if is_declared {
        let mut all = rules();
        left_out = declared::add_all(&mut all, &mut applied.declared, declared);
        *LIST.lock() = all;
        HAS_RULES.store(true, Ordering::Release);
    }
    let modules = load_count();
    if is_declared || modules.is_none() || applied.modules != modules {
        look_at_calls(&mut applied);
    }
    mark(&applied);
    drop(applied);
    declared::report(&left_out);
}

/// Changes the list of rules, and applies it.
fn change(change: impl FnOnce(&mut Vec<Rule>)) {
    let mut applied = APPLIED.lock();
    let mut all = rules();
    change(&mut all);
    *LIST.lock() = all;
    HAS_RULES.store(true, Ordering::Release);
    run_time::forget_shared();
    look_at_calls(&mut applied);
    mark(&applied);
    drop(applied);
    notify_change();
}

/// Compares all calls with the rules, and stores what becomes of each.
fn look_at_calls(applied: &mut Applied) {
    applied.modules = load_count();
    let all = rules();
    let selectors: Vec<_> =
        all.iter().filter_map(|rule| Selector::parse(&rule.selector).ok()).collect();
    if selectors.len() != all.len() {
        return;
    }
    // While a call is at the place, another one with its id is no call that moved.
    let mut is_there: Vec<bool> = selectors.iter().map(|selector| !selector.may_move()).collect();
    if is_there.contains(&false) {
        for_each_call(&mut |KnownCall { call, .. }| {
            for (is_there, selector) in is_there.iter_mut().zip(&selectors) {
                *is_there = *is_there || selector.takes(call);
            }
        });
    }
    let mut taken = TakenCalls::new(all.len());
    let (mut ruled, mut settings) = (Vec::new(), BTreeMap::new());
    let mut groups: BTreeMap<String, (u8, bool)> = BTreeMap::new();
    for_each_call(&mut |KnownCall { key, call }| {
        let (mut made, mut limits) = (ByArguments::default(), SiteLimits::default());
        for (index, (rule, selector)) in all.iter().zip(&selectors).enumerate() {
            if taken.takes(index, selector, call, is_there[index]) {
                made.add(selector, rule.setting);
                if !selector.is_by_arguments() {
                    let may_sample = is_sampled(selector, call.level);
                    limits = limits.after(rule.setting, index, may_sample);
                }
            }
        }
        let number = applied.conditions.get_or_add(&made);
        let state = if number.is_ok() { made.may_be() } else { made.without_conditions() };
        let number = number.unwrap_or_else(|()| taken.lose_conditions(&selectors));
        let has_rule = state != SiteState::default() || number != 0 || !limits.are_none();
        let Some(level) = call.level.filter(|_| has_rule) else { return };
        settings.insert(*key, (limits.beside(state.setting()), number != 0));
        let sampling = limits.sampling();
        let limits = limits.buckets(&all, BucketKey::Call(*key), call.group, &mut applied.buckets);
        let (key, id, is_on) = (*key, call.id.unwrap_or_default(), state.switches_on());
        let made = RuledCall::new(state, limits, sampling).with_conditions(number);
        ruled.push(Ruled { key, id, level, is_on, call: made });
        let on = if is_on { 1 << level.severity() } else { 0 };
        let is_sampled = made.is_sampled();
        match groups.get_mut(call.group) {
            Some((levels, are_sampled)) => {
                (*levels, *are_sampled) = (*levels | on, *are_sampled || is_sampled);
            }
            None => drop(groups.insert(call.group.to_owned(), (on, is_sampled))),
        }
    });
    table::set_all(&ruled);
    forget_calls();
    (applied.groups, applied.settings) = (groups, Some(Arc::new(settings)));
    taken.note(&mut LIST.lock());
}

/// Marks the groups of which calls have a rule, and no others.
fn mark(applied: &Applied) {
    mark_groups(&|group| applied.groups.get(group).copied());
}

/// Calls `f` with the rules, if there are any and nobody is about to store others for long.
fn with_rules<R>(f: impl FnOnce(&[Rule]) -> R) -> Option<R> {
    if !is_any() {
        return None;
    }
    let mut attempts = std::iter::repeat_with(|| LIST.try_read()).take(ATTEMPTS);
    let list = attempts.find_map(|list| {
        if list.is_none() {
            std::thread::yield_now();
        }
        list
    })?;
    (!list.is_empty()).then(|| f(&list))
}

/// The effect of all rules on a call.
fn fold(
    all: &[Rule],
    level: Option<Level>,
    takes: impl Fn(&Selector<'_>) -> bool,
) -> (SiteState, SiteLimits) {
    let mut found = (SiteState::default(), SiteLimits::default());
    for (index, rule) in all.iter().enumerate() {
        let Ok(selector) = Selector::parse(&rule.selector) else { continue };
        if takes(&selector) {
            found.0 = found.0.after(rule.setting);
            // As in the table: a rule for some messages says nothing of limits and rates.
            if !selector.is_by_arguments() {
                found.1 = found.1.after(rule.setting, index, is_sampled(&selector, level));
            }
        }
    }
    found
}

impl Rule {
    /// A rule that is not applied yet.
    pub(crate) fn new(
        selector: &Selector<'_>,
        setting: SiteSetting,
        source: SettingSource,
    ) -> Self {
        let selector = selector.text().into();
        Self { selector, setting, source, waits: false, calls: 0, problem: None }
    }

    /// The same as one that a program starts with.
    pub(crate) fn of_start(
        selector: &Selector<'_>,
        setting: SiteSetting,
        source: SettingSource,
    ) -> Self {
        Self { waits: true, ..Self::new(selector, setting, source) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn rule(selector: &str, words: &str) -> Rule {
        let setting = SiteSetting::parse(words).expect("words");
        let source = SettingSource::Other;
        Rule { selector: selector.into(), setting, source, waits: false, calls: 0, problem: None }
    }

    #[test]
    fn later_rules_win_part_by_part() {
        let all = [rule("net", "on,text"), rule("\"x\"", "notext"), rule("\"y\"", "default")];
        let state = |call: Call<'_>| {
            fold(&all, call.level, |selector| selector.takes(&call)).0.setting().to_string()
        };
        let net = Call { group: "a::Net", ..Call::default() };
        assert_eq!(state(net), "on,text");
        assert_eq!(state(Call { template: "x", ..net }), "on,notext");
        assert_eq!(state(Call { template: "x y", ..net }), "");
        assert_eq!(state(Call { template: "x", group: "b", ..net }), "notext");
    }

    /// A call that an earlier rule switches on stays as its group is, however often that is asked
    /// for.
    #[test]
    fn a_reset_that_is_repeated_holds() {
        let mut all = vec![rule("net", "on")];
        for times in 1..4 {
            add(&mut all, rule("\"x\"", "default"));
            assert_eq!(all, [rule("net", "on"), rule("\"x\"", "default")], "{times} times");
        }
        let call = Call { group: "a::Net", template: "x", ..Call::default() };
        assert_eq!(
            fold(&all, call.level, |selector| selector.takes(&call)).0,
            SiteState::default()
        );
    }

    #[test]
    fn limits_are_parts_of_rules() {
        let mut all = Vec::new();
        for (selector, words) in [("net", "limit:9/s,on"), ("x", "off"), ("net", "group-limit:7/s")]
        {
            add(&mut all, rule(selector, words));
        }
        let old = rule("net", "limit:9/s,on");
        assert_eq!(all, [old, rule("x", "off"), rule("net", "group-limit:7/s")]);
        add(&mut all, rule("net", "limit:5/m"));
        let words = |all: &[Rule]| all.iter().map(|it| it.setting.to_string()).collect::<Vec<_>>();
        assert_eq!(words(&all), ["on", "off", "group-limit:7/s", "limit:5/m"]);
        let call = Call { group: "a::Net", ..Call::default() };
        let (_, limits) = fold(&all, call.level, |selector| selector.takes(&call));
        let shown =
            [limits.call, limits.group].map(|it| it.map(|(at, limit)| (at, limit.to_string())));
        assert_eq!(shown, [Some((3, "5/m".to_owned())), Some((2, "7/s".to_owned()))]);
        add(&mut all, rule("net", "nolimit"));
        let (_, limits) = fold(&all, call.level, |selector| selector.takes(&call));
        assert!(limits.call.is_none() && limits.group.is_some());
        add(&mut all, rule("net", "default"));
        assert_eq!(words(&all), ["off"]);
    }
}
