//! Several users in one test: attackers, their victims, and root among them.
//!
//! A test that plays an attacker needs processes of users who may not touch each other's files, in
//! directories that all of them share, such as `/tmp`. [`with_users`] runs the test again in
//! namespaces of its own: of mounts, where `/tmp`, `/run` and `/dev/shm` are new and empty, and of
//! processes, so that nothing stays behind. Root is root there, and the others are ids that no
//! account has; who runs the tests without being root is root of a namespace of users.
//!
//! ```no_run
//! #[test]
//! fn files_of_root_are_not_read() {
//!     protolog_testkit::with_users("files_of_root_are_not_read", &[], |users| {
//!         let output = protolog_testkit::run_any(users.command(users.intruder, "id").arg("-u"));
//!         assert_eq!(output.stdout.trim(), users.intruder.to_string());
//!     });
//! }
//! ```
//!
//! A part that another user plays is a test of the same program, a *role*, which does nothing
//! unless it finds the variable that [`Users::role`] sets.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::command::{Output, run, run_any};
use crate::{skip, temp_dir, tool};

/// Set in the namespaces.
const INSIDE: &str = "PROTOLOG_TESTKIT_USERS";
/// Set for roles, to what they are given.
const ROLE: &str = "PROTOLOG_TESTKIT_ROLE";
/// The directory of programs that every user may run, in the one that all users share.
const PROGRAMS: &str = ".programs";
const SHARED: &str = "/tmp";
/// The first id that is tried for a user without an account.
const FIRST: u32 = 54_001;

/// Makes the surroundings, in the directory `$1`, with the programs that follow up to `--`; then
/// starts what comes last.
const SURROUNDINGS: &str = r#"
set -e
stage=$1
shift
mount -t tmpfs -o mode=1777 tmpfs "$stage"
mkdir -m 755 "$stage/.programs"
while [ "$1" != -- ]; do
    touch "$stage/.programs/${1##*/}"
    mount --bind "$1" "$stage/.programs/${1##*/}"
    shift
done
shift
mount --rbind "$stage" /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -m 755 /run/user
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
cd /
exec "$@"
"#;

/// Users who may not touch each other's files. The test itself is root.
#[derive(Debug)]
pub struct Users {
    /// A user without rights, who is up to no good.
    pub intruder: u32,
    /// Another user without rights.
    pub victim: u32,
    /// A user of this test alone. What a user may have is counted over the whole machine: the
    /// threads of other tests' victims would count, too.
    pub limited: u32,
}

/// Runs `body` as root among other users, if the system lets it. `test` is the full name of the
/// test that calls it, and `programs` have to be run within, by any user: see [`Users::program`].
///
/// # Panics
///
/// If `body` does; and in CI, if there can be no namespaces.
pub fn with_users(test: &str, programs: &[&Path], body: impl FnOnce(&Users)) {
    if env::var_os(INSIDE).is_some_and(|inside| inside == test) {
        let mut free = (FIRST..).filter(|id| !has_account(*id));
        let mut next = || free.next().expect("an id that no account has");
        let (intruder, victim) = (next(), next());
        let of_test =
            test.bytes().fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let first = FIRST + 1_000 + of_test % 8_000;
        let limited = (first..first + 1_000).find(|id| !has_account(*id));
        let limited = limited.expect("an id that no account has");
        return body(&Users { intruder, victim, limited });
    }
    let Some(mut unshare) = namespaces() else { return };
    let (stage, own) = (temp_dir(), env::current_exe().expect("this program"));
    unshare.args(["sh", "-c", SURROUNDINGS, "surroundings"]).arg(stage.path());
    unshare.arg(&own).args(programs).arg("--").arg(place_of(&own));
    unshare.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    for (variable, _) in env::vars_os() {
        let name = variable.to_string_lossy();
        if name.starts_with("XDG_") || name.starts_with("PROTOLOG") && name != "PROTOLOG_SKIPPED" {
            unshare.env_remove(&variable);
        }
    }
    let output = run(unshare.env(INSIDE, test).env("TMPDIR", SHARED));
    assert!(output.stdout.contains("1 passed"), "there is no test `{test}`: {}", output.stdout);
}

/// The command that makes namespaces for the command that follows.
fn namespaces() -> Option<Command> {
    let (unshare, _) = (tool("unshare")?, tool("setpriv")?);
    let own = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    let of_users = ["--user", "--map-root-user", "--map-auto"];
    let mut why = String::new();
    for more in [&[][..], &of_users] {
        let made = || {
            let mut command = Command::new(&unshare);
            command.args(own).args(more);
            command
        };
        let mut tried = made();
        let switch = ["setpriv", "--reuid", "1", "--regid", "1", "--clear-groups", "true"];
        let Output { code, stderr, .. } = run_any(tried.args(switch));
        if code == Some(0) {
            return Some(made());
        }
        why = stderr;
    }
    skip("what other users could do", &format!("there are no namespaces: {}", why.trim()));
    None
}

fn has_account(id: u32) -> bool {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    accounts.lines().any(|line| line.split(':').nth(2) == Some(&id.to_string()))
}

fn place_of(program: &Path) -> PathBuf {
    Path::new(SHARED).join(PROGRAMS).join(program.file_name().expect("the name of a program"))
}

impl Users {
    /// A command that runs as `user`, in surroundings that say nothing of the user who runs the
    /// tests.
    pub fn command(&self, user: u32, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        let id = user.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(program);
        command.current_dir("/").env_remove("HOME");
        command
    }

    /// The program among those that [`with_users`] was given, where every user may run it.
    pub fn program(&self, program: &Path) -> PathBuf {
        place_of(program)
    }

    /// Starts the test of this name as `user`, with `given` for it to find by [`role`], and waits
    /// until it prints the line `ready`.
    ///
    /// # Panics
    ///
    /// If it ends before.
    pub fn role(&self, user: u32, test: &str, given: &str) -> Running {
        let own = env::current_exe().expect("this program");
        let mut command = self.command(user, own);
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ROLE, given);
        Running::start(&mut command)
    }
}

/// True within [`with_users`].
pub fn among_users() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Returns the role that [`Users::role`] was given, in a process that it started; none in any
/// other.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// A process that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts a process, and waits until it prints the line `ready`.
    ///
    /// # Panics
    ///
    /// If it can't be started, or ends before.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("can't start {command:?}: {error}"));
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut running = Self { child, lines };
        running.wait_for("ready");
        running
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it prints this line, and returns the lines before.
    ///
    /// # Panics
    ///
    /// If it ends before.
    pub fn wait_for(&mut self, line: &str) -> Vec<String> {
        let mut before = Vec::new();
        for next in self.lines.by_ref() {
            let next = next.expect("text");
            if next == line {
                return before;
            }
            before.push(next);
        }
        panic!("it ended before it printed `{line}`: {before:?}");
    }

    /// Waits until it has ended, and returns its other lines; a failure of its test is one here.
    ///
    /// # Panics
    ///
    /// If it failed.
    pub fn finish(mut self) -> Vec<String> {
        let rest: Vec<_> = self.lines.by_ref().map_while(Result::ok).collect();
        let status = self.child.wait().expect("its exit code");
        assert!(status.success(), "{status}: {}", rest.join("\n"));
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
