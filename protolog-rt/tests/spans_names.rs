//! Names of spans that a chunk has once: of many calls, in many chunks, as our reader and
//! Perfetto's trace_processor show them.

mod common;
#[path = "common/spans.rs"]
mod spans;

use common::record;
use protolog_rt::{Builder, ProtoLogGroup, span};
use spans::{read, slices};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
    Disk,
}

/// A call with a name of its own, in a function of its own.
macro_rules! sites {
    ($($group:ident $function:ident $template:literal,)*) => {
        $(fn $function(number: u64, text: &str) {
            let _span = span!(Log::$group, $template, left = number, text);
        })*
        const SITES: &[(&str, &str, fn(u64, &str))] =
            &[$((stringify!($group), stringify!($function), $function)),*];
    };
}

sites! {
    Net site0 "site0 %d of %s", Disk site1 "site1 %d of %s",
    Net site2 "site2 %d of %s", Disk site3 "site3 %d of %s",
    Net site4 "site4 %d of %s", Disk site5 "site5 %d of %s",
    Net site6 "site6 %d of %s", Disk site7 "site7 %d of %s",
    Net site8 "site8 %d of %s", Disk site9 "site9 %d of %s",
    Net site10 "site10 %d of %s", Disk site11 "site11 %d of %s",
    Net site12 "site12 %d of %s", Disk site13 "site13 %d of %s",
    Net site14 "site14 %d of %s", Disk site15 "site15 %d of %s",
    Net site16 "site16 %d of %s", Disk site17 "site17 %d of %s",
    Net site18 "site18 %d of %s", Disk site19 "site19 %d of %s",
    Net site20 "site20 %d of %s", Disk site21 "site21 %d of %s",
    Net site22 "site22 %d of %s", Disk site23 "site23 %d of %s",
    Net site24 "site24 %d of %s", Disk site25 "site25 %d of %s",
    Net site26 "site26 %d of %s", Disk site27 "site27 %d of %s",
    Net site28 "site28 %d of %s", Disk site29 "site29 %d of %s",
    Net site30 "site30 %d of %s", Disk site31 "site31 %d of %s",
    Net site32 "site32 %d of %s", Disk site33 "site33 %d of %s",
    Net site34 "site34 %d of %s", Disk site35 "site35 %d of %s",
    Net site36 "site36 %d of %s", Disk site37 "site37 %d of %s",
    Net site38 "site38 %d of %s", Disk site39 "site39 %d of %s",
    Net site40 "site40 %d of %s", Disk site41 "site41 %d of %s",
    Net site42 "site42 %d of %s", Disk site43 "site43 %d of %s",
    Net site44 "site44 %d of %s", Disk site45 "site45 %d of %s",
    Net site46 "site46 %d of %s", Disk site47 "site47 %d of %s",
    Net site48 "site48 %d of %s", Disk site49 "site49 %d of %s",
    Net site50 "site50 %d of %s", Disk site51 "site51 %d of %s",
    Net site52 "site52 %d of %s", Disk site53 "site53 %d of %s",
    Net site54 "site54 %d of %s", Disk site55 "site55 %d of %s",
    Net site56 "site56 %d of %s", Disk site57 "site57 %d of %s",
    Net site58 "site58 %d of %s", Disk site59 "site59 %d of %s",
    Net site60 "site60 %d of %s", Disk site61 "site61 %d of %s",
    Net site62 "site62 %d of %s", Disk site63 "site63 %d of %s",
    Net site64 "site64 %d of %s", Disk site65 "site65 %d of %s",
    Net site66 "site66 %d of %s", Disk site67 "site67 %d of %s",
    Net site68 "site68 %d of %s", Disk site69 "site69 %d of %s",
    Net site70 "site70 %d of %s", Disk site71 "site71 %d of %s",
    Net site72 "site72 %d of %s", Disk site73 "site73 %d of %s",
    Net site74 "site74 %d of %s", Disk site75 "site75 %d of %s",
    Net site76 "site76 %d of %s", Disk site77 "site77 %d of %s",
    Net site78 "site78 %d of %s", Disk site79 "site79 %d of %s",
    Net site80 "site80 %d of %s", Disk site81 "site81 %d of %s",
    Net site82 "site82 %d of %s", Disk site83 "site83 %d of %s",
    Net site84 "site84 %d of %s", Disk site85 "site85 %d of %s",
    Net site86 "site86 %d of %s", Disk site87 "site87 %d of %s",
    Net site88 "site88 %d of %s", Disk site89 "site89 %d of %s",
    Net site90 "site90 %d of %s", Disk site91 "site91 %d of %s",
    Net site92 "site92 %d of %s", Disk site93 "site93 %d of %s",
    Net site94 "site94 %d of %s", Disk site95 "site95 %d of %s",
    Net site96 "site96 %d of %s", Disk site97 "site97 %d of %s",
    Net site98 "site98 %d of %s", Disk site99 "site99 %d of %s",
    Net site100 "site100 %d of %s", Disk site101 "site101 %d of %s",
    Net site102 "site102 %d of %s", Disk site103 "site103 %d of %s",
    Net site104 "site104 %d of %s", Disk site105 "site105 %d of %s",
    Net site106 "site106 %d of %s", Disk site107 "site107 %d of %s",
    Net site108 "site108 %d of %s", Disk site109 "site109 %d of %s",
    Net site110 "site110 %d of %s", Disk site111 "site111 %d of %s",
    Net site112 "site112 %d of %s", Disk site113 "site113 %d of %s",
    Net site114 "site114 %d of %s", Disk site115 "site115 %d of %s",
    Net site116 "site116 %d of %s", Disk site117 "site117 %d of %s",
    Net site118 "site118 %d of %s", Disk site119 "site119 %d of %s",
    Net site120 "site120 %d of %s", Disk site121 "site121 %d of %s",
    Net site122 "site122 %d of %s", Disk site123 "site123 %d of %s",
    Net site124 "site124 %d of %s", Disk site125 "site125 %d of %s",
    Net site126 "site126 %d of %s", Disk site127 "site127 %d of %s",
    Net site128 "site128 %d of %s", Disk site129 "site129 %d of %s",
    Net site130 "site130 %d of %s", Disk site131 "site131 %d of %s",
    Net site132 "site132 %d of %s", Disk site133 "site133 %d of %s",
    Net site134 "site134 %d of %s", Disk site135 "site135 %d of %s",
    Net site136 "site136 %d of %s", Disk site137 "site137 %d of %s",
    Net site138 "site138 %d of %s", Disk site139 "site139 %d of %s",
}

