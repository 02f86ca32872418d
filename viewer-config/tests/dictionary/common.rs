//! Building dictionaries in a few words.

use protolog_core::{Level, group_id, message_id};
use viewer_config::{Collected, Collector, Dictionary, Format, Group, Location, Message};

/// The message of a Java call in group `com.foo.AppLog.NET`.
pub(crate) fn java(template: &str, path: &str, line: u32) -> Message {
    let group = "com.foo.AppLog.NET";
    Message {
        id: message_id(path, template, Level::Debug, group),
        template: template.into(),
        names: String::new(),
        unsigned: 0,
        level: Level::Debug,
        group: group.into(),
        place: path.into(),
        locations: vec![Location::line(path, line)],
    }
}

/// A group with the id that its name has.
pub(crate) fn group(name: &str, tag: &str) -> Group {
    Group { id: group_id(name), name: name.into(), tag: tag.into() }
}

/// All of it in this order, even with problems, with the group of [`java`].
pub(crate) fn collect(messages: impl IntoIterator<Item = Message>) -> Collected {
    let mut collector = Collector::new();
    collector.add_group(group("com.foo.AppLog.NET", "Net"));
    for message in messages {
        collector.add_message(message);
    }
    collector.finish_anyway()
}

/// A dictionary that uses everything there is.
pub(crate) fn rich() -> Dictionary {
    let mut collector = Collector::new();
    collector.add_group(group("app::AppLog::Net", "Net"));
    collector.add_group(group("com.foo.AppLog.NET", "größe\t\"/\""));
    collector.add_group(Group { id: -1752631416i32 as u32, ..group("WM.UNUSED", "") });
    collector.add_message(java("sent %d bytes to %s", "com/foo/Net.java", 40));
    collector.add_message(java("sent %d bytes to %s", "com/foo/Net.java", 12));
    collector.add_message(java("", "com/foo/Net.java", 7));
    collector.add_message(java("100% sure", "com/foo/Net.java", 8));
    let rust = |file: &str, line| Message {
        unsigned: 0b101,
        level: Level::Verbose,
        group: "app::AppLog::Net".into(),
        place: "app::net".into(),
        ..java("%04d of %8.3f, %x %%", file, line)
    };
    collector.add_message(rust("src/net.rs", 3));
    collector.add_message(rust("src/net.rs", 3));
    collector.add_message(Message { id: rust("src/net.rs", 3).id, ..rust("../net.rs", 3) });
    collector.add_message(Message { names: "total,,größe".into(), ..rust("src/named.rs", 5) });
    collector.add_message(Message {
        id: u64::MAX,
        level: Level::Wtf,
        place: String::new(),
        locations: Vec::new(),
        ..java("no call known: %b %e", "", 0)
    });
    collector.finish().expect("no contradictions").dictionary
}

/// A field that holds `contents`, all in hexadecimal: its tag and length are put before them.
pub(crate) fn nest(tag: &str, contents: &str) -> String {
    format!("{tag} {:02x} {contents}", bytes(contents).len())
}

/// A field that holds a text, in hexadecimal.
pub(crate) fn text(tag: &str, text: &str) -> String {
    let digits: Vec<_> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    nest(tag, &digits.concat())
}

/// The bytes that `hex` stands for, spaces ignored.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| {
        u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("two digits")
    };
    digits.chunks(2).map(byte).collect()
}

/// `dictionary` in JSON.
pub(crate) fn json(dictionary: &Dictionary) -> String {
    String::from_utf8(dictionary.to_bytes(Format::Json)).expect("JSON is UTF-8")
}
