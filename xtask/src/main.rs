//! The project's build script; `cargo xtask help` says what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
