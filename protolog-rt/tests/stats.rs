//! What a session says of its buffer: through the API, in the trace, and as Perfetto and our reader read it.

mod common;

use common::{Trace, alone, record};
use protolog_rt::{BufferStats, Builder, Level, ProtoLogGroup, Session, i};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

fn start(session: Builder) -> Builder {
    session.log_from(Level::Info).buffer_size(64 << 10)
}

/// What the trace says agrees with the summary; gives both.
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
fn of_a_stream() {
    let recording = record(start);
    let before = recording.session().so_far();
    assert_eq!(before.buffer.chunks_written, 0);
    for number in 0..2_000u64 {
        i!(Log::Work, "%d", number);
        if number % 100 == 0 {
            recording.session().flush().unwrap();
        }
    }
    let during = recording.session().so_far();
    assert_eq!((during.messages, during.lost()), (2_000, 0));
    let trace = recording.stop();
    let stats = check(&trace);
    assert_eq!(stats.chunks_written, stats.chunks_read);
    assert_eq!(stats.bytes_written, stats.bytes_read);
    // One chunk of 292 bytes, one of 1020, and then those of 4088; the last one is still this thread's.
    assert!(stats.chunks_written >= 5, "{stats:?}");
    assert_eq!(stats.bytes_written, 292 + 1020 + (stats.chunks_written - 2) * 4088);
    assert!(during.buffer.chunks_written <= stats.chunks_written && stats.high_water >= 4088);
    assert_eq!((stats.chunks_overwritten, stats.chunks_discarded), (0, 0));
}

#[test]
fn of_a_ring() {
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
fn of_a_file_that_can_not_be_written() {
    let _alone = alone();
    let session = start(Session::builder()).file("/dev/full").start().unwrap();
    for number in 0..3_000u64 {
        i!(Log::Work, "%d", number);
    }
    assert!(session.flush().is_err());
    let stats = session.so_far().buffer;
    let gone = stats.chunks_read + stats.chunks_discarded;
    assert!(stats.chunks_written > 3 && gone <= stats.chunks_written, "{stats:?}");
    assert!(session.stop().is_err());
}
