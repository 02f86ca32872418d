//! Instructions of a message, counted by valgrind's callgrind: of two runs with different numbers
//! of messages the difference, so that nothing but the loop counts.

use std::process::{Command, Stdio};

use crate::memory::{Job, SLOT, Shape, Slot};
use crate::record::{Records, Values};
use crate::writers::WRITERS;

/// The name that tells this program to do one job under valgrind.
pub(crate) const COMMAND: &str = "count";

/// Passes of the shorter run, to get over what happens once, and of the longer one.
const PASSES: [usize; 2] = [20, 220];
const SLOTS: usize = 32;

/// Instructions a message of each writer with the seed's values.
pub(crate) type Counts = [f64; WRITERS.len()];

/// Counts one shape.
pub(crate) fn measure(shape: Shape) -> Result<Counts, String> {
    let mut counts = [0.0; WRITERS.len()];
    for (index, count) in counts.iter_mut().enumerate() {
        let [short, long] = PASSES;
        let more =
            instructions(index, shape, long)?.saturating_sub(instructions(index, shape, short)?);
        *count = more as f64 / ((long - short) * SLOTS) as f64;
    }
    Ok(counts)
}

/// Instructions of a whole run of this program.
fn instructions(writer: usize, shape: Shape, passes: usize) -> Result<u64, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("can't find this program: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([COMMAND, &writer.to_string(), &shape.to_string(), &passes.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start `valgrind`: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    count.ok_or_else(|| format!("no count in what valgrind says:\n{text}"))
}

/// The counted work: `passes` passes of one writer.
pub(crate) fn run(writer: &str, shape: &str, passes: &str, records: &Records) -> Option<()> {
    let writer = WRITERS.get(writer.parse::<usize>().ok()?)?;
    let shape =
        [Shape::Simple, Shape::Nested].into_iter().find(|known| known.to_string() == shape)?;
    let job = Job { shape, values: Values::Seed, passes: passes.parse().ok()? };
    let mut slots = vec![Slot([0; SLOT]); SLOTS];
    std::hint::black_box((writer.run)(job, &mut slots, records));
    Some(())
}
