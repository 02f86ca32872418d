//! The formats, byte for byte, and that each can be made from each other.

use crate::common::{bytes, collect, group, java, json, nest, rich, text};
use protolog_testkit::{assert_eq_text, expect_file};
use std::{fmt::Write, path::Path};
use viewer_config::{Collector, Dictionary, Format, Message, Problem};

fn testdata(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// One field of the outermost message a line.
fn hex_lines(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut reader = protozero::Reader::new(bytes);
    let mut start = 0;
    while reader.next().transpose().expect("well-formed").is_some() {
        let end = reader.offset() as usize;
        for byte in &bytes[start..end] {
            write!(text, "{byte:02x}").expect("a string takes every write");
        }
        text.push('\n');
        start = end;
    }
    text
}

#[test]
fn the_rich_dictionary_in_every_format() {
    let dictionary = rich();
    let pb = dictionary.to_bytes(Format::Pb);
    expect_file(&testdata("rich.json"), &json(&dictionary));
    expect_file(&testdata("rich.pb.hex"), &hex_lines(&pb));
    for format in Format::ALL {
        let bytes = dictionary.to_bytes(format);
        assert_eq!(Format::of_content(&bytes), format);
        let read = Dictionary::read(&bytes).expect("what was written");
        assert_eq!((read.dictionary, read.problems), (dictionary.clone(), vec![]), "{format}");
        assert_eq!(dictionary.to_bytes(format), bytes, "reproducible");
    }
}

#[test]
fn one_message_in_protobuf() {
    let message = Message { id: 0x0102030405060708, unsigned: 1, ..java("%04d", "a/B.java", 9) };
    let mut collector = Collector::new();
    collector.add_message(message);
    collector.add_group(viewer_config::Group { id: 300, ..group("com.foo.AppLog.NET", "N") });
    let dictionary = collector.finish().unwrap().dictionary;
    let expected = bytes(
        "0a 29
             09 0807060504030201
             12 02 25 64
             18 01
             20 ac 02
             2a 0a 61 2f 42 2e 6a 61 76 61 3a 39
             c2 3e 08
                0a 04 25 30 34 64
                10 01
         12 1a
             08 ac 02
             12 12 63 6f 6d 2e 66 6f 6f 2e 41 70 70 4c 6f 67 2e 4e 45 54
             1a 01 4e",
    );
    assert_eq!(hex_lines(&dictionary.to_bytes(Format::Pb)), hex_lines(&expected));
}

#[test]
fn the_empty_dictionary() {
    let empty = Dictionary::default();
    assert!(empty.is_empty());
    assert_eq!(empty.to_bytes(Format::Pb), b"");
    assert_eq_text(
        "{\n  \"version\": \"2.0.0\",\n  \"messages\": {},\n  \"groups\": {}\n}\n",
        &json(&empty),
    );
    for format in Format::ALL {
        assert_eq!(Dictionary::read(&empty.to_bytes(format)).unwrap().dictionary, empty);
    }
}

/// AOSP's JSON builder: `/` escaped, no members of ours, the same id once for each line.
#[test]
fn json_made_by_aosp() {
    let aosp = br#"{
      "version": "2.0.0",
      "messages": {
        "-6872339441335321086": {"message": "Example: %s %d", "level": "DEBUG", "group": "GROUP", "at": "org\/example\/Example.java"},
        "-6872339441335321086": {"message": "Example: %s %d", "level": "DEBUG", "group": "GROUP", "at": "org\/example\/Example.java"},
        "2618535069521361990": {"at": "org\/example\/Example.java", "more": [{}], "group": "GROUP", "level": "WTF", "message": "%5d"}
      },
      "more": {"a": [1, null]},
      "groups": {"GROUP": {"tag": "TAG_GROUP"}, "UNUSED": {"tag": ""}}
    }"#;
    let read = Dictionary::read(aosp).unwrap();
    assert_eq!(read.problems, []);
    assert_eq_text(
        r#"{
  "version": "2.0.0",
  "messages": {
    "2618535069521361990": {
      "message": "%d",
      "level": "WTF",
      "group": "GROUP",
      "at": "org/example/Example.java",
      "template": "%5d"
    },
    "-6872339441335321086": {
      "message": "Example: %s %d",
      "level": "DEBUG",
      "group": "GROUP",
      "at": "org/example/Example.java"
    }
  },
  "groups": {
    "GROUP": {
      "tag": "TAG_GROUP",
      "id": 3948057714
    },
    "UNUSED": {
      "tag": "",
      "id": 3379011440
    }
  }
}
"#,
        &json(&read.dictionary),
    );
}

