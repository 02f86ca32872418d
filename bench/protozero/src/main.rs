//! ProtoZero's own benchmark with all writers in one run: times, beside those of a writer that only
//! copies, and instructions per message.
//!
//! Without arguments it prints tables; `time` leaves the instructions out. `count` is for the runs
//! under valgrind.

mod check;
mod count;
mod memory;
mod record;
mod table;
mod time;
mod writers;

use std::process::ExitCode;

use memory::{Job, SLOT, Shape, Slot};
use record::{Records, Values};
use writers::WRITERS;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let records = Records::new();
    let done = match words[..] {
        [] => tables(&records, count::measure),
        ["time"] => tables(&records, |_| Ok([f64::NAN; WRITERS.len()])),
        [count::COMMAND, writer, shape, passes] => count::run(writer, shape, passes, &records)
            .ok_or_else(|| "no such writer, shape or number of passes".to_owned()),
        _ => Err("give no arguments, or `time`".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Checks, measures and prints everything.
fn tables(
    records: &Records,
    counts: impl Fn(Shape) -> Result<count::Counts, String>,
) -> Result<(), String> {
    check::all_agree()?;
    println!("{}", table::caption());
    for shape in [Shape::Simple, Shape::Nested] {
        let times = time::measure(shape, records);
        println!("\n{}", table::of(shape, &times, &counts(shape)?, &bytes(shape, records)));
    }
    println!("{}", table::legend());
    Ok(())
}

/// Bytes of a message of each writer, with the seed's values.
fn bytes(shape: Shape, records: &Records) -> Vec<usize> {
    let job = Job { shape, values: Values::Seed, passes: 1 };
    let length = |writer: &writers::Writer| (writer.run)(job, &mut [Slot([0; SLOT])], records);
    WRITERS.iter().map(length).collect()
}
