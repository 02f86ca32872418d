//! Limits on what this process may have, and tests in processes of their own for that.

use std::env;
use std::process::Command;

/// Runs a test in a process of its own, whose output goes to a pipe: a limit on the size of files
/// also holds for what the harness prints to a file. Returns false in that process, which is to do
/// the test.
pub(crate) fn ran_in_child(test: &str) -> bool {
    const CHILD: &str = "PROTOLOG_LIMITED_CHILD";
    let is_parent = env::var_os(CHILD).is_none();
    if is_parent {
        let mut child = Command::new(env::current_exe().expect("the test itself"));
        let output = protolog_testkit::run(child.args(["--exact", test]).env(CHILD, "1"));
        assert!(output.stdout.contains("1 passed"), "`{test}` is the name of a test");
    }
    is_parent
}

/// The type of a resource's number, of which each C library has its own.
#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// Limits a resource of this process while it lives.
pub(crate) struct Limit {
    resource: Resource,
    before: libc::rlimit,
}

impl Limit {
    pub(crate) fn new(resource: Resource, limit: u64) -> Self {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the kernel writes to a value of ours.
        assert_eq!(unsafe { libc::getrlimit(resource, &raw mut before) }, 0);
        let limited = Self { resource, before };
        limited.set(libc::rlimit { rlim_cur: limit, ..before });
        limited
    }

    fn set(&self, limit: libc::rlimit) {
        // SAFETY: the kernel reads a value of ours.
        assert_eq!(unsafe { libc::setrlimit(self.resource, &raw const limit) }, 0);
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        self.set(self.before);
    }
}