/// AOSP's tool writes an entry for each line, negative group ids as 32 bits or with their sign, and
/// no hints.
#[test]
fn protobuf_made_by_aosp() {
    let entry = |line: &str| {
        let (template, location) =
            (text("12", "one %05d %s"), text("2a", &format!("a/B.j:{line}")));
        nest("0a", &format!("09 0100000000000080 {template} 18 03 20 88efa3bc09 {location}"))
    };
    // Field 9 is unknown; the group's id has its sign, in ten bytes; the last message's group is
    // not declared.
    let strange = nest("0a", &format!("09 0500000000000000 {} 18 02 20 09", text("12", "x")));
    let names = [text("12", "WM"), text("1a", "wm")].concat();
    let group = nest("12", &format!("08 88efa3bcf9ffffffff01 {names}"));
    let hex = [entry("12"), entry("7"), "48 05".into(), strange, group].concat();
    let read = Dictionary::read(&bytes(&hex)).unwrap();
    let dictionary = &read.dictionary;
    let message = dictionary.message(1 << 63 | 1).unwrap();
    assert_eq!((message.template.as_str(), &*message.bare()), ("one %05d %s", "one %d %s"));
    assert_eq!((&*message.group, message.place.as_str()), ("WM", "a/B.j"));
    assert_eq!(message.locations[0].to_string(), "a/B.j:7,12");
    assert_eq!(dictionary.group("WM").unwrap().id, -1752631416i32 as u32);
    assert_eq!(dictionary.group_by_id(9).unwrap().name, "#9");
    let group = Problem::UnknownGroupId { group_id: 9, message_id: 5 };
    assert_eq!(read.problems, [group]);
    assert_eq!(read.problems[0].to_string(), "no group with id `9`, as named by message `5`");
}

/// As in a trace, where a sequence's packets hold a piece each.
#[test]
fn protobuf_in_pieces() {
    let pb = rich().to_bytes(Format::Pb);
    let pieces: Vec<_> = hex_lines(&pb).lines().map(bytes).collect();
    let turned: Vec<u8> = pieces.iter().rev().flatten().copied().collect();
    assert_ne!(turned, pb);
    assert_eq!(Dictionary::read(&turned).unwrap().dictionary, rich());
}

#[test]
fn texts_that_do_not_belong_together() {
    let json = r#"{"version": "2.0.0", "groups": {"G": {"tag": "G"}}, "messages":
        {"7": {"message": "a %d", "level": "INFO", "group": "G", "template": "b %3d"}}}"#;
    let read = Dictionary::read(json.as_bytes()).unwrap();
    assert_eq!(read.dictionary.message(7).unwrap().template, "a %d", "what every reader sees");
    let strange = "template `b %3d` does not belong to text `a %d` of message `7`";
    assert_eq!(read.problems[0].to_string(), strange);

    let hints = nest("c23e", &text("0a", "b %3d"));
    let message = format!("09 0700000000000000 {} 18 03 {hints}", text("12", "a %d"));
    let pb = bytes(&(nest("0a", &message) + "12 00"));
    let read = Dictionary::read(&pb).unwrap();
    assert_eq!(read.dictionary.message(7).unwrap().template, "a %d");
    let texts: Vec<_> = read.problems.iter().map(Problem::to_string).collect();
    assert_eq!(texts, ["no name for group `0`", strange]);
}

#[test]
fn a_level_that_is_none_counts_as_info() {
    let message = nest("0a", "09 0700000000000000 12 01 61 18 09");
    let read = Dictionary::read(&bytes(&(message.clone() + &message + "12 03 12 01 47"))).unwrap();
    assert_eq!(read.dictionary.messages()[0].level, protolog_core::Level::Info);
    let problems: Vec<_> = read.problems.iter().map(Problem::to_string).collect();
    assert_eq!(problems, ["unknown level `9` of message `7`"], "once per id");
}

#[test]
fn neighbours_in_the_source_are_neighbours() {
    let messages = [
        java("d", "com/foo/B.java", 1),
        java("c", "com/foo/A.java", 100),
        java("b", "com/foo/A.java", 20),
        Message { locations: vec![], ..java("a", "com/foo/Z.java", 1) },
    ];
    let dictionary = collect(messages).dictionary;
    let order: Vec<_> = dictionary.messages().iter().map(|m| m.template.as_str()).collect();
    assert_eq!(order, ["a", "b", "c", "d"]);
}
