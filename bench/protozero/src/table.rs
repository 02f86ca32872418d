//! Tables in Markdown.

use std::fmt::Write;

use crate::count::Counts;
use crate::memory::Shape;
use crate::time::{ROUNDS, SETTINGS, Times};
use crate::writers::WRITERS;

/// The text above the figures.
pub(crate) fn caption() -> String {
    format!(
        "ProtoZero's benchmark, {}. Nanoseconds a message and how many times those of the speed of light; best of \
         {ROUNDS} interleaved rounds. Instructions a message by callgrind, seed's values.",
        env!("CXX_VERSION")
    )
}

/// The table of one shape; `bytes` are those of a message with the seed's values.
pub(crate) fn of(shape: Shape, times: &Times, counts: &Counts, bytes: &[usize]) -> String {
    let mut text = format!("| {shape} | bytes |");
    for setting in SETTINGS {
        let _ = write!(text, " {} |", setting.name);
    }
    text.push_str(" instructions |\n| --- | --: |");
    text.push_str(&" --: |".repeat(SETTINGS.len()));
    text.push_str(" --: |\n");
    for (index, writer) in WRITERS.iter().enumerate() {
        let _ = write!(text, "| {} | {} |", writer.name, bytes[index]);
        for (time, floor) in times[index].iter().zip(&times[0]) {
            let _ = write!(text, " {time:.1} ({:.1}×) |", time / floor);
        }
        let _ = writeln!(text, " {:.0} |", counts[index]);
    }
    text
}

/// The work of each writer.
pub(crate) fn legend() -> String {
    let lines = WRITERS.iter().map(|writer| format!("- {}: {}\n", writer.name, writer.what));
    lines.collect()
}
