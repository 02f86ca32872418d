//! The way of a page's address into a browser of this user.
//!
//! The address with the code stands in a file that only this user can read, and the browser is
//! given the name of that file: arguments of programs can be read by everybody. The file goes when
//! its code was used or is too old, or at the end.
//!
//! Invariants:
//! - No program is given a code, neither as an argument nor in its environment.
//! - A code is printed to standard output where the user asks for it, and otherwise to a terminal
//!   alone.

mod attendant;
mod redirect;

use super::admission::Admission;
use crate::exit::Failure;
use crate::system::System;
use attendant::{Attendant, Event};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The time in which a browser that was started has to come.
const STARTED: Duration = Duration::from_secs(120);
/// The time in which a user has to open an address that was printed.
const PRINTED: Duration = Duration::from_secs(600);

/// A page that is served, and its admission rule.
pub(super) struct Opening {
    pub(super) admission: Arc<Admission>,
    address: SocketAddr,
}

impl Opening {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { admission: Arc::default(), address }
    }

    /// Has a browser open the page or prints its address, and looks after both while `run` runs.
    pub(super) fn during<T>(
        &self,
        opens_browser: bool,
        system: &dyn System,
        run: impl FnOnce() -> T,
    ) -> Result<T, Failure> {
        let mut attendant = Attendant::new()?;
        let is_opened = opens_browser && self.open_browser(attendant.waker(Event::NoBrowser))?;
        if opens_browser {
            system.print(&format!("http://{}/\n", self.address));
        } else {
            system.print(&format!("{}\n", self.printed()?));
            system.print_error(
                "help: open this address in a browser, within ten minutes; it works once; Ctrl-C ends\n",
            );
        }
        if opens_browser && !is_opened {
            self.help("no browser can be started; ", system);
        }
        let end = AtEnd(Some(attendant.waker(Event::End)));
        std::thread::scope(|scope| {
            scope.spawn(|| attendant.run(self, is_opened, system));
            // Also where `run` panics: the scope waits for its threads.
            let _end = end;
            Ok(run())
        })
    }

    /// Helps a user to whom no browser came, or who wants another one. An address with a code is
    /// for a terminal alone: everything else may be kept, where others read it.
    fn help(&self, reason: &str, system: &dyn System) {
        if !system.errors_to_terminal() {
            let line =
                format!("help: {reason}use `--no-browser` for an address that lets one in\n");
            system.print_error(&line);
        } else if let Ok(address) = self.printed() {
            system.print_error(&format!("help: {reason}open {address}\n"));
        }
    }

    /// The address with a new code.
    fn printed(&self) -> Result<String, Failure> {
        Ok(self.with_code(&self.admission.issue(PRINTED, |_| None)?))
    }

    fn with_code(&self, code: &str) -> String {
        format!("http://{}/#code={code}", self.address)
    }

    /// Starts a browser with a redirect file. False if there is no program that does so, or no
    /// place for the file; `failed` is called if it fails later.
    fn open_browser(&self, failed: impl FnOnce() + Send + 'static) -> Result<bool, Failure> {
        let mut file = None;
        self.admission.issue(STARTED, |code| {
            let made = redirect::write(&self.with_code(code)).ok();
            made.map(|(directory, path)| {
                file = Some(path);
                directory
            })
        })?;
        let is_started = file.is_some_and(|file| start_browser(&file, failed));
        if !is_started {
            self.admission.close();
        }
        Ok(is_started)
    }
}

fn start_browser(file: &Path, failed: impl FnOnce() + Send + 'static) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        // It gives a page to the browser.
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let null = Stdio::null;
    let mut command = Command::new(program);
    let child = command.arg(file).stdin(null()).stdout(null()).stderr(null()).spawn();
    let Ok(mut child) = child else { return false };
    // It may run as long as the browser does.
    std::thread::spawn(move || {
        if !child.wait().is_ok_and(|status| status.success()) {
            failed();
        }
    });
    true
}

/// Calls a function when it is dropped.
struct AtEnd<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        if let Some(call) = self.0.take() {
            call();
        }
    }
}
