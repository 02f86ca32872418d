//! The example in `docs/design/wire-format.md`: Perfetto and our reader read its bytes as the page
//! says.

mod common;

use protolog_reader::{Rendering, Trace};
use protolog_testkit::{check_trace, read_trace, temp_dir, workspace_root};
use std::fs;

/// The bytes in the page's `hex` blocks: the two-digit words at the start of each line.
fn example() -> Vec<u8> {
    let page = fs::read_to_string(workspace_root().join("docs/design/wire-format.md"));
    let page = page.expect("read the page");
    let blocks = page.split("```hex\n").skip(1).filter_map(|rest| rest.split("```").next());
    let byte = |word: &str| (word.len() == 2).then(|| u8::from_str_radix(word, 16).ok()).flatten();
    // Two or more spaces separate the bytes from their explanation.
    let line = |line: &'static str| {
        line.trim_start().split("  ").next().unwrap_or_default().split(' ').map_while(byte)
    };
    let blocks: Vec<&'static str> = blocks.map(|block| &*block.to_owned().leak()).collect();
    blocks.into_iter().flat_map(str::lines).flat_map(line).collect()
}

#[test]
fn the_example_is_a_valid_trace() {
    let dir = temp_dir();
    let path = dir.path().join("example.pftrace");
    fs::write(&path, example()).expect("write the example");

    let log = Trace::open(&path).expect("open the example").read().expect("read the example");
    let entries: Vec<_> = log.entries().collect();
    assert_eq!(entries.len(), 2);
    let thread = entries[0].thread();
    for (entry, time) in entries.iter().zip([60_000_001_234, 60_000_001_334]) {
        assert_eq!(entry.values().text(Rendering::Full), "sent 512 bytes to example.org");
        assert_eq!(entry.time(), time);
    }
    assert_eq!(
        (thread.pid, thread.tid, thread.name.as_deref()),
        (Some(4711), Some(4712), Some("worker"))
    );

    if let Some(packets) = check_trace(&path) {
        assert_eq!(packets.len(), 4);
    }
    let sql = "select ts, level, tag, message, location from protolog";
    let Some(reading) = read_trace(&path, &[sql]) else { return };
    assert_eq!(
        reading.tables[0].to_string(),
        "60000001234 | INFO | Net | sent 512 bytes to example.org | src/net.rs:12\n\
         60000001334 | INFO | Net | sent 512 bytes to example.org | src/net.rs:12\n"
    );
    assert_eq!((reading.error, reading.stats.to_string().as_str()), (None, ""));
}
