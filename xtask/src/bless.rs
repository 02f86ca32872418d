//! `cargo xtask bless`: the tests rewrite their expectations, and git says which.

use std::process::Command;

use crate::release::api;
use crate::{Result, instructions, shell, workspace};

/// Runs `cargo test` with `args` (none: the whole workspace) under `UPDATE_EXPECT=1`; or, for
/// `instructions`, counts them anew; for `api`, lists the public interface anew.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let tested = if args == ["instructions"] {
        instructions::bless()
    } else if args == ["api"] {
        api::bless()
    } else {
        let mut test = shell::cargo(&["test"]);
        if args.is_empty() {
            test.arg("--workspace");
        }
        shell::run(test.args(args).env("UPDATE_EXPECT", "1"))
    };
    println!("\nthe working tree differs from the last commit in:");
    shell::run(Command::new("git").args(["status", "--short"]).current_dir(workspace::root()))?;
    tested
}
