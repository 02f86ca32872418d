//! The slices of a trace, as our reader and trace_processor show them.
#![allow(dead_code)] // Each test binary uses a part.

use super::common::Trace;
use protolog_reader::{Log, SpanSlice};

/// Reads a trace with its spans.
pub(crate) fn read(trace: &Trace) -> Log {
    let bytes = std::fs::read(&trace.path).expect("read the trace");
    protolog_reader::Trace::from_bytes(bytes).with_slices().read().expect("a log")
}

/// Depth, name, category and arguments of each slice, in the order of their begins. Checks that
/// trace_processor, if there is one, has the same, with the same times.
#[track_caller]
pub(crate) fn slices(trace: &Trace) -> Vec<String> {
    let sql = "select slice.ts as ts, slice.dur as dur, depth || ' ' || slice.name || ' ' || category || ifnull((
            select group_concat(' ' || substr(key, 7) || '=' || display_value, '') from (
                select * from args where args.arg_set_id = slice.arg_set_id and key glob 'debug.*' order by id)), '')
            as line
        from slice join thread_track on slice.track_id = thread_track.id order by slice.ts, depth";
    let log = read(trace);
    let lines: Vec<String> = log.slices().iter().map(line).collect();
    if let Some(table) = trace.query(sql) {
        let duration = |slice: &SpanSlice| slice.duration().unwrap_or(-1).to_string();
        let row = |it: &SpanSlice| [it.begin.to_string(), line(it), duration(it)];
        let mut ours: Vec<_> = log.slices().iter().map(row).collect();
        let columns = ["ts", "line", "dur"].map(|name| table.texts(name));
        let row = |at: usize| columns.each_ref().map(|column| column[at].clone());
        let mut theirs: Vec<_> = (0..columns[0].len()).map(row).collect();
        // Spans of several threads may begin in one nanosecond.
        ours.sort();
        theirs.sort();
        assert_eq!(theirs, ours, "Perfetto, our reader");
    }
    trace.check_stats();
    lines
}

fn line(slice: &SpanSlice) -> String {
    let SpanSlice { name, target, depth, .. } = slice;
    let args = slice.args.iter().map(|arg| format!(" {}={}", arg.name, arg.value));
    format!("{depth} {name} {target}{}", args.collect::<String>())
}
