//! The command `protologtool`; everything it does is in the library.

use protologtool::{cli, system::Real};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os(), &Real).into()
}
