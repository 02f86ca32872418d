//! The pager of `read-log`: where standard output is a terminal, a program such as `less` shows
//! what is longer than a screen.
//!
//! Invariants: a pager that can't be started is no reason to show nothing; the command ends after
//! its pager, so that both never use the terminal at once; and Ctrl-C is the pager's.

use crate::output::reason;
use crate::system::System;
use signal_hook::SigId;
use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::SIGQUIT;
use std::cell::RefCell;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The pager if none is chosen.
const USUAL: &str = "less";
/// The variables that choose one, the first that is set.
const VARIABLES: [&str; 2] = ["PROTOLOG_PAGER", "PAGER"];
/// The options of `less`, by its variable, unless the user has some: quit if all fits on the
/// screen, show colours and links, leave the text there.
const LESS: (&str, &str) = ("LESS", "FRX");

/// The signals that are the pager's.
#[cfg(unix)]
const SIGNALS: [i32; 2] = [SIGINT, SIGQUIT];
#[cfg(not(unix))]
const SIGNALS: [i32; 1] = [SIGINT];

/// The way of output to the terminal.
pub(crate) struct Pager<'a> {
    system: &'a dyn System,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: RefCell<ChildStdin>,
    signals: Vec<SigId>,
}

impl<'a> Pager<'a> {
    /// Starts the pager, if output is to a terminal and one is wanted.
    pub(crate) fn start(is_wanted: bool, system: &'a dyn System) -> Self {
        let is_terminal = || {
            let is_dumb = system.variable("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
            system.output_to_terminal() && !is_dumb
        };
        let process = (is_wanted && is_terminal()).then(|| Process::start(system)).flatten();
        Self { system, process }
    }

    /// Writes output.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` if the user has left the pager.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match &self.process {
            Some(process) => process.input.borrow_mut().write_all(bytes),
            None => self.system.write_output(bytes),
        }
    }

    /// Waits until the user has left the pager.
    pub(crate) fn finish(self) {
        let Some(Process { mut child, input, signals }) = self.process else { return };
        drop(input);
        let _ = child.wait();
        for signal in signals {
            signal_hook::low_level::unregister(signal);
        }
    }
}

impl Process {
    /// Starts the pager that the variables choose; none if that is no pager, or there is none.
    fn start(system: &dyn System) -> Option<Self> {
        let chosen = VARIABLES.into_iter().find_map(|name| system.variable(name));
        let command = chosen.as_deref().unwrap_or(USUAL);
        let mut words = command.split_ascii_whitespace();
        let program = words.next().filter(|program| *program != "cat")?;
        let mut process = Command::new(program);
        process.args(words).stdin(Stdio::piped());
        if system.variable(LESS.0).is_none() {
            process.env(LESS.0, LESS.1);
        }
        match process.spawn() {
            Ok(mut child) => {
                let input = RefCell::new(child.stdin.take()?);
                // With a handler, as the pager would inherit that they are ignored.
                let flag = Arc::new(AtomicBool::new(false));
                let handle = |signal| signal_hook::flag::register(signal, flag.clone()).ok();
                let signals = SIGNALS.into_iter().filter_map(handle).collect();
                Some(Self { child, input, signals })
            }
            Err(error) => {
                if chosen.is_some() {
                    system.print_error(&format!(
                        "warning: can't start the pager `{command}`: {}\nhelp: set `PROTOLOG_PAGER`, to `cat` for none\n",
                        reason(&error)
                    ));
                }
                None
            }
        }
    }
}
