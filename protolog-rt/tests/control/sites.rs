//! Rules of single calls: switched by an operator while the program runs.

use crate::{ControlledProgram, listen};
use protolog_control::{Program, Rules};
use protolog_core::control::protocol::Request;
use protolog_reader::{Rendering, Trace};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Level, ProtoLogGroup, Session, Triggers, d, i, w};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) fn set(program: &mut Program, rule: &str) {
    program.request(&Request::Set(rule)).unwrap_or_else(|error| panic!("{rule}: {error}"));
}

/// The texts that a trace of this program has, in order.
pub(crate) fn texts(program: &ControlledProgram, log: impl FnOnce(&mut Program)) -> Vec<String> {
    let path = program.dir.path().join("a.pftrace");
    let session = Session::builder().file(&path).log_from(Level::Info).start().expect("a session");
    log(&mut program.connect());
    session.stop().expect("stop");
    let log = Trace::open(&path).expect("a trace").read().expect("a log");
    log.entries().map(|entry| entry.values().text(Rendering::Full)).collect()
}

#[derive(ProtoLogGroup)]
enum Single {
    Net,
    Disk,
}

/// Counts evaluations of an argument.
fn counted(count: &AtomicU64) -> u64 {
    count.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn one_call_is_on_while_its_group_is_off_and_no_other() {
    let program = listen();
    let evaluated = AtomicU64::new(0);
    let log = || {
        d!(Single::Net, "chosen %d", counted(&evaluated));
        d!(Single::Net, "not chosen %d", counted(&evaluated));
        d!(Single::Disk, "chosen on another group %d", counted(&evaluated));
    };
    let found = texts(&program, |operator| {
        log();
        set(operator, "site group Single::Net and \"chosen\" and debug-debug and #0=on");
        log();
        let (sites, taken) = operator.sites("group Single::Net and \"chosen %d\"", 9).unwrap();
        assert_eq!((sites.len(), taken), (2, 2), "{sites:?}");
        let chosen = sites.iter().find(|site| site.template == "chosen %d").expect("the call");
        assert!(chosen.rule.is_none() && chosen.group.ends_with("Single::Net"), "{chosen:?}");
        set(operator, &format!("site #{:016x}=on", chosen.id));
        log();
        let (sites, _) = operator.sites(&format!("#{:016x}", chosen.id), 9).unwrap();
        assert_eq!(sites[0].rule.as_deref(), Some("on"));
        assert!(Single::Net.is_enabled(Level::Debug) && !Single::Net.is_enabled(Level::Verbose));
        set(operator, &format!("site #{:016x}=default", chosen.id));
        log();
        assert!(!Single::Net.is_enabled(Level::Debug));
        set(operator, "site group Single::Net and \"chosen\" and debug-debug and #0=default");
    });
    assert_eq!(found, ["chosen 0"]);
    assert_eq!(evaluated.into_inner(), 1, "arguments of calls that are off are not evaluated");
}

#[test]
fn one_call_is_off_while_its_group_is_on() {
    let program = listen();
    let found = texts(&program, |operator| {
        let here = line!();
        let log = || {
            i!(Single::Net, "loud");
            i!(Single::Net, "wanted");
        };
        set(operator, &format!("site control/sites.rs:{}=off", here + 2));
        log();
        set(operator, &format!("site control/sites.rs:{}=default", here + 2));
        log();
    });
    assert_eq!(found, ["wanted", "loud", "wanted"]);
}

#[test]
fn two_calls_with_one_id_are_told_apart_by_their_lines() {
    let program = listen();
    let found = texts(&program, |operator| {
        let here = line!();
        let log = |first: bool| {
            if first {
                d!(Single::Net, "twice %d", 1);
            } else {
                d!(Single::Net, "twice %d", 2);
            }
        };
        let (sites, _) = operator.sites("\"twice %d\" and sites.rs", 9).unwrap();
        assert!(sites.len() == 2 && sites[0].id == sites[1].id, "{sites:?}");
        let rule = format!("site sites.rs:{}-{}", here + 5, here + 6);
        set(operator, &format!("{rule}=on"));
        [true, false].into_iter().for_each(log);
        set(operator, &format!("{rule}=default"));
        [true, false].into_iter().for_each(log);
    });
    assert_eq!(found, ["twice 2"]);
}

#[test]
fn a_rule_wins_over_what_operators_allow_and_holds_for_several_sessions() {
    let program = listen();
    let other = program.dir.path().join("b.pftrace");
    let found = texts(&program, |operator| {
        set(operator, "control::sites::Single::Net=off;Single::Disk=off");
        set(operator, "site \"for all\"=on");
        let log = || i!(Single::Disk, "for all %s", "sessions");
        log();
        // One that starts later obeys it, though it records nothing of the group.
        let session = Session::builder().file(&other).group("*", None).start().expect("a session");
        log();
        session.stop().unwrap();
        set(operator, "site \"for all\"=default");
        log();
        set(operator, "Single::Net=verbose;Single::Disk=verbose");
    });
    assert_eq!(found, ["for all sessions"; 2]);
    let log = Trace::open(&other).expect("a trace").read().expect("a log");
    assert_eq!(log.entries().len(), 1);
}

#[test]
fn messages_whose_text_comes_at_run_time_obey_rules() {
    let program = listen();
    let found = texts(&program, |operator| {
        let log = || {
            dynamic::log(&Single::Net, Level::Debug, "script says %s", &[Arg::Str("hello")]);
            dynamic::log(&Single::Net, Level::Debug, "script says nothing", &[]);
            dynamic::log(&Single::Net, Level::Info, "script is loud", &[]);
        };
        set(operator, "site group Single::Net and \"says %s\"=on");
        set(operator, "site \"script is loud\"=off");
        log();
        set(operator, "site group Single::Net and \"says %s\"=default");
        set(operator, "site \"script is loud\"=default");
        log();
    });
    assert_eq!(found, ["script says hello", "script is loud"]);
}

/// Threads log without a pause while rules change: each message is one of the call that is on, and
/// each thread's next call after a switch obeys it.
#[test]
fn threads_that_log_obey_the_rule_at_their_next_call() {
    let program = listen();
    let (is_over, off) = (AtomicBool::new(false), AtomicBool::new(false));
    let (turns, late) = ([const { AtomicU64::new(0) }; 4], AtomicU64::new(0));
    let found = texts(&program, |operator| {
        std::thread::scope(|scope| {
            for turn in &turns {
                let late = || late.fetch_add(off.load(Ordering::SeqCst).into(), Ordering::SeqCst);
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::SeqCst) {
                        // The argument of a call that is off is not evaluated.
                        d!(Single::Net, "switched %d", late());
                        d!(Single::Net, "never %d", 1);
                        turn.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            // Each thread is behind the call that it may have been in, and makes the next.
            let all_turn = || {
                for turn in &turns {
                    let before = turn.load(Ordering::SeqCst);
                    while turn.load(Ordering::SeqCst) < before + 2 {
                        std::thread::yield_now();
                    }
                }
            };
            for _ in 0..15 {
                set(operator, "site \"switched %d\"=on");
                all_turn();
                set(operator, "site \"switched %d\"=off");
                all_turn();
                off.store(true, Ordering::SeqCst);
                all_turn();
                off.store(false, Ordering::SeqCst);
            }
            is_over.store(true, Ordering::SeqCst);
        });
        set(operator, "site \"switched %d\"=default");
    });
    let is_switched = |text: &String| text == "switched 0";
    assert!(found.len() >= 60 && found.iter().all(is_switched), "{} messages", found.len());
    assert_eq!(late.into_inner(), 0);
}

#[test]
fn a_call_that_moved_is_named_and_obeys() {
    let program = listen();
    let found = texts(&program, |operator| {
        let log = || d!(Single::Net, "moved %d", 3);
        let (sites, _) = operator.sites("\"moved %d\" and sites.rs", 9).unwrap();
        let (id, line) = (sites[0].id, sites[0].line);
        let rule = format!("site #{id:016x} and sites.rs:{}", line + 7);
        set(operator, &format!("{rule}=on"));
        log();
        let Rules { rules, problems } = operator.rules().unwrap().expect("rules");
        assert_eq!((rules.len(), rules[0].calls, &*rules[0].words), (1, 1, "on"));
        assert!(
            problems.len() == 1 && problems[0].ends_with(&format!("sites.rs:{line}` now")),
            "{problems:?}"
        );
        set(operator, &format!("{rule}=default"));
        assert_eq!(operator.rules().unwrap().expect("rules").rules, []);
    });
    assert_eq!(found, ["moved 3"]);
}

/// Of two calls with one id, a rule with a place is for the one that is there, and the other is no
/// call that moved.
#[test]
fn a_twin_at_another_line_is_no_call_that_moved() {
    let program = listen();
    let found = texts(&program, |operator| {
        let log = || {
            d!(Single::Net, "twin %d", 1);
            d!(Single::Net, "twin %d", 2);
        };
        let (sites, _) = operator.sites("\"twin %d\" and sites.rs", 9).unwrap();
        assert!(sites.len() == 2 && sites[0].id == sites[1].id, "{sites:?}");
        let line = sites.iter().map(|site| site.line).max().expect("a line");
        let rule = format!("site #{:016x} and file sites.rs:{line}", sites[0].id);
        set(operator, &format!("{rule}=on"));
        log();
        let Rules { rules, problems } = operator.rules().unwrap().expect("rules");
        assert_eq!((rules[0].calls, problems), (1, Vec::new()));
        set(operator, &format!("{rule}=default"));
    });
    assert_eq!(found, ["twin 2"]);
}

#[derive(ProtoLogGroup)]
enum Compiled {
    #[protolog(enabled = false)]
    Out,
}

#[test]
fn rules_log_nothing_of_groups_that_are_compiled_out() {
    let program = listen();
    let found = texts(&program, |operator| {
        set(operator, "site group Compiled::Out=on,text");
        d!(Compiled::Out, "of no one %d", 1);
        dynamic::log(&Compiled::Out, Level::Wtf, "of no one", &[]);
        set(operator, "site group Compiled::Out=default");
    });
    assert_eq!(found, [""; 0]);
}

/// A message that a rule has recorded fires triggers, though the session enables nothing of its
/// group.
#[test]
fn a_trigger_fires_at_a_call_that_a_rule_switches_on() {
    let program = listen();
    let mut operator = program.connect();
    let triggers = Triggers::to(program.dir.path().join("r.pftrace")).on_message("ruled event %d");
    let builder = Session::builder().group("*", None).triggers(triggers);
    let session = builder.start().expect("a session");
    let fired = || session.trigger_counts()[0].fired;
    let log = || i!(Single::Disk, "ruled event %d", 1);
    log();
    assert_eq!(fired(), 0);
    set(&mut operator, "site \"ruled event %d\"=on");
    log();
    assert_eq!(fired(), 1);
    set(&mut operator, "site \"ruled event %d\"=default");
    session.stop().expect("stop");
}

#[test]
fn an_operator_limits_calls_and_ends_that() {
    let program = listen();
    let found = texts(&program, |operator| {
        let log = |count: u64| (0..count).for_each(|number| i!(Single::Net, "limited %d", number));
        set(operator, "site \"limited %d\"=limit 1/h burst 2");
        let Rules { rules, .. } = operator.rules().unwrap().expect("rules");
        assert_eq!((rules[0].calls, &*rules[0].words), (1, "limit:1/h:2"));
        log(5);
        set(operator, "site \"limited %d\"=nolimit");
        log(3);
        set(operator, "site \"limited %d\"=default");
        assert_eq!(operator.rules().unwrap().expect("rules").rules, []);
    });
    assert_eq!(found, ["limited 0", "limited 1", "limited 0", "limited 1", "limited 2"]);
}

#[test]
fn a_trigger_takes_a_selector() {
    let program = listen();
    let selector = "group Single::Disk and \"by selector\" and warn";
    let triggers = Triggers::to(program.dir.path().join("t.pftrace")).on_message(selector);
    let session = Session::builder().enable_all().triggers(triggers).start().expect("a session");
    let fired = || session.trigger_counts()[0].fired;
    i!(Single::Disk, "by selector %d", 1);
    assert_eq!(fired(), 0);
    w!(Single::Disk, "by selector %d", 2);
    assert_eq!(fired(), 1);
    session.stop().expect("stop");
}

#[test]
fn hostile_requests_about_calls_are_refused_or_bounded() {
    let program = listen();
    let mut operator = program.connect();
    for rule in [
        "site",
        "site =on",
        "site x",
        "site x=maybe",
        "site \"x=on",
        "site #12345678901234567=on",
        "site net.rs:9-1=on",
        "site a and a and a and a and a and a and a and a and a=on",
    ] {
        let refused = operator.request(&Request::Set(rule));
        assert!(
            matches!(refused, Err(protolog_control::Error::Refused { .. })),
            "{rule}: {refused:?}"
        );
    }
    let long = format!("site \"{}\"=on", "x".repeat(3000));
    assert!(operator.request(&Request::Set(&long)).is_err());
    assert!(operator.sites("net and", 9).is_err());
    let (sites, taken) = operator.sites("*", u32::MAX).expect("calls");
    assert!(taken > 0 && sites.len() as u64 == taken.min(10_000));
    for number in 0..300 {
        set(&mut operator, &format!("site \"no such call {number}\"=on"));
    }
    assert_eq!(operator.rules().unwrap().expect("rules").rules.len(), 256);
    for number in 0..300 {
        set(&mut operator, &format!("site \"no such call {number}\"=default"));
    }
    let left = operator.rules().unwrap().expect("rules").rules;
    assert_eq!(left, []);
}
