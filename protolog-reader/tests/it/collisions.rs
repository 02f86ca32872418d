//! Several messages of one id: the kinds of values tell their entries apart.

use crate::common::trace;
use protolog_reader::{JsonWriter, Rendering, Trace};

#[test]
fn kinds_of_values_decide_and_else_the_first_one() {
    let log = Trace::from_bytes(trace(
        r#"
group(1, "demo::AppLog::Net", "Net") group(2, "demo::AppLog::Disk", "Disk")
message(0x11, DEBUG, 1, "sent %d bytes", "a.rs:1") message(0x11, WARN, 2, "slow: %s", "b.rs:2")
message(0x11, INFO, 2, "got %d bytes", "c.rs:3") message(0x12, INFO, 2, "one %d", "e.rs:5") message(0x11, WARN, 2, "slow: %s", "d.rs:4")
@1 cleared string(1, "disk")
@1 needs ts=1 log(0x11, 512)
@1 needs ts=2 log(0x11, $1)
@1 needs ts=3 log(0x11, true)
@1 needs ts=4 log(0x12, 1)
"#,
    ))
    .read()
    .unwrap();
    let texts: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Full)).collect();
    assert_eq!(
        texts,
        [
            "[COLLISION] sent 512 bytes",
            "slow: disk",
            "[COLLISION] sent [MISSING_PARAM] bytes [EXTRA_PARAMS: true]",
            "one 1",
        ]
    );
    let mut lines = Vec::new();
    let mut json = JsonWriter::new(&log);
    log.items().for_each(|item| json.write(&item, &mut lines));
    let lines = String::from_utf8(lines).unwrap();
    let guessed: Vec<bool> =
        lines.lines().map(|line| line.contains("\"message_guessed\":true")).collect();
    assert_eq!(guessed, [true, false, true, false]);
    let locations: Vec<_> =
        log.entries().map(|it| it.message().unwrap().location.clone()).collect();
    assert_eq!(locations, ["a.rs:1", "b.rs:2;d.rs:4", "a.rs:1", "e.rs:5"]);
    let stats = log.stats();
    assert_eq!((stats.missing_values, stats.extra_values), (1, 1));
    assert!(stats.dictionary_conflicts > 0, "it is said");
}
