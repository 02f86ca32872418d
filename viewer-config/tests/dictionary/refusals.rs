//! Refusals, and their wording.

use crate::common::{bytes, collect, group, java};
use protolog_core::Level;
use viewer_config::{Collector, Dictionary, Group, Message, Problem, ReadError};

/// The problems that refuse the dictionary of `add`, and that they also say what to do.
fn refused(add: impl FnOnce(&mut Collector)) -> Vec<String> {
    let mut collector = Collector::new();
    add(&mut collector);
    let problems = collector.finish().expect_err("refused");
    assert!(problems.as_slice().iter().all(|p| p.is_refusal() && !p.help().is_empty()));
    problems.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn one_id_for_two_messages() {
    let first = Message { id: -5i64 as u64, ..java("one %d", "com/foo/A.java", 12) };
    let second = Message { id: first.id, ..java("two\n%s", "com/foo/B.java", 40) };
    let error = refused(|collector| {
        collector.add_group(group("com.foo.AppLog.NET", "Net"));
        collector.add_message(first.clone());
        collector.add_message(second.clone());
        collector.add_message(Message { template: "three".into(), ..second.clone() });
    });
    assert_eq!(
        error,
        [
            "one id `-5` for two messages: `one %d` (DEBUG, `com.foo.AppLog.NET`) at `com/foo/A.java:12` \
          and `two\\n%s` (DEBUG, `com.foo.AppLog.NET`) at `com/foo/B.java:40`"
        ]
    );
    let collected = collect([first.clone(), second]);
    assert_eq!(collected.dictionary.messages(), [first], "readers go on with the first");
}

#[test]
fn level_and_group_are_part_of_a_message() {
    let first = java("text", "com/foo/A.java", 1);
    for second in [
        Message { level: Level::Error, ..first.clone() },
        Message { group: "other".into(), ..first.clone() },
        Message { names: "one".into(), ..first.clone() },
    ] {
        let collected = collect([first.clone(), second]);
        assert!(matches!(&collected.problems[0], Problem::MessageClash { .. }));
    }
}

#[test]
fn a_message_without_locations_is_named_by_its_place() {
    let bare = |place: &str, template| Message {
        id: 1,
        place: place.into(),
        locations: vec![],
        ..java(template, "", 0)
    };
    let collected = collect([bare("app::net", "a"), bare("", "b")]);
    let text = collected.problems[0].to_string();
    assert!(
        text.contains("in `app::net` and `b`") && text.ends_with("at a place not known"),
        "{text}"
    );
}

#[test]
fn groups_that_contradict_each_other() {
    let net = || group("app::Log::Net", "Net");
    let (once, rename) = ("give the group one id and one tag", "rename one of the two groups");
    for (second, text, help) in [
        (
            Group { tag: "Other".into(), ..net() },
            "group `app::Log::Net` declared twice: with id `ID` and tag `Net`, and with id `ID` and tag `Other`",
            once,
        ),
        (
            Group { id: 7, ..net() },
            "group `app::Log::Net` declared twice: with id `ID` and tag `Net`, and with id `7` and tag `Net`",
            once,
        ),
        (
            Group { name: "app::Log::Disk".into(), ..net() },
            "one id `ID` for two groups: `app::Log::Net` and `app::Log::Disk`",
            rename,
        ),
    ] {
        let add = |collector: &mut Collector| {
            collector.add_group(net());
            collector.add_group(net());
            collector.add_group(second.clone());
            collector.add_group(second.clone());
        };
        assert_eq!(refused(add), [text.replace("ID", &net().id.to_string())]);
        let mut collector = Collector::new();
        add(&mut collector);
        let problem = &collector.finish_anyway().problems[0];
        assert!(problem.help().starts_with(help), "{text}: {}", problem.help());
    }
}

/// Android 15 numbered the groups of each dictionary from 1; a reader of a trace with two of them
/// needs both.
#[test]
fn readers_keep_groups_of_one_id_apart() {
    let mut collector = Collector::new();
    collector.add_group(Group { id: 1, ..group("A", "a") });
    collector.add_group(Group { id: 1, ..group("B", "b") });
    collector.add_message(Message { group: "B".into(), ..java("text", "", 1) });
    let collected = collector.finish_anyway();
    let dictionary = &collected.dictionary;
    assert_eq!(collected.problems.len(), 1);
    assert_eq!(dictionary.group_by_id(1).unwrap().name, "A");
    let own = dictionary.group(&dictionary.messages()[0].group).unwrap();
    assert_eq!((own.tag.as_str(), own.id), ("b", protolog_core::group_id("B")));
}

#[test]
fn groups_must_be_declared() {
    let error = refused(|collector| {
        collector.add_message(java("text", "com/foo/A.java", 9));
        collector.add_message(java("more", "com/foo/A.java", 2));
    });
    assert_eq!(
        error,
        [
            "no group `com.foo.AppLog.NET`, as named by `more` (DEBUG, `com.foo.AppLog.NET`) at `com/foo/A.java:2`"
        ]
    );
}

#[test]
fn a_file_that_contradicts_itself() {
    let pb = bytes(
        "0a 0e 09 0700000000000000 12 01 61 18 01
         0a 0e 09 0700000000000000 12 01 62 18 01
         12 03 12 01 47",
    );
    let error = Dictionary::read(&pb).unwrap_err();
    assert!(matches!(error, ReadError::Refused(_)));
    let text = error.to_string();
    assert!(text.starts_with("one id `7` for two messages: `a` (DEBUG, `G`)"), "{text}");
    assert!(error.help().starts_with("change"));
}

#[test]
fn bytes_that_are_no_dictionary() {
    for (hex, text) in [
        ("0a", "the bytes end inside a field at offset 1, field 1"),
        ("0a 05 09 07", "the bytes end inside a field at offset 2, field 1"),
        ("0a 02 09 07", "a field continues beyond the end of its message at offset 3, field 1"),
        ("0a 0c 09 0700000000000000 12 01 ff", "a string is not UTF-8 at offset 13, field 2"),
        (
            "0a 02 08 07",
            "a field has another type than expected (`varint` instead of `fixed64`) at offset 2, field 1",
        ),
        ("12 00 0a 02 18 01", "a message without an id at offset 2"),
        ("08 01 0f", "invalid wire type `7` at offset 2, field 1"),
    ] {
        let error = Dictionary::read(&bytes(hex)).unwrap_err();
        assert_eq!(error.to_string(), format!("not a dictionary in protobuf: {text}"), "{hex}");
        assert!(!error.help().is_empty());
    }
}

/// A good file with one thing changed, and the error for it.
#[test]
fn json_that_is_no_dictionary() {
    const GOOD: &str = "{\"version\": \"2.0.0\",\n\"messages\": {\"5\":\n{\"message\": \"a\", \"level\": \"INFO\", \"group\": \"G\"}},\n\"groups\": {\"G\": {\"tag\": \"g\"}}}";
    Dictionary::read(GOOD.as_bytes()).expect("good as it is");
    for (from, to, text) in [
        ("\"message\": \"a\"", "\"x\": 1", "no `message` in message `5` at line 3 column 40"),
        ("\"a\"", "\" \"", "no `message` in message `5` at line 3 column 48"),
        ("\"a\"", "null", "no `message` in message `5` at line 3 column 49"),
        ("\"level\"", "\"Level\"", "no `level` in message `5` at line 3 column 48"),
        ("INFO", "info", "unknown level `info` of message `5` at line 3 column 48"),
        ("\"G\"}", "\"\"}", "no `group` in message `5` at line 3 column 47"),
        ("\"G\"}", "\"H\"}", "no group `H`, as named by message `5`"),
        ("\"tag\"", "\"id\"", "invalid type: string \"g\", expected u32 at line 4 column 26"),
        ("\"tag\": \"g\"", "", "no `tag` in group `G` at line 4 column 19"),
        ("\"5\"", "\"5x\"", "key `5x` of a message is no 64-bit number at line 3 column 48"),
        (
            "\"5\"",
            "\"9223372036854775808\"",
            "key `9223372036854775808` of a message is no 64-bit number at line 3 column 48",
        ),
        ("2.0.0", "1.0.0", "version `1.0.0` instead of `2.0.0`"),
        ("\"version\"", "\"v\"", "no `version` in the dictionary"),
        ("\"messages\"", "\"m\"", "no `messages` in the dictionary"),
        ("\"groups\"", "\"g\"", "no `groups` in the dictionary"),
        (
            "{\"tag\": \"g\"}",
            "3",
            "invalid type: integer `3`, expected an object at line 4 column 17",
        ),
        ("}}}", "}}", "EOF while parsing an object at line 4 column 29"),
        ("}}}", "}}} x", "trailing characters at line 4 column 32"),
        ("\"a\"", "a", "expected value at line 3 column 13"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = Dictionary::read(GOOD.replacen(from, to, 1).as_bytes()).expect_err(to);
        assert_eq!(
            error.to_string(),
            format!("not a dictionary in JSON: {text}"),
            "{from} -> {to}"
        );
        assert!(!error.help().is_empty());
    }
}
