//! Statistics of a session's groups and buffer: from the API, in the trace, and as Perfetto and our
//! reader read them.

mod common;

use common::{Trace, lock_sessions, record};
use protolog_rt::dynamic::{self, Arg};
use protolog_rt::{BufferStats, Builder, GroupStats, Level, LossCause, ProtoLogGroup, Session, i};
use std::collections::BTreeMap;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
    Talk,
    Quiet,
}

/// Messages and bytes by the last part of the group's name.
fn by_group(groups: &[GroupStats]) -> BTreeMap<String, (u64, u64)> {
    let name = |group: &GroupStats| {
        let name = group.group.as_deref().expect("a group with a name");
        name.rsplit("::").next().unwrap_or(name).to_owned()
    };
    let stats = |group: &GroupStats| (name(group), (group.messages, group.bytes));
    groups.iter().map(stats).collect()
}

/// The same, counted in the file.
fn in_file(trace: &Trace) -> BTreeMap<String, (u64, u64)> {
    let log = trace.log();
    let mut groups = BTreeMap::<_, (u64, u64)>::new();
    for entry in log.entries() {
        let group = entry.values().group(&log).expect("a group").tag.clone();
        groups.entry(group).or_default().0 += 1;
    }
    let bytes = std::fs::read(&trace.path).expect("read the trace");
    // Our reader does not give the packet of a message, so the strings tell the two groups apart.
    for packet in protozero::Reader::new(&bytes).map(|field| field.expect("a packet")) {
        let fields: Vec<_> = packet.as_message().expect("a packet").map(Result::unwrap).collect();
        if !fields.iter().any(|field| field.number == 104) {
            continue;
        }
        // Only packets with strings depend on earlier ones.
        let text = fields.iter().any(|field| field.number == 13);
        let size = packet.as_bytes().expect("a packet").len();
        let head = 1 + if size < 0x80 { 1 } else { 2 };
        groups.get_mut(if text { "Talk" } else { "Work" }).expect("a group").1 +=
            (head + size) as u64;
    }
    groups
}

/// Logs `count` messages without a string in one group, and half as many with one in another.
fn log_numbers(count: u64) {
    for number in 0..count {
        i!(Log::Work, "%d", number << 20);
        match number % 4 {
            0 => i!(Log::Talk, "%s", "x".repeat(number as usize % 200)),
            2 => dynamic::log(&Log::Talk, Level::Info, "said %s", &[Arg::Str("this")]),
            _ => {}
        }
    }
}

#[test]
fn group_statistics_of_a_stream() {
    let recording = record(with_large_buffer);
    assert_eq!(recording.session().summary().groups, []);
    log_numbers(400);
    let half = by_group(&recording.session().summary().groups);
    log_numbers(400);
    let trace = recording.stop();
    let whole = by_group(&trace.summary.groups);
    assert_eq!(whole, in_file(&trace));
    assert_eq!(whole.values().map(|counts| counts.0).collect::<Vec<_>>(), [400, 800]);
    let twice = |(messages, bytes): (u64, u64)| (2 * messages, 2 * bytes);
    assert_eq!(half["Work"].0 * 2, 800);
    assert!(twice(half["Talk"]).1.abs_diff(whole["Talk"].1) < 300, "{half:?} {whole:?}");
}

#[test]
fn group_statistics_of_several_files() {
    let dir = protolog_testkit::temp_dir();
    let _lock = lock_sessions();
    let path = dir.path().join("app.pftrace");
    let session =
        with_large_buffer(Session::builder()).file(&path).segment_bytes(16 << 10).start().unwrap();
    log_numbers(1_000);
    let so_far = session.summary();
    let summary = session.stop().unwrap();
    assert!(dir.path().join("app.0003.pftrace").exists());
    assert_eq!(by_group(&so_far.groups), by_group(&summary.groups));
    let messages: Vec<u64> = summary.groups.iter().map(|group| group.messages).collect();
    assert_eq!(messages, [500, 1_000]);
}

#[test]
fn group_statistics_of_in_memory_sessions() {
    for configure in [Builder::keep_newest, Builder::keep_first, Builder::record] {
        let recording = record(|session| configure(start(session)));
        log_numbers(200);
        let so_far = by_group(&recording.session().summary().groups);
        assert_eq!(so_far.values().map(|counts| counts.0).collect::<Vec<_>>(), [100, 200]);
        let snapshot = recording.snapshot();
        assert_eq!(so_far, by_group(&snapshot.summary.groups));
        assert_eq!(so_far, in_file(&snapshot));
        // More than fits.
        log_numbers(20_000);
        let kept: u64 =
            recording.session().summary().groups.iter().map(|group| group.messages).sum();
        let trace = recording.stop();
        assert_eq!(kept, trace.summary.messages);
        let of_groups = trace.summary.groups.iter().filter(|group| group.messages > 0);
        let of_groups: Vec<_> = of_groups.cloned().collect();
        assert_eq!(by_group(&of_groups), in_file(&trace));
        let lost: u64 = trace.summary.groups.iter().map(GroupStats::lost).sum();
        assert_eq!((lost, lost > 0), (trace.summary.lost(), true));
    }
}

