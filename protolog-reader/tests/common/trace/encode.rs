//! Encodes a description as the bytes of a trace.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use protolog_core::Level;
use protolog_core::schema::{
    clock, clock_id, clock_snapshot, debug_annotation, group, interned_data, interned_string, loss,
    loss_cause, message, message_data, message_hints, packet, packet_defaults, passed_over,
    process_descriptor, request, sequence_info, thread_descriptor, trace as file, track_descriptor,
    track_event, viewer_config,
};
use protozero::wire::{encode_varint, zigzag};
use protozero::{Heap, Message, Writer};

use super::syntax::{Atom, Element, elements};
use ruzstd::encoding::CompressionLevel;

type Fields<'a> = Message<'a, Heap>;

/// The bytes of the trace that `description` describes.
pub(crate) fn trace(description: &str) -> Vec<u8> {
    let mut open: Vec<(Vec<u8>, Option<Element>)> = vec![(Vec::new(), None)];
    let (mut whole, mut cut) = (None, 0);
    for line in description.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == "}" {
            let (packets, bundle) = open.pop().expect("an open bundle");
            let how = bundle.expect("an open bundle");
            let bytes = compressed(&packets, &how);
            // Perfetto has a field of its own for zstd, from v58 on.
            let number = if how.word(0) == "zstd" { 133 } else { packet::COMPRESSED_PACKETS };
            let bundle = message_of(|fields| {
                fields.bytes(number, &bytes);
            });
            append(&mut open, &framed(&bundle));
            continue;
        }
        let elements = elements(line.trim_end_matches('{'));
        match elements[0].name.as_str() {
            "bundle" => open.push((Vec::new(), elements.into_iter().next())),
            "whole" => whole = elements.into_iter().next(),
            "bytes" => append(&mut open, elements[0].text(0)),
            "cut" => cut = elements[0].number(0) as usize,
            _ => append(&mut open, &framed(&message_of(|fields| encode_packet(fields, &elements)))),
        }
    }
    assert_eq!(open.len(), 1, "a bundle is not closed");
    let mut bytes = open.remove(0).0;
    if let Some(whole) = whole {
        bytes = compressed(&bytes, &whole);
    }
    bytes.truncate(bytes.len() - cut);
    bytes
}

fn append(open: &mut [(Vec<u8>, Option<Element>)], bytes: &[u8]) {
    open.last_mut().expect("a place for packets").0.extend_from_slice(bytes);
}

fn framed(packet: &[u8]) -> Vec<u8> {
    message_of(|fields| {
        fields.bytes(file::PACKET, packet);
    })
}

fn compressed(bytes: &[u8], how: &Element) -> Vec<u8> {
    let mut bytes = match how.word(0) {
        "zlib" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "zstd" => ruzstd::encoding::compress_to_vec(bytes, CompressionLevel::Fastest),
        other => panic!("unknown compression `{other}`"),
    };
    if how.args.len() > 1 {
        assert_eq!(how.word(1), "cut");
        bytes.truncate(bytes.len() * 3 / 4);
    }
    bytes
}

