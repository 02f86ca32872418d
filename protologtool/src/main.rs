//! The command `protologtool`; everything it does is in the library.

use protologtool::{cli, first_process, system::Real, worker};
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    first_process::end_by_signals();
    let args: Vec<OsString> = std::env::args_os().collect();
    match worker::arguments(&args) {
        Some(args) => worker::serve(&args, &mut io::stdin().lock(), &mut io::stdout().lock()),
        None => cli::run(args, &Real),
    }
    .into()
}