#[test]
fn group_statistics_have_losses() {
    let recording = record(|session| start(session).max_string_bytes(10));
    i!(Log::Work, "%d", 1);
    i!(Log::Quiet, "%s", "more than ten bytes");
    let so_far = recording.session().summary();
    let summary = recording.stop().summary;
    for summary in [so_far, summary] {
        let losses = |group: &GroupStats| (group.losses.clone(), group.lost());
        let groups: Vec<_> = summary.groups.iter().map(losses).collect();
        assert_eq!(
            groups,
            [(vec![(LossCause::Truncated, 1)], 0), (vec![], 0)],
            "{:?}",
            summary.groups
        );
    }
}

fn start(session: Builder) -> Builder {
    session.log_from(Level::Info).buffer_size(64 << 10)
}

/// Large enough for all messages of the test.
fn with_large_buffer(session: Builder) -> Builder {
    start(session).buffer_size(4 << 20)
}

/// Checks that the trace and the summary agree. Returns the statistics.
#[track_caller]
fn check(trace: &Trace) -> BufferStats {
    let ours = trace.summary.buffer;
    let read = trace.log().stats().buffer.expect("statistics");
    assert_eq!(
        [read.size, read.high_water, read.chunks_discarded],
        [ours.size, ours.high_water, ours.chunks_discarded]
    );
    assert_eq!(
        [read.chunks_written, read.chunks_read, read.chunks_overwritten],
        [ours.chunks_written, ours.chunks_read, ours.chunks_overwritten]
    );
    assert_eq!(
        [read.bytes_written, read.bytes_read, read.bytes_overwritten],
        [ours.bytes_written, ours.bytes_read, ours.bytes_overwritten]
    );
    let sql = "select name, value from stats where name in ('traced_buf_chunks_written', \
               'traced_buf_bytes_written', 'traced_buf_chunks_read', 'traced_buf_chunks_overwritten', \
               'traced_buf_buffer_size') order by name";
    if let Some(table) = trace.query(sql) {
        let expected = format!(
            "traced_buf_buffer_size | {}\ntraced_buf_bytes_written | {}\ntraced_buf_chunks_overwritten | {}\n\
             traced_buf_chunks_read | {}\ntraced_buf_chunks_written | {}\n",
            ours.size,
            ours.bytes_written,
            ours.chunks_overwritten,
            ours.chunks_read,
            ours.chunks_written
        );
        assert_eq!(table.to_string(), expected);
    }
    trace.check_stats();
    assert_eq!(ours.size, 64 << 10);
    assert!(ours.high_water <= ours.size, "{ours:?}");
    ours
}

#[test]
fn buffer_statistics_of_a_stream() {
    let recording = record(start);
    let before = recording.session().summary();
    assert_eq!(before.buffer.chunks_written, 0);
    for number in 0..2_000u64 {
        i!(Log::Work, "%d", number);
        if number % 100 == 0 {
            recording.session().flush().unwrap();
        }
    }
    recording.session().flush().unwrap();
    let during = recording.session().summary();
    assert_eq!((during.messages, during.lost()), (2_000, 0));
    let trace = recording.stop();
    let stats = check(&trace);
    assert_eq!(stats.chunks_written, stats.chunks_read);
    assert_eq!(stats.bytes_written, stats.bytes_read);
    // One chunk of 292 bytes, one of 1020, then chunks of 4088; this thread still owns the last
    // one.
    assert!(stats.chunks_written >= 5, "{stats:?}");
    assert_eq!(stats.bytes_written, 292 + 1020 + (stats.chunks_written - 2) * 4088);
    assert!(during.buffer.chunks_written <= stats.chunks_written && stats.high_water >= 4088);
    assert_eq!((stats.chunks_overwritten, stats.chunks_discarded), (0, 0));
}

#[test]
fn buffer_statistics_of_a_ring_buffer() {
    let recording = record(|session| start(session).keep_newest());
    (0..20_000u64).for_each(|number| i!(Log::Work, "%d", number));
    let snapshot = check(&recording.snapshot());
    (0..20_000u64).for_each(|number| i!(Log::Work, "%d", number));
    let stats = check(&recording.stop());
    assert!(stats.chunks_overwritten > snapshot.chunks_overwritten, "{snapshot:?} {stats:?}");
    assert!(snapshot.chunks_overwritten > 10, "{snapshot:?}");
    assert_eq!(stats.chunks_read, 0);
    let left = stats.bytes_written - stats.bytes_overwritten;
    assert!(left <= stats.size && left > stats.size / 2, "{stats:?}");
}

#[test]
fn buffer_statistics_of_a_file_that_can_not_be_written() {
    let _lock = lock_sessions();
    let session = start(Session::builder()).file("/dev/full").start().unwrap();
    for number in 0..3_000u64 {
        i!(Log::Work, "%d", number);
    }
    assert!(session.flush().is_err());
    let stats = session.summary().buffer;
    let consumed = stats.chunks_read + stats.chunks_discarded;
    assert!(stats.chunks_written > 3 && consumed <= stats.chunks_written, "{stats:?}");
    assert!(session.stop().is_err());
}
