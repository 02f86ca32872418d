//! `man` and `completions`: made from the table of flags, so that they can't fall behind it.

use crate::cli::{self, Completions, Exit, Failure, Man};
use crate::output::reason;
use crate::system::System;
use std::io;

/// `man`: the page of the tool, or of one command.
pub(super) fn manual(args: &Man, system: &dyn System) -> Result<Exit, Failure> {
    let mut table = cli::table();
    table.build();
    let table = match &args.command {
        None => table,
        Some(name) => table.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::new(format!("no command `{name}`"))
                .help("run `protologtool --help` for the list of commands")
        })?,
    };
    let mut page = Vec::new();
    show(clap_mangen::Man::new(table).render(&mut page), &page, system)
}

/// `completions`: a script for a shell.
pub(super) fn completions(args: &Completions, system: &dyn System) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::table(), "protologtool", &mut script);
    show(Ok(()), &script, system)
}

fn show(made: io::Result<()>, text: &[u8], system: &dyn System) -> Result<Exit, Failure> {
    match made.and_then(|()| system.write_output(text)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("can't write the page: {}", reason(&error))))
        }
        _ => Ok(Exit::Done),
    }
}
