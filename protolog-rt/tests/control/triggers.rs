//! Triggers that an operator fires.

use crate::listen;
use protolog_control::{Error, Program};
use protolog_core::control::protocol::Request;
use protolog_rt::{Session, Triggers};
use protolog_testkit::temp_dir;

const FIRE: Request<'static> = Request::Trigger("slow today");

/// The error, and its help.
fn refusal(operator: &mut Program, request: &Request<'_>) -> String {
    match operator.request(request) {
        Err(Error::Refused { message, help }) => format!("{message} / {help}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn triggers_are_fired() {
    let program = listen();
    let mut operator = program.connect();
    let expected = "no session has triggers / start one with `Builder::triggers` in the program";
    assert_eq!(refusal(&mut operator, &FIRE), expected);
    let dir = temp_dir();
    let triggers = Triggers::to(dir.path().join("app.pftrace"));
    let session = Session::builder().enable_all().triggers(triggers).start().expect("start");
    assert!(operator.request(&FIRE).expect("it is fired").is_empty());
    let again = refusal(&mut operator, &FIRE);
    assert!(again.starts_with("`slow today` has fired a moment ago"), "{again}");
    for nameless in [Request::Trigger(""), Request::Trigger("  "), Request::TriggerAt(7, "")] {
        let refused = refusal(&mut operator, &nameless);
        assert_eq!(refused, "no cause / name the cause, as in `trigger slow today`");
    }
    let counts = session.trigger_counts();
    assert_eq!((&*counts[0].cause, counts[0].fired, counts[0].suppressed), ("slow today", 1, 1));
    session.stop().expect("stop");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 1);
}
