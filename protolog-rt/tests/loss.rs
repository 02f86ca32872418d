//! Lost messages: counted by group and cause, at their place in the trace.

mod common;

use common::{record, wire};
use protolog_rt::{Level, LossCause, ProtoLogGroup, d, i};

#[derive(ProtoLogGroup)]
enum Log {
    Flood,
    Trickle,
}

fn id(group: &Log) -> u32 {
    group.info().id
}

#[test]
fn the_trace_has_losses_where_messages_were_dropped() {
    let recording = record(|session| session.log_from(Level::Debug).buffer_size(64 << 10));
    const COUNT: u64 = 2_000;
    let text = "x".repeat(400);
    // The session's thread may keep up for a while, so log until it did not a few times.
    let (mut rounds, mut lossy, mut lost) = (0, 0, 0);
    while rounds < 10 || lossy < 3 {
        assert!(rounds < 1000, "64 KiB do not suffice");
        for number in 0..COUNT {
            // A string that the chunk already interned would take no space.
            let text = &text[200 + number as usize % 200..];
            d!(Log::Flood, "%d %s", rounds * COUNT + number, text);
        }
        i!(Log::Trickle, "end of round %d", rounds);
        rounds += 1;
        let now = recording.session().summary().lost();
        lossy += u32::from(now > lost);
        lost = now;
    }
    let trace = recording.stop();
    let summary = &trace.summary;
    assert_eq!(summary.messages + summary.lost(), rounds * (COUNT + 1), "{summary:?}");
    let losses = trace.losses();
    assert!(losses.keys().all(|(_, cause)| *cause == wire(LossCause::BufferFull)), "{losses:?}");
    assert!(losses.contains_key(&(id(&Log::Flood), wire(LossCause::BufferFull))), "{losses:?}");
    let names: Vec<_> = trace.summary.losses.iter().filter_map(|loss| loss.group.clone()).collect();
    assert!(names.contains(&"loss::Log::Flood".to_owned()), "{names:?}");
    let packets = trace.packets();
    assert!(
        packets.iter().filter(|packet| !packet.losses.is_empty()).count() > 1,
        "several places"
    );
    // `previous_packet_dropped` is set only in the first packet of a chunk.
    assert!(packets.iter().any(|packet| packet.dropped));
    assert!(packets.iter().filter(|packet| packet.dropped).all(|packet| packet.info.is_some()));
    let Some(table) = trace.query("select message from protolog where tag = 'Flood' order by ts")
    else {
        return;
    };
    let messages = table.texts("message");
    let numbers = messages.iter().map(|message| message.split(' ').next().unwrap());
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    let flooded = rounds * COUNT - numbers.len() as u64;
    assert_eq!(flooded, losses[&(id(&Log::Flood), wire(LossCause::BufferFull))]);
    trace.check_stats();
}

#[test]
fn long_strings_are_truncated_and_counted() {
    let recording = record(|session| session.log_from(Level::Debug).max_string_bytes(100));
    let long = "é".repeat(60);
    i!(Log::Trickle, "<%s> <%s> %d", long, "short", 7);
    i!(Log::Trickle, "<%s>", "x".repeat(100));
    let trace = recording.stop();
    let kept = format!("INFO Trickle <{}…> <short> 7", "é".repeat(48));
    trace.check(&[&kept, &format!("INFO Trickle <{}>", "x".repeat(100))]);
    assert_eq!(
        trace.losses().into_iter().collect::<Vec<_>>(),
        [((id(&Log::Trickle), wire(LossCause::Truncated)), 1)]
    );
    assert_eq!(trace.summary.lost(), 0, "the message is there");
}

#[test]
fn messages_larger_than_a_chunk_are_complete() {
    // Large enough for all of them, even if the session's thread is not scheduled.
    let recording = record(|session| session.log_from(Level::Debug).buffer_size(32 << 20));
    let text = |seed: usize, length: usize| -> String {
        (0..length).map(|at| char::from(b'a' + ((seed + at) % 26) as u8)).collect()
    };
    let mut expected = Vec::new();
    for length in (3_900..=4_096).chain([1, 4_096]) {
        // One that may just fit, one that can't, a small one.
        let (a, b, c, d) = (text(length, length), text(1, 4_000), text(2, 4_000), text(3, length));
        i!(Log::Trickle, "%s", a);
        i!(Log::Trickle, "%s %s %s %d", b, c, d, length);
        i!(Log::Trickle, "after %d", length);
        expected.push(format!("INFO Trickle {a}"));
        expected.push(format!("INFO Trickle {b} {c} {d} {length}"));
        expected.push(format!("INFO Trickle after {length}"));
    }
    let trace = recording.stop();
    trace.check(&expected.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(trace.summary.losses, []);
}

#[test]
fn a_message_whose_tail_does_not_fit_is_dropped_completely() {
    let recording = record(|session| {
        session.log_from(Level::Debug).buffer_size(64 << 10).max_string_bytes(1000)
    });
    let text = "x".repeat(1000);
    let (mut sent, mut small) = (0, 0);
    while sent < 300 || recording.session().summary().lost() == 0 {
        assert!(sent < 10_000, "64 KiB do not suffice");
        i!(
            Log::Flood,
            "%s %s %s %s %s %s %s %s %s %s",
            text,
            text,
            text,
            text,
            text,
            text,
            text,
            text,
            text,
            text
        );
        sent += 1;
        if sent % 3 == 0 {
            i!(Log::Trickle, "%d", sent);
            small += 1;
        }
    }
    let trace = recording.stop();
    assert_eq!(trace.summary.messages + trace.summary.lost(), sent + small, "{:?}", trace.summary);
    trace.losses();
    let sql = "select distinct length(message) as length from protolog where tag = 'Flood'";
    if let Some(table) = trace.query(sql) {
        assert_eq!(table.texts("length"), ["10009"], "complete or not at all");
    }
    trace.check_stats();
}

#[test]
fn a_call_inside_the_formatting_of_an_argument_is_logged() {
    /// Logs while it is formatted. The outer message is reserved only after that, so both are
    /// written.
    struct LogWhenFormatted;
    impl std::fmt::Display for LogWhenFormatted {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            i!(Log::Trickle, "inner");
            f.write_str("outer")
        }
    }
    let recording = record(|session| session.log_from(Level::Debug));
    i!(Log::Trickle, "%s", LogWhenFormatted);
    recording.stop().check(&["INFO Trickle inner", "INFO Trickle outer"]);
}
