//! Several messages of one id: the kinds of values tell their entries apart.

use crate::common::trace;
use protolog_core::Level;
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

/// A program that says something else of the ids of another one, before or after it, and claims to
/// be it, changes nothing in what the other one logged.
#[test]
fn processes_that_the_service_tells_apart_have_texts_of_their_own() {
    let dictionary = "group(1, \"demo::Net\", \"Net\") message(0x11, DEBUG, 1, \"sent %d bytes\", \
                      \"a.rs:1\")";
    let lie = |at| format!(" message(0x11, WTF, 1, \"lie {at} %d\", \"b.rs:{at}\")");
    let lies = (0..20).map(lie).collect::<Vec<_>>().concat();
    let hostile = format!(
        "@8 pid=9 info(5, 1, \"main\") group(1, \"evil::Log\", \"Evil\") \
         group(2, \"evil::Other\", \"Net\"){lies}\n@8 pid=9 needs ts=9 log(0x11, 9)"
    );
    let honest = format!(
        "@1 cleared pid=5 info(5, 1, \"main\")\n@2 pid=5 {dictionary}\n@3 pid=6 {dictionary}\n\
         @4 cleared pid=6\n@1 needs pid=5 ts=1 log(0x11, 512)\n@4 needs pid=6 ts=2 log(0x11, 7)"
    );
    for description in [format!("{hostile}\n{honest}"), format!("{honest}\n{hostile}")] {
        let log = Trace::from_bytes(trace(&format!("@8 cleared\n{description}"))).read().unwrap();
        let mut found = Vec::new();
        for entry in log.entries() {
            let values = entry.values();
            let group = values.group(&log).map(|group| group.name.clone()).unwrap_or_default();
            found.push((values.text(Rendering::Full), group, entry.message().unwrap().level));
        }
        let [first, second, lie] = &found[..] else { panic!("{found:?}") };
        let net = |text: &str| (text.to_owned(), "demo::Net".to_owned(), Some(Level::Debug));
        assert_eq!([first, second], [&net("sent 512 bytes"), &net("sent 7 bytes")]);
        assert_eq!((&*lie.0, &*lie.1), ("[COLLISION] lie 0 9", "evil::Log"));
        assert_eq!(log.stats().missing_values + log.stats().extra_values, 0);
        assert!(log.stats().dictionary_conflicts > 0, "it is said");
    }
}
