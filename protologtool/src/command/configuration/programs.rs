//! The programs that are meant: found, connected to, asked in rounds.
//!
//! Invariant: nothing here waits for a program but by [`ask_all`]; to close its connection may take
//! time, too ([`close`]).

use super::args::Choice;
use super::process::ProcessName;
use super::round::{ROUND, ask_all};
use crate::exit::{Exit, Failure};
use crate::suggest::did_you_mean;
use crate::system::System;
use protolog_control::{Error, Found, MAX_REPLY_BYTES, Program, Socket, Whose, find_sockets};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

/// The call by which a program listens to operators, for help lines.
pub(super) const LISTENS: &str = "`protolog_rt::init()`, or in Java `new Init().start()`";

/// The most programs that are named where many do not answer.
const NAMED: usize = 5;

/// The most warnings of programs of another user that are shown.
const WARNED: usize = 10;

/// The most bytes that the programs of one user answer in a round, in memory: one may answer a
/// quarter of it.
const REPLIES_OF_ONE_USER: usize = 4 * MAX_REPLY_BYTES;

/// The programs, in the order of their names and process ids.
pub(super) struct Programs {
    pub(super) all: Vec<Program>,
    /// True if one of them could not be asked, or refused.
    pub(super) failed: bool,
    /// True if some of other users were left out.
    pub(super) is_partial: bool,
}

impl Programs {
    /// Finds those that are meant, which may be none only if `may_miss` says so. Programs that
    /// can't be asked are reported.
    pub(super) fn find(
        choice: &Choice,
        may_miss: bool,
        system: &dyn System,
    ) -> Result<Self, Failure> {
        let found = find(choice.whose())?;
        let mut programs = Self { all: Vec::new(), failed: false, is_partial: false };
        programs.tell_left_out(&found, system);
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
        let (mut late, mut wrong) = (Vec::new(), Vec::new());
        for (socket, connected) in connect(&found.sockets, ROUND) {
            let path = || format!("`{}`", socket.path().display());
            match connected {
                Some(Ok(Some(program))) => programs.all.push(program),
                Some(Ok(None)) => {}
                Some(Err(error)) if !error.is_late() => {
                    wrong.push((socket.owner(), warning(&path(), &error)));
                }
                Some(Err(_)) | None => late.push(path()),
            }
        }
        programs.failed |= !wrong.is_empty();
        warn_all(wrong, system);
        programs.warn_of_late(&late, system);
        let all: BTreeSet<String> = programs.all.iter().map(|one| one.name.clone()).collect();
        let is_meant = |program: &Program| choice.means(program);
        let (meant, others) = std::mem::take(&mut programs.all).into_iter().partition(is_meant);
        programs.all = meant;
        close(others);
        programs.tell_claims(system);
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

    /// Reports the sockets and directories of other users that are left out.
    fn tell_left_out(&mut self, found: &Found, system: &dyn System) {
        for (user, count) in &found.left_out {
            let what = format!("{count} sockets and directories of user {user} are left out");
            let why = "since that user has too many";
            let help = "remove those of programs that have ended, or run as that user";
            system.print_error(&format!("warning: {what}, {why}\nhelp: {help}\n"));
        }
        if found.is_unfinished {
            let what = "not all directories of other users were looked into: there are too many";
            let help = "remove those that are not needed from the directory for temporary files";
            system.print_error(&format!("warning: {what}\nhelp: {help}\n"));
        }
        self.is_partial = found.is_unfinished || !found.left_out.is_empty();
    }

    /// The exit code, as far as the programs decide it.
    pub(super) fn exit(&self) -> Exit {
        match (self.failed, self.is_partial) {
            (true, _) => Exit::Failed,
            (_, true) => Exit::Incomplete,
            _ => Exit::Done,
        }
    }

    /// Says which programs give themselves another name.
    fn tell_claims(&self, system: &dyn System) {
        let claim = |program: &Program| {
            let (claimed, number) = program.claims.as_ref()?;
            let name = ProcessName::of(program);
            let claim = format!("says that it is `{claimed}` (pid {number})");
            let help = "check which program it is before you believe the rest";
            Some((program.user(), format!("warning: {name} {claim}\nhelp: {help}\n")))
        };
        warn_all(self.all.iter().filter_map(claim).collect(), system);
    }

    /// Says that there are programs of other users among them. A named process id implies that.
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
        system.print_error(&warning(whom, error));
    }

    /// Says in one line which of them did not answer in time.
    fn warn_of_late(&mut self, whom: &[String], system: &dyn System) {
        let error = Error::Connection(io::ErrorKind::TimedOut.into());
        match whom {
            [] => {}
            [one] => self.warn(one, &error, system),
            many => {
                self.failed = true;
                let (named, rest) = many.split_at(many.len().min(NAMED));
                let more = match rest.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let (count, named, help) = (many.len(), named.join(", "), error.help());
                let text = format!("{count} programs do not answer: {named}{more}");
                system.print_error(&format!("warning: {text}\nhelp: {help}\n"));
            }
        }
    }

