//! Dictionaries as the official descriptors and Perfetto's own reader read them.

use crate::common::{group, java, rich};
use protolog_core::{
    Level,
    schema::{interned_data, interned_string, message, packet, sequence_flags, trace},
};
use protolog_testkit::{
    Value, assert_eq_text, check_dictionary, copy_dictionary, read_trace, temp_dir,
};
use protozero::{Heap, Writer};
use std::fs;
use viewer_config::{Collector, Dictionary, Format, Location, Message};

type Fields<'a> = protozero::Message<'a, Heap>;

#[test]
fn only_our_hints_are_unknown_to_perfetto() {
    let (dir, dictionary) = (temp_dir(), rich());
    let file = dir.path().join("rich.pb");
    fs::write(&file, dictionary.to_bytes(Format::Pb)).unwrap();
    let Some(seen) = check_dictionary(&file) else { return };

    assert_eq!(seen["unknown"], Value::from(vec!["messages.1000"]));
    let messages = seen["messages"].as_array().unwrap();
    assert_eq!(messages.len(), dictionary.messages().len());
    for (seen, message) in messages.iter().zip(dictionary.messages()) {
        assert_eq!(seen["message_id"], message.id);
        assert_eq!(seen["message"], *message.bare());
        assert_eq!(seen["level"], format!("PROTOLOG_LEVEL_{}", message.level));
        assert_eq!(seen["group_id"], dictionary.group(&message.group).unwrap().id);
        let location = Location::format_list(&message.locations);
        assert_eq!(seen["location"].as_str().unwrap_or_default(), location);
    }
    let groups = seen["groups"].as_array().unwrap();
    assert_eq!(groups.len(), dictionary.groups().len());
    for (seen, group) in groups.iter().zip(dictionary.groups()) {
        assert_eq!(
            (&seen["id"], &seen["name"], &seen["tag"]),
            (&group.id.into(), &group.name.as_str().into(), &group.tag.as_str().into())
        );
    }
}

/// A dictionary that went through every format of ours and the official library is the same.
#[test]
fn what_the_official_library_writes_is_read() {
    let (dir, dictionary) = (temp_dir(), rich());
    let (ours, theirs) = (dir.path().join("ours.pb"), dir.path().join("theirs.pb"));
    for format in Format::ALL {
        let again = Dictionary::read(&dictionary.to_bytes(format)).unwrap().dictionary;
        fs::write(&ours, again.to_bytes(Format::Pb)).unwrap();
        let Some(()) = copy_dictionary(&ours, &theirs) else { return };
        let read = Dictionary::read(&fs::read(&theirs).unwrap()).unwrap();
        assert_eq!((read.dictionary, read.problems), (dictionary.clone(), vec![]), "by {format}");
    }
}

/// Each conversion in its full form: the values arrive, although the reader knows only the bare
/// form.
#[test]
fn trace_processor_decodes_the_bare_form() {
    let mut collector = Collector::new();
    collector.add_group(group("com.foo.AppLog.NET", "Net"));
    let numbers = java("%04d|%8o|%016x", "com/foo/A.java", 12);
    let numbers = Message { unsigned: 0b100, ..numbers };
    let floats =
        Message { level: Level::Wtf, ..java("%8.3f|%.1e|%10g|100%%", "com/foo/A.java", 20) };
    let floats = Message { id: floats.id ^ 1 << 63, ..floats };
    let others = Message { level: Level::Verbose, ..java("%10s|%5b|%.2s", "com/foo/B.java", 1) };
    for message in [&numbers, &floats, &others, &others] {
        collector.add_message(message.clone());
    }
    let dictionary = collector.finish().unwrap().dictionary;

    let packets = [
        encode(|fields| {
            fields.bytes(packet::PROTOLOG_VIEWER_CONFIG, &dictionary.to_bytes(Format::Pb));
        }),
        entry(100, &numbers, &[], |entry| {
            entry.sint64(message::SINT64_PARAMS, 7);
            entry.sint64(message::SINT64_PARAMS, 8).sint64(message::SINT64_PARAMS, 255);
        }),
        entry(200, &floats, &[], |entry| {
            entry.double(message::DOUBLE_PARAMS, 1.5);
            entry.double(message::DOUBLE_PARAMS, 250.0).double(message::DOUBLE_PARAMS, 0.25);
        }),
        entry(300, &others, &["host", "größe"], |entry| {
            entry.uint32(message::STR_PARAM_IIDS, 1).int32(message::BOOLEAN_PARAMS, 1);
            entry.uint32(message::STR_PARAM_IIDS, 2);
        }),
    ];
    let bytes = encode(|file| {
        for packet in packets {
            file.bytes(trace::PACKET, &packet);
        }
    });
    let dir = temp_dir();
    let file = dir.path().join("trace.pftrace");
    fs::write(&file, bytes).unwrap();
    let sql = "select ts, level, tag, message, location from protolog order by ts";
    let Some(reading) = read_trace(&file, &[sql]) else { return };

    assert_eq!((reading.error, reading.stats.to_string().as_str()), (None, ""));
    // Version 52 prints nothing for `%%`; later ones a per cent sign.
    let rows = reading.tables[0].to_string().replace("|100%", "|100");
    assert_eq_text(
        "100 | DEBUG | Net | 7|10|ff | com/foo/A.java:12\n\
         200 | WTF | Net | 1.500000|2.500000e+02|0.25|100 | com/foo/A.java:20\n\
         300 | VERBOSE | Net | host|true|größe | com/foo/B.java:1\n",
        &rows,
    );
}

/// A packet with one entry of `of`, and the strings that it names by 1, 2, …
fn entry(
    timestamp: u64,
    of: &Message,
    strings: &[&str],
    args: impl FnOnce(&mut Fields<'_>),
) -> Vec<u8> {
    let interned = encode(|fields| {
        for (text, iid) in strings.iter().zip(1..) {
            let string = encode(|fields| {
                fields.uint64(interned_string::IID, iid).string(interned_string::STR, text);
            });
            fields.bytes(interned_data::PROTOLOG_STRING_ARGS, &string);
        }
    });
    let entry = encode(|fields| {
        fields.fixed64(message::MESSAGE_ID, of.id);
        args(fields);
    });
    encode(|fields| {
        fields
            .uint64(packet::TIMESTAMP, timestamp)
            .uint32(packet::TRUSTED_PACKET_SEQUENCE_ID, 1)
            .bytes(packet::INTERNED_DATA, &interned)
            .uint32(
                packet::SEQUENCE_FLAGS,
                sequence_flags::INCREMENTAL_STATE_CLEARED | sequence_flags::NEEDS_INCREMENTAL_STATE,
            )
            .bytes(packet::PROTOLOG_MESSAGE, &entry);
    })
}

fn encode(write: impl FnOnce(&mut Fields<'_>)) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    write(&mut writer.message());
    writer.into_vec().unwrap()
}
