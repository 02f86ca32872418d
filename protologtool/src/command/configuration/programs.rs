//! The programs that are meant: found, connected to, several at a time.

use super::args::Choice;
use super::process::ProcessName;
use crate::command::suggest::did_you_mean;
use crate::exit::Failure;
use crate::system::System;
use protolog_control::{Error, Program, REPLY_TIMEOUT, Socket, find_sockets};
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of programs that are asked at once, so that one that hangs delays only a part of
/// them.
const AT_ONCE: usize = 16;

/// The programs, in the order of their names and process ids.
pub(super) struct Programs {
    pub(super) all: Vec<Program>,
    /// True if one of them could not be asked, or refused.
    pub(super) failed: bool,
}

impl Programs {
    /// Finds those that are meant, which may be none only if `may_miss` says so. What can't be
    /// asked is said.
    pub(super) fn find(
        choice: &Choice,
        may_miss: bool,
        system: &dyn System,
    ) -> Result<Self, Failure> {
        let found = find_sockets(choice.whose());
        let mut programs = Self { all: Vec::new(), failed: false };
        for error in &found.failed {
            programs.failed = true;
            system.print_error(&format!("warning: {error}\nhelp: {}\n", error.help()));
        }
        for path in found.refused {
            let what = "is not looked into, since others can enter or replace it";
            let help = "remove it, or make it its owner's only, where others can't rename it";
            let path = path.display();
            system.print_error(&format!("warning: `{path}` {what}\nhelp: {help}\n"));
        }
        for (socket, connected) in connect(&found.sockets) {
            let error = match connected {
                Ok(program) => {
                    programs.all.push(program);
                    continue;
                }
                // Its name will never be another's.
                Err(Error::Ended) => match socket.remove_if_dead() {
                    Ok(true) => continue,
                    Ok(false) => Error::Connection(io::ErrorKind::ConnectionAborted.into()),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            programs.warn(&format!("`{}`", socket.path().display()), &error, system);
        }
        let is_meant = |program: &Program| {
            (choice.pid.is_empty() || choice.pid.contains(&program.pid))
                && (choice.name.is_empty() || choice.name.contains(&program.name))
        };
        let all: BTreeSet<String> = programs.all.iter().map(|one| one.name.clone()).collect();
        programs.all.retain(is_meant);
        for program in &programs.all {
            if let Some((claimed, number)) = &program.claims {
                let name = ProcessName::of(program);
                let claim = format!("says that it is `{claimed}` (pid {number})");
                let help = "check which program it is before you believe the rest";
                system.print_error(&format!("warning: {name} {claim}\nhelp: {help}\n"));
            }
        }
        programs.tell_other_users(choice, system);
        programs.all.sort_by(|one, other| (&one.name, one.pid).cmp(&(&other.name, other.pid)));
        if programs.all.is_empty()
            && !may_miss
            && !(choice.pid.is_empty() && choice.name.is_empty())
        {
            let pids = choice.pid.iter().map(u32::to_string);
            let which: Vec<_> = pids.chain(choice.name.iter().cloned()).collect();
            let close = choice.name.first().map(|name| did_you_mean(name, &all));
            let message = format!("no program `{}` listens", which.join("`, `"));
            return Err(Failure::new(message + &close.unwrap_or_default()).help(
                "run `protologtool configuration groups status --json` to see which programs do",
            ));
        }
        Ok(programs)
    }

    /// Says that there are programs of other users among them. Who names a process id knows that.
    fn tell_other_users(&self, choice: &Choice, system: &dyn System) {
        let others = self.all.iter().filter(|program| program.is_other_users());
        let users: BTreeSet<u32> = others.clone().map(Program::user).collect();
        if users.is_empty() || !choice.pid.is_empty() {
            return;
        }
        let (count, all) = (others.count(), self.all.len());
        let users: Vec<String> = users.iter().map(u32::to_string).collect();
        let users = users.join(", ");
        system.print_error(&format!(
            "note: {count} of {all} programs are those of other users ({users})\n\
             help: leave them out with `--own`\n"
        ));
    }

    /// Says that something went wrong with one of them.
    pub(super) fn warn(&mut self, whom: &str, error: &Error, system: &dyn System) {
        self.failed = true;
        system.print_error(&format!("warning: {whom}: {error}\nhelp: {}\n", error.help()));
    }

    /// Asks each program, several at once, and gives the answers in their order. What goes wrong is
    /// said.
    pub(super) fn each<T: Send>(
        &mut self,
        ask: impl Fn(&mut Program) -> Result<T, Error> + Sync,
        system: &dyn System,
    ) -> Vec<(ProcessName, T)> {
        let size = self.all.len().div_ceil(AT_ONCE).max(1);
        let ask = &ask;
        let answers: Vec<_> = std::thread::scope(|scope| {
            let parts = self.all.chunks_mut(size);
            let threads: Vec<_> = parts
                .map(|part| scope.spawn(move || part.iter_mut().map(ask).collect::<Vec<_>>()))
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let names: Vec<_> = self.all.iter().map(ProcessName::of).collect();
        let mut given = Vec::new();
        for (name, answer) in names.into_iter().zip(answers) {
            match answer {
                Ok(answer) => given.push((name, answer)),
                Err(error) => self.warn(&name.to_string(), &error, system),
            }
        }
        given
    }
}

/// Connects to all of them, several at once.
fn connect(sockets: &[Socket]) -> Vec<(&Socket, Result<Program, Error>)> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(socket) = sockets.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((socket, Program::connect_to(socket, REPLY_TIMEOUT)));
        }
        done
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..AT_ONCE.min(sockets.len())).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}