fn message_of(write: impl FnOnce(&mut Fields<'_>)) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    write(&mut writer.message());
    writer.into_vec().unwrap()
}

fn encode_packet(out: &mut Fields<'_>, elements: &[Element]) {
    let mut flags = 0;
    let (mut interned, mut dictionary) = (Vec::new(), Vec::new());
    for element in elements {
        match element.name.as_str() {
            "@" => drop(out.uint64(packet::TRUSTED_PACKET_SEQUENCE_ID, element.number(0))),
            "cleared" => flags |= 1,
            "needs" => flags |= 2,
            "dropped" => drop(out.bool(packet::PREVIOUS_PACKET_DROPPED, true)),
            "first" => drop(out.bool(packet::FIRST_PACKET_ON_SEQUENCE, true)),
            "ts" => drop(out.uint64(packet::TIMESTAMP, element.number(0))),
            "clock" => drop(out.uint64(packet::TIMESTAMP_CLOCK_ID, element.number(0))),
            "pid" => drop(out.uint64(79, element.number(0))),
            "default_clock" => {
                let mut defaults = out.nested(packet::TRACE_PACKET_DEFAULTS);
                defaults.uint64(packet_defaults::TIMESTAMP_CLOCK_ID, element.number(0));
            }
            "string" => interned.push((interned_data::PROTOLOG_STRING_ARGS, element)),
            "stack" => interned.push((interned_data::PROTOLOG_STACKTRACE, element)),
            "group" | "message" | "hint" | "with_names" | "stripped" => dictionary.push(element),
            "field" => drop(out.bytes(element.number(0) as u32, element.text(1))),
            "log" => {
                let mut message = out.nested(packet::PROTOLOG_MESSAGE);
                encode_message(&mut message, element);
                if let Some(rate) = elements.iter().find(|it| it.name == "rate") {
                    message.uint64(message::RATE_OF, rate.number(1));
                    message.uint64(message::RATE_KEPT, rate.number(0));
                    if rate.args.len() > 2 {
                        message.uint64(message::RATE_BY, rate.number(2));
                    }
                }
            }
            "rate" => {}
            "passed_over" => encode_passed_over(&mut out.nested(packet::PASSED_OVER), element),
            "packed" => encode_packed(&mut out.nested(packet::PROTOLOG_MESSAGE), element),
            "snapshot" => encode_snapshot(&mut out.nested(packet::CLOCK_SNAPSHOT), element),
            _ => encode_other(out, element),
        }
    }
    if flags != 0 {
        out.uint32(packet::SEQUENCE_FLAGS, flags);
    }
    if !interned.is_empty() {
        let mut data = out.nested(packet::INTERNED_DATA);
        for (field, element) in interned {
            let mut string = data.nested(field);
            string.uint64(interned_string::IID, element.number(0));
            string.bytes(interned_string::STR, element.text(1));
        }
    }
    if !dictionary.is_empty() {
        let mut config = out.nested(packet::PROTOLOG_VIEWER_CONFIG);
        for element in dictionary {
            encode_dictionary(&mut config, element);
        }
    }
}

fn encode_passed_over(out: &mut Fields<'_>, element: &Element) {
    out.uint64(passed_over::GROUP_ID, element.number(0));
    out.uint64(passed_over::LEVEL, element.number(1));
    out.uint64(passed_over::COUNT, element.number(2));
}

fn encode_other(out: &mut Fields<'_>, element: &Element) {
    match element.name.as_str() {
        "info" => {
            let mut info = out.nested(packet::SEQUENCE_INFO);
            info.uint64(sequence_info::PID, element.number(0));
            info.uint64(sequence_info::TID, element.number(1));
            info.bytes(sequence_info::THREAD_NAME, element.text(2));
            if element.args.len() > 3 {
                info.uint64(sequence_info::MESSAGES, element.number(3));
            }
        }
        "boot" => {
            let id = [element.number(0) as u8; 16];
            out.nested(packet::SEQUENCE_INFO).bytes(sequence_info::BOOT_ID, &id);
        }
        "started" => {
            let mut info = out.nested(packet::SEQUENCE_INFO);
            info.uint64(sequence_info::PID, element.number(0));
            info.fixed64(sequence_info::PROCESS, element.number(1));
        }
        "thread" => {
            let mut thread = out.nested(packet::THREAD_DESCRIPTOR);
            thread.uint64(thread_descriptor::PID, element.number(0));
            thread.uint64(thread_descriptor::TID, element.number(1));
            thread.bytes(thread_descriptor::THREAD_NAME, element.text(2));
        }
        "process" => {
            let mut process = out.nested(packet::PROCESS_DESCRIPTOR);
            process.uint64(process_descriptor::PID, element.number(0));
            process.bytes(process_descriptor::PROCESS_NAME, element.text(1));
        }
        "track" => {
            let mut track = out.nested(packet::TRACK_DESCRIPTOR);
            track.uint64(track_descriptor::UUID, element.number(0));
            let mut process = track.nested(track_descriptor::PROCESS);
            process.uint64(process_descriptor::PID, element.number(0));
            process.bytes(process_descriptor::PROCESS_NAME, element.text(1));
        }
        "loss" => encode_loss(out, element),
        "repeats" => encode_repeats(out, element),
        "request" => encode_request(out, element),
        "thread_track" => {
            let mut track = out.nested(packet::TRACK_DESCRIPTOR);
            track.uint64(track_descriptor::UUID, element.number(0));
            let mut thread = track.nested(track_descriptor::THREAD);
            thread.uint64(thread_descriptor::PID, element.number(1));
            thread.uint64(thread_descriptor::TID, element.number(2));
            thread.bytes(thread_descriptor::THREAD_NAME, element.text(3));
        }
        "begin" | "end" => encode_slice(out, element),
        "named" => {
            let mut names = out.nested(packet::INTERNED_DATA);
            let mut name = names.nested(element.number(0) as u32);
            name.uint64(interned_string::IID, element.number(1));
            name.bytes(interned_string::STR, element.text(2));
        }
        "stats" => {
            let mut stats = out.nested(packet::TRACE_STATS);
            let mut buffer = stats.nested(1);
            buffer.uint64(3, element.number(0));
            buffer.uint64(18, element.number(1));
            buffer.uint64(19, element.number(2));
        }
        other => panic!("unknown element `{other}`"),
    }
}

/// The numbers beside the event of a slice.
const BESIDE: [(&str, u32); 5] = [
    ("depth", packet::SLICE_DEPTH),
    ("number", packet::SPAN_NUMBER),
    ("busy", packet::SPAN_BUSY),
    ("age", packet::SPAN_AGE),
    ("of", packet::SPAN_MESSAGE),
];

fn encode_beside(out: &mut Fields<'_>, element: &Element) {
    for (key, value) in &element.args {
        let field = BESIDE.iter().find(|(name, _)| key.as_deref() == Some(name));
        match (field, value) {
            (Some((_, packet::SPAN_MESSAGE)), Atom::Int(id)) => {
                out.fixed64(packet::SPAN_MESSAGE, *id as u64);
            }
            (Some((_, field)), Atom::Int(number)) => drop(out.uint64(*field, *number as u64)),
            _ => {}
        }
    }
}

fn encode_slice(out: &mut Fields<'_>, element: &Element) {
    encode_beside(out, element);
    let mut out = out.nested(packet::TRACK_EVENT);
    let kind = if element.name == "begin" { 1 } else { 2 };
    out.uint32(track_event::TYPE, kind);
    let mut texts = [track_event::NAME, track_event::CATEGORIES].into_iter();
    for (key, value) in &element.args {
        match (key.as_deref(), value) {
            (None, Atom::Text(text)) => drop(out.bytes(texts.next().unwrap(), text)),
            (None, Atom::Iid(iid)) => drop(out.uint64(10, *iid).uint64(3, *iid)),
            (Some("track"), Atom::Int(track)) => {
                out.uint64(track_event::TRACK_UUID, *track as u64);
            }
            (Some(name), _) if BESIDE.iter().any(|(it, _)| *it == name) => {}
            (key, value) => {
                let mut arg = out.nested(track_event::DEBUG_ANNOTATIONS);
                match key.expect("a name") {
                    "interned" => drop(arg.uint64(1, 1)),
                    name => drop(arg.string(debug_annotation::NAME, name)),
                }
                match value {
                    Atom::Int(value) => drop(arg.int64(debug_annotation::INT_VALUE, *value as i64)),
                    Atom::Float(value) => drop(arg.double(debug_annotation::DOUBLE_VALUE, *value)),
                    Atom::Text(text) => drop(arg.bytes(debug_annotation::STRING_VALUE, text)),
                    Atom::Iid(_) => panic!("values are not interned"),
                    Atom::Word(word) => {
                        arg.bool(debug_annotation::BOOL_VALUE, word.parse().unwrap());
                    }
                }
            }
        }
    }
}

fn encode_snapshot(out: &mut Fields<'_>, element: &Element) {
    let find = |name: &str| {
        let found = element.args.iter().find(|(key, _)| key.as_deref() == Some(name));
        found.map(|(_, value)| value.number())
    };
    let (incremental, unit) = (find("incremental"), find("unit"));
    for (key, value) in &element.args {
        let id = match key.as_deref().expect("a clock") {
            "real" => clock_id::REALTIME,
            "mono" => clock_id::MONOTONIC,
            "boot" => clock_id::BOOTTIME,
            "incremental" | "unit" | "primary" => continue,
            id => id.parse().expect("a clock id"),
        };
        let mut reading = out.nested(clock_snapshot::CLOCKS);
        reading.uint32(clock::CLOCK_ID, id);
        reading.uint64(clock::TIMESTAMP, value.number());
        if incremental == Some(u64::from(id)) {
            reading.bool(clock::IS_INCREMENTAL, true);
        }
        if let (Some(unit), true) = (unit, id >= 64) {
            reading.uint64(clock::UNIT_MULTIPLIER_NS, unit);
        }
    }
    if let Some(primary) = find("primary") {
        out.uint64(clock_snapshot::PRIMARY_TRACE_CLOCK, primary);
    }
}

fn encode_message(out: &mut Fields<'_>, element: &Element) {
    out.fixed64(message::MESSAGE_ID, element.number(0));
    for (key, value) in &element.args[1..] {
        match value {
            Atom::Int(bits) if key.as_deref() == Some("unsigned") => {
                out.uint64(message::UNSIGNED, *bits as u64);
            }
            Atom::Int(iid) if key.is_some() => {
                out.uint64(message::STACKTRACE_IID, *iid as u64);
            }
            Atom::Int(value) => drop(out.sint64(message::SINT64_PARAMS, *value as i64)),
            Atom::Float(value) => drop(out.double(message::DOUBLE_PARAMS, *value)),
            Atom::Iid(iid) => drop(out.uint64(message::STR_PARAM_IIDS, *iid)),
            Atom::Word(word) => {
                out.int32(message::BOOLEAN_PARAMS, i32::from(word.parse::<bool>().unwrap()));
            }
            Atom::Text(text) => panic!("{text:?}: strings are interned"),
        }
    }
}

fn encode_packed(out: &mut Fields<'_>, element: &Element) {
    let (mut ints, mut floats, mut strings, mut bools) = (vec![], vec![], vec![], vec![]);
    for (_, value) in &element.args[1..] {
        match value {
            Atom::Int(value) => varint(&mut ints, zigzag(*value as i64)),
            Atom::Float(value) => floats.extend_from_slice(&value.to_le_bytes()),
            Atom::Iid(iid) => varint(&mut strings, *iid),
            Atom::Word(word) => varint(&mut bools, u64::from(word == "true")),
            Atom::Text(text) => panic!("{text:?}: strings are interned"),
        }
    }
    out.fixed64(message::MESSAGE_ID, element.number(0));
    out.bytes(message::STR_PARAM_IIDS, &strings).bytes(message::SINT64_PARAMS, &ints);
    out.bytes(message::DOUBLE_PARAMS, &floats).bytes(message::BOOLEAN_PARAMS, &bools);
}

fn varint(out: &mut Vec<u8>, value: u64) {
    let (bytes, len) = encode_varint(value);
    out.extend_from_slice(&bytes[..len]);
}

fn encode_dictionary(out: &mut Fields<'_>, element: &Element) {
    if element.name == "stripped" {
        out.fixed64(viewer_config::STRIPPED, element.number(0));
        return;
    }
    if element.name == "group" {
        let mut group = out.nested(viewer_config::GROUPS);
        group.uint64(group::ID, element.number(0));
        group.bytes(group::NAME, element.text(1)).bytes(group::TAG, element.text(2));
        return;
    }
    let mut data = out.nested(viewer_config::MESSAGES);
    data.fixed64(message_data::MESSAGE_ID, element.number(0));
    data.bytes(message_data::MESSAGE, element.text(3));
    let level = match element.at(1) {
        Atom::Word(name) => u64::from(name.parse::<Level>().unwrap().wire()),
        number => number.number(),
    };
    data.uint64(message_data::LEVEL, level).uint64(message_data::GROUP_ID, element.number(2));
    if element.name == "with_names" {
        data.nested(message_data::HINTS).bytes(message_hints::NAMES, element.text(4));
    } else if element.name == "hint" {
        let mut hints = data.nested(message_data::HINTS);
        hints.bytes(message_hints::TEMPLATE, element.text(4));
        if element.args.len() > 5 {
            hints.uint64(message_hints::UNSIGNED, element.number(5));
        }
        if element.args.len() > 6 {
            hints.bytes(message_hints::NAMES, element.text(6));
        }
    } else if element.args.len() > 4 {
        data.bytes(message_data::LOCATION, element.text(4));
    }
}

fn encode_request(out: &mut Fields<'_>, element: &Element) {
    let mut mark = out.nested(packet::REQUEST);
    mark.uint64(request::NUMBER, element.number(0));
    mark.bytes(request::ID, element.text(1));
}

fn encode_repeats(out: &mut Fields<'_>, element: &Element) {
    let mut record = out.nested(packet::LOSS);
    record.uint64(loss::GROUP_ID, element.number(0));
    record.uint64(loss::CAUSE, loss_cause::REPEATED.into());
    record.uint64(loss::COUNT, element.number(1));
    record.uint64(loss::FIRST, element.number(2));
    record.uint64(loss::LAST, element.number(3));
    record.fixed64(loss::MESSAGE_ID, element.number(4));
}

fn encode_loss(out: &mut Fields<'_>, element: &Element) {
    let mut record = out.nested(packet::LOSS);
    record.uint64(loss::GROUP_ID, element.number(0));
    record.uint64(loss::CAUSE, element.number(1));
    record.uint64(loss::COUNT, element.number(2));
}
