//! Counts of messages that say the same as one before, of traces that may be hostile.

use crate::common::trace;
use protolog_reader::Trace;
use std::fmt::Write;

const HEAD: &str = r#"
group(1, "demo::AppLog::Net", "Net") message(0x11, DEBUG, 1, "number %d") message(0x12, DEBUG, 1, "another")
@1 cleared snapshot(boot=1000000000, 64=0, incremental=64) default_clock=64 info(300, 301, "main")
"#;

/// A look at all messages for each record would take 2,000 million steps.
#[test]
fn records_of_what_is_not_there_cost_no_search() {
    let mut text = HEAD.to_owned();
    for number in 0..100_000 {
        writeln!(text, "@1 ts=1 log(0x11, {number})").unwrap();
    }
    for _ in 0..20_000 {
        writeln!(text, "@1 repeats(1, 3, 1001000000, 1001000000, 0x12)").unwrap();
    }
    let log = Trace::from_bytes(trace(&text)).read().unwrap();
    let found = log.losses().iter().filter(|loss| log.repeated(loss).is_some()).count();
    assert_eq!((log.losses().len(), found), (20_000, 0));
    assert_eq!(log.describe(&log.losses()[0]), "repeated 3 times: another");
}

/// Each record has the text of its message, so a long one would be there any number of times.
#[test]
fn long_texts_are_shown_by_their_beginning() {
    let described = |length: usize| {
        let text = HEAD.replace("another", &"x".repeat(length));
        let of_template = "@1 ts=1 repeats(1, 3, 1000000001, 1000000001, 0x12)\n";
        let of_message = "@1 ts=1 log(0x12)\n@1 repeats(1, 3, 1000000002, 1000000002, 0x12)\n";
        [of_template, of_message].map(|records| {
            let log = Trace::from_bytes(trace(&format!("{text}{records}"))).read().unwrap();
            assert_eq!(log.repeated(&log.losses()[0]).is_some(), records == of_message);
            log.describe(&log.losses()[0])
        })
    };
    let whole = format!("repeated 3 times: {}", "x".repeat(1024));
    assert_eq!(described(1024), [whole.clone(), whole.clone()]);
    assert_eq!(described(1025), [format!("{whole}[CUT_TEXT]"), format!("{whole}[CUT_TEXT]")]);
}
