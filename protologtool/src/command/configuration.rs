//! `configuration`: groups of running programs, listed and switched; traces started and stopped in them.
//!
//! What `cmd protolog_configuration` is on Android, in its words where they are right; the same when the tool is called by
//! the name `protolog_configuration`. Programs are asked over their sockets and switched through their memory, see
//! docs/design/control.md.
//!
//! Invariants: a program that hangs or is gone costs the others nothing; what could not be done is said, and is the exit code.

mod args;
mod groups;
mod programs;
mod state;
mod switch;
mod trace;

pub(crate) use args::ConfigurationArgs;

use crate::cli::{Exit, Failure};
use crate::system::System;
use args::{Action, GroupsAction, Logcat, Trace};
use programs::Programs;

/// Runs the command.
pub(super) fn run(args: &ConfigurationArgs, system: &dyn System) -> Result<Exit, Failure> {
    // A program whose state is to be remembered need not run now.
    let persist = match &args.command {
        Action::Logcat { command: Logcat::Enable(args) | Logcat::Disable(args) } => args.persist,
        Action::Level(args) => args.persist,
        _ => false,
    };
    let mut programs = Programs::find(&args.choice, persist, system)?;
    let json = args.choice.json;
    match &args.command {
        Action::GroupsAction { command: GroupsAction::List } => {
            groups::list(&mut programs, json, system)
        }
        Action::GroupsAction { command: GroupsAction::Status { groups } } => {
            groups::status(&mut programs, groups, json, system);
        }
        Action::GroupsAction { command: GroupsAction::Names } => {
            groups::names(&mut programs, system)
        }
        Action::Logcat { command } => {
            let (Logcat::Enable(logcat) | Logcat::Disable(logcat)) = command;
            let from = matches!(command, Logcat::Enable(_)).then_some(logcat.level);
            let wish = switch::Wish::logcat(&logcat.groups, from);
            switch::run(&mut programs, &wish, logcat.persist, &args.choice, system)?;
        }
        Action::Level(level) => {
            let wish = switch::Wish::level(&level.group, level.level.0, level.text, level.trace);
            switch::run(&mut programs, &wish, level.persist, &args.choice, system)?;
        }
        Action::Trace { command: Trace::Start(start) } => {
            trace::start(&mut programs, start, json, system)?;
        }
        Action::Trace { command: Trace::Stop } => trace::stop(&mut programs, json, system),
        Action::Trace { command: Trace::Status } => trace::status(&mut programs, json, system),
        Action::Stats => trace::stats(&mut programs, json, system),
    }
    Ok(if programs.failed { Exit::Failed } else { Exit::Done })
}