/// More calls than a chunk has ids for, and more than its table has places: each slice has its own
/// names, whoever came first in its chunk.
#[test]
fn each_slice_has_the_names_of_its_call() {
    let recording = record(Builder::enable_all);
    let mut expected = Vec::new();
    let mut random = 1_u64;
    for turn in 0..4_000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Some often, others rarely.
        let among = [3, 20, SITES.len()][turn as usize % 3];
        let (group, name, site) = SITES[(random >> 33) as usize % among];
        let text = "x".repeat(random as usize >> 60);
        site(turn, &text);
        expected.push(format!("0 {name} spans_names::Log::{group} left={turn} 2={text}"));
    }
    let trace = recording.stop();
    let lines = slices(&trace);
    assert_eq!(lines.len(), expected.len());
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(line, expected);
    }
}

/// A span takes few bytes: its chunk has the names.
#[test]
fn names_are_written_once_for_each_chunk() {
    const SPANS: u64 = 10_000;
    let recording = record(Builder::enable_all);
    for turn in 0..SPANS {
        site0(turn, "text");
    }
    let trace = recording.stop();
    let bytes = std::fs::metadata(&trace.path).expect("the trace").len();
    assert!(bytes / SPANS < 72, "{} bytes a span", bytes / SPANS);
    assert_eq!(read(&trace).slices().len() as u64, SPANS);
}
