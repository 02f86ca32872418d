//! `protologtool-fleet`: logs for many machines, out of traces into what people run.
//!
//! ```text
//! $ protologtool export parquet -o archive traces/
//! $ protologtool-fleet read archive
//! $ protologtool-fleet otlp http://localhost:4318 --follow traces/
//! ```
//!
//! `protologtool export` runs this program. It is apart from that, so that nobody who only reads
//! logs has to compile Parquet or HTTP.
//!
//! Exit codes: 0 done, 2 usage, or a file that can't be read or written, 3 data that is incomplete.

mod archive;
mod args;
mod cli;
mod failure;
mod otlp;
mod percent;
mod traces;

use std::process::ExitCode;

use failure::say;

fn main() -> ExitCode {
    let done = cli::parse(std::env::args_os()).and_then(cli::Request::run);
    match done {
        Ok(end) => ExitCode::from(end as u8),
        Err(failure) => {
            say(&failure);
            ExitCode::from(2)
        }
    }
}
