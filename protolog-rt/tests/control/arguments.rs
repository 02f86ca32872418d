//! Rules of single calls with a condition on an argument, switched by an operator while the program
//! runs.

use crate::listen;
use crate::sites::{set, texts};
use protolog_control::Error;
use protolog_control::Rules;
use protolog_core::control::protocol::Request;
use protolog_reader::Trace;
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{Level, ProtoLogGroup, Session, Triggers, d, i, span, w};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(ProtoLogGroup)]
enum Chosen {
    Net,
    #[protolog(tag = "Disk")]
    Disk,
}

#[test]
fn messages_of_one_value_are_on_while_their_group_is_off() {
    let program = listen();
    let here = line!();
    let log = || {
        for number in 40..44 {
            d!(Chosen::Net, "request %d of %s", number, "a client");
            d!(Chosen::Net, "other %d", number);
        }
    };
    let found = texts(&program, |operator| {
        log();
        let rule = format!("site arguments.rs:{} and arg1 == 42", here + 3);
        set(operator, &format!("{rule}=on"));
        log();
        let (sites, taken) = operator.sites("\"request %d of %s\" and arg1 > 7", 9).unwrap();
        assert_eq!((taken, sites[0].rule.as_deref()), (1, Some("on,conditional")));
        let Rules { rules, problems } = operator.rules().unwrap().expect("rules");
        assert_eq!((rules[0].calls, &*rules[0].words, problems.len()), (1, "on", 0));
        set(operator, &format!("{rule}=default"));
        log();
        assert_eq!(operator.rules().unwrap().expect("rules").rules, []);
    });
    assert_eq!(found, ["request 42 of a client"]);
}

#[test]
fn each_comparison_and_each_type_of_integer_decides() {
    let program = listen();
    let found = texts(&program, |operator| {
        for condition in ["arg1 != 2", "arg1 < 2", "arg1 <= 2", "arg1 > 2", "arg1 >= 2"] {
            let rule = format!("site \"compared %d\" and {condition}");
            set(operator, &format!("{rule}=on"));
            (1..4).for_each(|number: u8| d!(Chosen::Net, "compared %d", number));
            d!(Chosen::Net, "compared %d", -7_i32);
            d!(Chosen::Net, "compared %d", u64::MAX);
            set(operator, &format!("{rule}=default"));
        }
        set(operator, "site \"hexadecimal\" and arg2 == 0xffffffffffffffff=on");
        d!(Chosen::Net, "hexadecimal %s %x", "a", u64::MAX);
        d!(Chosen::Net, "hexadecimal %s %x", "a", -1_i64);
        set(operator, "site \"hexadecimal\" and arg2 == 0xffffffffffffffff=default");
    });
    let shown: Vec<_> = found.iter().map(|text| text.trim_start_matches("compared ")).collect();
    let max = "18446744073709551615";
    let expected = ["1", "3", "-7", max, "1", "-7", "1", "2", "-7", "3", max, "2", "3", max];
    assert_eq!(shown[..expected.len()], expected);
    assert_eq!(shown[expected.len()..], ["hexadecimal a ffffffffffffffff"]);
}

/// What does not match is as its group is, and is no loss, be it limited or sampled otherwise.
#[test]
fn messages_that_do_not_match_are_no_loss() {
    let program = listen();
    let mut operator = program.connect();
    let path = program.dir.path().join("l.pftrace");
    let session = Session::builder().file(&path).log_from(Level::Info).start().expect("a session");
    set(&mut operator, "site \"confined %d\"=limit:1/h:5");
    set(&mut operator, "site \"confined %d\" and arg1 >= 90=on");
    set(&mut operator, "site \"kept %d\"=sample:1/1");
    set(&mut operator, "site \"kept %d\" and arg1 < 3=on");
    set(&mut operator, "site \"silent %d\" and arg1 >= 3=off");
    for number in 0..100 {
        d!(Chosen::Disk, "confined %d", number);
        d!(Chosen::Disk, "kept %d", number);
        i!(Chosen::Disk, "silent %d", number);
    }
    for selector in ["confined %d", "kept %d", "silent %d"] {
        set(&mut operator, &format!("site \"{selector}\"=default"));
        for condition in ["arg1 >= 90", "arg1 < 3", "arg1 >= 3"] {
            set(&mut operator, &format!("site \"{selector}\" and {condition}=default"));
        }
    }
    let summary = session.stop().expect("stop");
    assert_eq!((summary.messages, summary.lost()), (5 + 3 + 3, 5), "{:?}", summary.losses);
    assert!(summary.passed_over.is_empty());
}

