//! `configuration`: groups of running programs, listed and switched; traces started and stopped in
//! them.
//!
//! The counterpart of Android's `cmd protolog_configuration`, in its words where they are right;
//! the tool does the same when it is called `protolog_configuration`. Target processes are asked
//! over their sockets and switched through their memory, see docs/design/control.md.
//!
//! Invariants: a program that hangs or has ended, whoever it belongs to, delays a command by a
//! round at most (`round.rs`); each failure is reported, and sets the exit code.

mod args;
mod groups;
mod process;
mod programs;
pub(crate) mod remote;
mod round;
mod site;
mod state;
mod switch;
mod top;
mod trace;
mod unknown;
mod values;

pub(crate) use args::ConfigurationArgs;
pub(crate) use top::{TopArgs, run as run_top};

use crate::exit::{Exit, Failure};
use crate::system::System;
use args::{Action, GroupsAction, Logcat, SiteAction, Trace};
use programs::{LISTENS, Programs};

/// Runs the command.
pub(crate) fn run(args: &ConfigurationArgs, system: &dyn System) -> Result<Exit, Failure> {
    // A program whose state is to be remembered need not run now.
    let persist = match &args.command {
        Action::Logcat { command: Logcat::Enable(args) | Logcat::Disable(args) } => args.persist,
        Action::Level(args) => args.persist,
        Action::Limit(args) => args.persist,
        Action::Sample(args) => args.persist,
        Action::Repeat(args) => args.persist,
        Action::Trace { command: Trace::Limit(args) } => args.persist,
        Action::Site {
            command:
                SiteAction::Enable { calls, .. } | SiteAction::Disable(calls) | SiteAction::Reset(calls),
        } => calls.persist,
        _ => false,
    };
    let mut programs = Programs::find(&args.choice, persist, system)?;
    let is_start = matches!(args.command, Action::Trace { command: Trace::Start(_) });
    if programs.all.is_empty() && !persist && !is_start {
        let help = format!("start one of this user that calls {LISTENS}");
        system.print_error(&format!("note: no program listens\nhelp: {help}\n"));
    }
    let json = args.choice.json;
    match &args.command {
        Action::Groups { command: GroupsAction::List } => groups::list(&mut programs, json, system),
        Action::Groups { command: GroupsAction::Status { groups } } => {
            groups::status(&mut programs, groups, json, system);
        }
        Action::Groups { command: GroupsAction::Names } => groups::names(&mut programs, system),
        Action::Logcat { command } => {
            let (Logcat::Enable(logcat) | Logcat::Disable(logcat)) = command;
            let from = matches!(command, Logcat::Enable(_)).then_some(logcat.level);
            let change = switch::LevelChange::logcat(&logcat.groups, from);
            switch::run(&mut programs, &change, logcat.persist, &args.choice, system)?;
        }
        Action::Level(level) => {
            let change =
                switch::LevelChange::level(&level.group, level.level.0, level.text, level.trace);
            switch::run(&mut programs, &change, level.persist, &args.choice, system)?;
        }
        Action::Site { command } => {
            site::run(&mut programs, command, &args.choice, system)?;
        }
        Action::Limit(limit) => site::run_limit(&mut programs, limit, &args.choice, system)?,
        Action::Sample(rate) => site::run_sample(&mut programs, rate, &args.choice, system)?,
        Action::Repeat(repeat) => site::run_repeat(&mut programs, repeat, &args.choice, system)?,
        Action::Trace { command: Trace::Start(start) } => {
            trace::start(&mut programs, start, json, system)?;
        }
        Action::Trace { command: Trace::Stop } => trace::stop(&mut programs, json, system),
        Action::Trace { command: Trace::Trigger { cause } } => {
            trace::trigger(&mut programs, cause, json, system);
        }
        Action::Trace { command: Trace::Limit(limit) } => {
            trace::limit(&mut programs, limit, &args.choice, system)?;
        }
        Action::Trace { command: Trace::Status } => trace::status(&mut programs, json, system),
        Action::Stats => trace::stats(&mut programs, json, system),
    }
    Ok(programs.exit())
}
