//! A program, as answers name it.

use protolog_control::Program;
use serde::Serialize;
use std::fmt;

/// Name, id and user of a program; in JSON, the first fields of each line. Its text names the user
/// only if that is another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct ProcessName {
    pub(super) program: String,
    pub(super) pid: u32,
    /// The id of its user.
    pub(super) user: u32,
    #[serde(skip)]
    pub(super) is_other_users: bool,
}

impl ProcessName {
    pub(super) fn of(program: &Program) -> Self {
        let (user, is_other_users) = (program.user(), program.is_other_users());
        Self { program: program.name.clone(), pid: program.pid, user, is_other_users }
    }
}

impl fmt::Display for ProcessName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, pid, user, is_other_users } = self;
        write!(f, "{program} (pid {pid}")?;
        if *is_other_users {
            write!(f, ", user {user}")?;
        }
        f.write_str(")")
    }
}