    /// Asks each program, many at once, and gives the answers in their order. Failures are
    /// reported, and a program that does not answer in time is not among them any more.
    pub(super) fn each<T: Send + 'static>(
        &mut self,
        ask: impl Fn(&mut Program) -> Result<T, Error> + Send + Sync + 'static,
        system: &dyn System,
    ) -> Vec<(ProcessName, T)> {
        let all = std::mem::take(&mut self.all);
        let names: Vec<_> = all.iter().map(ProcessName::of).collect();
        let (mut given, mut late, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for (name, answer) in names.into_iter().zip(ask_each(all, ROUND, ask)) {
            let Some((program, answer)) = answer else {
                late.push(name.to_string());
                continue;
            };
            self.all.push(program);
            match answer {
                Ok(answer) => given.push((name, answer)),
                Err(error) if error.is_late() => late.push(name.to_string()),
                Err(error) => wrong.push((name.user, warning(&name.to_string(), &error))),
            }
        }
        self.failed |= !wrong.is_empty();
        warn_all(wrong, system);
        self.warn_of_late(&late, system);
        given
    }
}

/// Says that something went wrong with a program.
fn warning(whom: &str, error: &Error) -> String {
    format!("warning: {whom}: {error}\nhelp: {}\n", error.help())
}

/// Prints warnings of programs of these users. Of another user's only some are: each of a thousand
/// programs could have one.
pub(super) fn warn_all(all: Vec<(u32, String)>, system: &dyn System) {
    let own = rustix::process::geteuid().as_raw();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (user, text) in all {
        let count = counts.entry(user).or_default();
        *count += 1;
        if *count <= WARNED || user == own {
            system.print_error(&text);
        }
    }
    counts.remove(&own);
    for (user, count) in counts.into_iter().filter(|(_, count)| *count > WARNED) {
        let more = count - WARNED;
        system.print_error(&format!(
            "warning: the same or the like of {more} more programs of user {user}\n\
             help: leave out those of other users with `--own`\n"
        ));
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        close(std::mem::take(&mut self.all));
    }
}

/// Closes connections where nobody waits for it.
pub(super) fn close(programs: Vec<Program>) {
    if !programs.is_empty() {
        // Connections that can't be closed now are when this process ends.
        let _ = std::thread::Builder::new().spawn(move || drop(programs));
    }
}

/// Finds the sockets. Directories of others may be anything, too.
pub(super) fn find(whose: Whose) -> Result<Found, Failure> {
    let own = rustix::process::geteuid().as_raw();
    let found = ask_all([(own, whose)], ROUND, |whose, _| find_sockets(whose)).pop().flatten();
    found.ok_or_else(|| {
        Failure::new("the directories of programs can't be read in time")
            .help("leave out those of other users with `--own`")
    })
}

/// Connects to all of them, many at once; gives none for one that has ended, whose socket is
/// removed.
pub(super) fn connect(
    sockets: &[Socket],
    time: Duration,
) -> impl Iterator<Item = (&Socket, Option<Result<Option<Program>, Error>>)> {
    let all: Vec<_> = sockets.iter().map(|socket| (socket.owner(), socket.clone())).collect();
    let connect = |socket: Socket, deadline: Instant| {
        let left = deadline.saturating_duration_since(Instant::now());
        match Program::connect_to(&socket, left.max(Duration::from_millis(1))) {
            // Its name will never be another's.
            Err(Error::Ended) if socket.remove_if_dead()? => Ok(None),
            Err(Error::Ended) => Err(Error::Connection(io::ErrorKind::ConnectionAborted.into())),
            connected => connected.map(Some),
        }
    };
    sockets.iter().zip(ask_all(all, time, connect))
}

/// Asks each program, many at once, and gives it back with its answer; none of those that did not
/// answer in time.
pub(super) fn ask_each<T: Send + 'static>(
    programs: Vec<Program>,
    time: Duration,
    ask: impl Fn(&mut Program) -> T + Send + Sync + 'static,
) -> Vec<Option<(Program, T)>> {
    let mut budgets: BTreeMap<u32, Arc<AtomicUsize>> = BTreeMap::new();
    let all = programs.into_iter().map(|mut program| {
        let user = program.user();
        let new = || Arc::new(AtomicUsize::new(REPLIES_OF_ONE_USER));
        program.reply_within(Arc::clone(budgets.entry(user).or_insert_with(new)));
        (user, program)
    });
    let ask = move |mut program: Program, deadline| {
        program.reply_by(deadline);
        let answer = ask(&mut program);
        (program, answer)
    };
    ask_all(all, time, ask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Memory;

    #[test]
    fn a_user_with_many_programs_does_not_fill_the_terminal() {
        let own = rustix::process::geteuid().as_raw();
        let all = (0..1000).map(|number| (own + 1 + number % 2, format!("warning: {number}\n")));
        let system = Memory::default();
        warn_all(all.chain([(own, "warning: own\n".into())]).collect(), &system);
        let errors = system.errors();
        assert_eq!(errors.lines().count(), 2 * WARNED + 4 + 1, "{errors}");
        assert!(errors.contains("warning: own\n"), "{errors}");
        assert!(errors.contains("of 490 more programs of user"), "{errors}");
    }
}
