//! The oracles: valid traces and dictionaries pass, and each kind of error is detected.
//!
//! The bytes are assembled here, field by field, without code that is tested elsewhere.

use std::fs;
use std::path::PathBuf;

use protolog_testkit::{
    TempDir, Value, check_dictionary, check_trace, read_trace, temp_dir, trace_processor,
    trace_stats,
};

/// A message id that needs all 64 bits.
const ID: u64 = 0x8000_0000_0000_0005;

#[test]
fn trace_processor_reads_a_good_trace() {
    let (_dir, file) = written(&good_trace());
    let Some(tables) = trace_processor(
        &file,
        &["select ts, level, tag, message from protolog", "select 0.5 + 0.5 as x, null as n"],
    ) else {
        return;
    };
    assert_eq!(tables[0].to_string(), "100 | DEBUG | Net | sent -3 bytes\n");
    assert_eq!(tables[0].texts("message"), ["sent -3 bytes"]);
    assert_eq!(tables[1].rows, [[Value::from(1.0), Value::Null]]);
    assert_eq!(trace_stats(&file).expect("node was there").rows.len(), 0);
}

#[test]
fn trace_processor_counts_losses() {
    // Strings are interned only after a packet that clears the state; this trace has none.
    let interned = bytes(12, &bytes(36, &[varint(1, 1), bytes(2, b"x")].concat()));
    let (_dir, file) = written(&packet(&[interned, varint(10, 1)]));
    let Some(stats) = trace_stats(&file) else {
        return;
    };
    assert_eq!(stats.texts("name"), ["tokenizer_skipped_packets"]);
}

#[test]
fn one_reader_serves_good_and_bad_traces() {
    let (_good_dir, good) = written(&good_trace());
    // A sequence-scoped clock without a sequence id.
    let (_bad_dir, bad) =
        written(&packet(&[varint(8, 1), varint(58, 64), bytes(104, &fixed64(1, ID))]));
    let sql = ["select message from protolog"];
    let Some(first) = read_trace(&good, &sql) else {
        return;
    };
    let broken = read_trace(&bad, &sql).expect("node was there");
    assert!(broken.error.is_some() || !broken.stats.rows.is_empty(), "{broken:?}");
    assert_eq!(read_trace(&good, &sql), Some(first));
}

#[test]
fn a_wrong_query_is_a_panic() {
    let (_dir, file) = written(&good_trace());
    let asked = std::panic::catch_unwind(|| trace_processor(&file, &["selct 1"]));
    let Err(panic) = asked else {
        assert!(asked.expect("no panic").is_none(), "a wrong query was answered");
        return;
    };
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("syntax error"), "{text}");
}

#[test]
fn check_trace_shows_every_packet() {
    let (_dir, file) = written(&[good_trace(), packet(&[varint(10, 1), varint(1000, 7)])].concat());
    let Some(packets) = check_trace(&file) else {
        return;
    };
    assert_eq!(packets.len(), 3);
    assert_eq!(
        packets[0]["packet"]["protolog_viewer_config"]["messages"][0]["message"],
        "sent %d bytes"
    );
    assert_eq!(packets[1]["packet"]["protolog_message"]["message_id"], ID);
    assert_eq!(packets[1]["packet"]["protolog_message"]["sint64_params"][0], -3);
    assert_eq!(packets[2]["unknown"][0], "1000");
    assert_eq!(packets[2]["packet"]["1000"][0], 7);
}

#[test]
fn check_trace_opens_compressed_packets() {
    let (_dir, file) = written(&packet(&[bytes(50, &stored_zlib(&good_trace()))]));
    let Some(packets) = check_trace(&file) else {
        return;
    };
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[1]["packet"]["timestamp"], 100);
}

#[test]
fn check_trace_refuses_unknown_fields() {
    let inner = bytes(104, &[fixed64(1, ID), varint(99, 1)].concat());
    for (trace, expected) in [
        (packet(&[inner]), "unknown field `protolog_message.99` has a number below 1000"),
        (bytes(1, &[0xff]), "Error parsing message"),
    ] {
        let (_dir, file) = written(&trace);
        match std::panic::catch_unwind(|| check_trace(&file)) {
            Ok(checked) => assert!(checked.is_none(), "passed: {checked:?}"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().expect("a text");
                assert!(text.contains(expected), "{text}");
            }
        }
    }
}

#[test]
fn check_dictionary_names_unknown_fields() {
    let hints = bytes(1000, &bytes(1, b"sent %04d bytes"));
    let (_dir, file) = written(&dictionary(&hints));
    let Some(checked) = check_dictionary(&file) else {
        return;
    };
    assert_eq!(checked["messages"][0]["message_id"], ID);
    assert_eq!(checked["messages"][0]["level"], "PROTOLOG_LEVEL_DEBUG");
    assert_eq!(
        checked["messages"][0]["1000"][0],
        "hex:0a0f73656e7420253034642062797465 73".replace(' ', "")
    );
    assert_eq!(checked["groups"][0]["tag"], "Net");
    assert_eq!(checked["unknown"], Value::from(vec!["messages.1000"]));
}

/// A dictionary, then a message that uses it.
fn good_trace() -> Vec<u8> {
    let message = [fixed64(1, ID), varint(3, 5)].concat(); // -3 in zigzag
    let config = packet(&[bytes(105, &dictionary(&[])), varint(10, 1)]);
    [config, packet(&[varint(8, 100), bytes(104, &message), varint(10, 1)])].concat()
}

fn dictionary(extra: &[u8]) -> Vec<u8> {
    let message =
        [fixed64(1, ID), bytes(2, b"sent %d bytes"), varint(3, 1), varint(4, 7), extra.to_vec()]
            .concat();
    let group = [varint(1, 7), bytes(2, b"com.foo.AppLog.NET"), bytes(3, b"Net")].concat();
    [bytes(1, &message), bytes(2, &group)].concat()
}

fn packet(fields: &[Vec<u8>]) -> Vec<u8> {
    bytes(1, &fields.concat())
}

fn written(content: &[u8]) -> (TempDir, PathBuf) {
    let dir = temp_dir();
    let file = dir.path().join("file");
    fs::write(&file, content).expect("write a file");
    (dir, file)
}

fn varint(field: u64, value: u64) -> Vec<u8> {
    [raw(field << 3), raw(value)].concat()
}

fn fixed64(field: u64, value: u64) -> Vec<u8> {
    [raw(field << 3 | 1), value.to_le_bytes().to_vec()].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [raw(field << 3 | 2), raw(content.len() as u64), content.to_vec()].concat()
}

fn raw(value: u64) -> Vec<u8> {
    if value > 0x7f {
        [vec![value as u8 | 0x80], raw(value >> 7)].concat()
    } else {
        vec![value as u8]
    }
}

/// A zlib stream of one stored block.
fn stored_zlib(content: &[u8]) -> Vec<u8> {
    let size = u16::try_from(content.len()).expect("small content");
    let (mut a, mut b) = (1u32, 0u32);
    for byte in content {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    let head = [&[0x78, 0x01, 0x01][..], &size.to_le_bytes(), &(!size).to_le_bytes()].concat();
    [&head, content, &(b << 16 | a).to_be_bytes()].concat()
}