#[test]
fn later_rules_win_for_the_messages_that_they_take() {
    let program = listen();
    let found = texts(&program, |operator| {
        set(operator, "site \"ordered %d\" and arg1 > 5=on");
        set(operator, "site \"ordered %d\" and arg1 == 7=off");
        set(operator, "site \"ordered %d\" and arg1 == 8=default");
        (5..10).for_each(|number| d!(Chosen::Net, "ordered %d", number));
        set(operator, "site \"ordered %d\"=on");
        (5..10).for_each(|number| d!(Chosen::Net, "ordered %d", number));
        for rest in [" and arg1 > 5", " and arg1 == 7", " and arg1 == 8", ""] {
            set(operator, &format!("site \"ordered %d\"{rest}=default"));
        }
        assert_eq!(operator.rules().unwrap().expect("rules").rules, []);
    });
    let expected = ["6", "9", "5", "6", "7", "8", "9"].map(|number| format!("ordered {number}"));
    assert_eq!(found, expected);
}

#[test]
fn messages_whose_text_comes_at_run_time_and_spans_obey() {
    let program = listen();
    let found = texts(&program, |operator| {
        set(operator, "site \"script\" and arg2 == 5=on");
        set(operator, "site \"phase\" and arg1 == 5=on");
        for number in 4..7 {
            dynamic::log(
                &Chosen::Net,
                Level::Debug,
                "script %s %d",
                &[Arg::Str("a"), Arg::Int(number)],
            );
            // Arguments of other kinds than the template says.
            dynamic::log(
                &Chosen::Net,
                Level::Debug,
                "script %d %s",
                &[Arg::Int(1), Arg::Int(number)],
            );
            let _span = span!(Level::Debug, Chosen::Net, "phase %d", number);
        }
        set(operator, "site \"script\" and arg2 == 5=default");
        set(operator, "site \"phase\" and arg1 == 5=default");
    });
    assert_eq!(found, ["script a 5"]);
    let trace = Trace::open(program.dir.path().join("a.pftrace")).expect("a trace");
    let log = trace.with_slices().read();
    assert_eq!(log.expect("a log").slices().len(), 1);
}

#[test]
fn a_condition_that_no_call_can_meet_is_named() {
    let program = listen();
    let found = texts(&program, |operator| {
        for (selector, is_about) in [
            ("\"hopeless %s\" and arg1 == 5", true),
            ("\"hopeless %s\" and arg2 == 5", true),
            ("\"no such text\" and arg1 == 5", false),
        ] {
            set(operator, &format!("site {selector}=on"));
            d!(Chosen::Net, "hopeless %s", "5");
            let Rules { rules, problems } = operator.rules().unwrap().expect("rules");
            assert_eq!(rules[0].calls, 0);
            let problem = format!(
                "no call that `{selector}` is about has such an integer among its arguments"
            );
            assert_eq!(problems, if is_about { vec![problem] } else { Vec::new() });
            set(operator, &format!("site {selector}=default"));
        }
        for rule in ["site net and arg1 == 5=limit:1/s", "site net and arg1 = 5=on"] {
            let refused = operator.request(&Request::Set(rule));
            assert!(matches!(refused, Err(Error::Refused { .. })), "{rule}: {refused:?}");
        }
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_trigger_fires_at_what_a_rule_takes_and_has_no_condition_of_its_own() {
    let program = listen();
    let mut operator = program.connect();
    let file = program.dir.path().join("r.pftrace");
    let triggers = Triggers::to(&file).on_message("chosen event %d");
    let builder = Session::builder().group("*", None).triggers(triggers);
    let session = builder.start().expect("a session");
    set(&mut operator, "site \"chosen event %d\" and arg1 == 2=on");
    (0..5).for_each(|number| w!(Chosen::Disk, "chosen event %d", number));
    set(&mut operator, "site \"chosen event %d\" and arg1 == 2=default");
    assert_eq!(session.trigger_counts()[0].fired, 1);
    session.stop().expect("stop");
    let triggers = Triggers::to(&file).on_message("\"chosen event %d\" and arg1 == 2");
    assert!(Session::builder().triggers(triggers).start().is_err());
}

/// Threads log without a pause while rules change: no message that matches neither is there.
#[test]
fn threads_that_log_obey_conditions_at_their_next_call() {
    let program = listen();
    let (is_over, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    let found = texts(&program, |operator| {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        (0..10).for_each(|number| d!(Chosen::Net, "turned %d", number));
                        turns.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..40 {
                for number in [3, 7] {
                    set(operator, &format!("site \"turned %d\" and arg1 == {number}=on"));
                    let before = turns.load(Ordering::Relaxed);
                    while turns.load(Ordering::Relaxed) < before + 4 {
                        std::thread::yield_now();
                    }
                    set(operator, &format!("site \"turned %d\" and arg1 == {number}=default"));
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
    let of = |number| found.iter().filter(|text| **text == format!("turned {number}")).count();
    assert_eq!(of(3) + of(7), found.len());
    assert!(of(3) >= 40 && of(7) >= 40, "{} and {}", of(3), of(7));
}
