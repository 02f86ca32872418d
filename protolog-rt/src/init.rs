//! What a program that wants to be switched from outside does at its start: it fulfils what was wished before, and listens.
//!
//! Wishes come from three places, the later ones win: the state file (what operators wanted remembered), a configuration
//! file that the program names, the variable `PROTOLOG`. All are written as [`protolog_core::control::setting`] has it.
//!
//! Invariant: what can be done is done, whatever else fails; what failed is in the error.

use crate::control::{self, Server, Wishes, fulfil, read_file};
use crate::level;
use crate::level::{ProtoLogGroup, SettingSource};
use crate::paths::absolute;
use crate::sys::fork::{ForkLock, Order};
use std::fmt;
use std::path::{Path, PathBuf};

/// The variable that holds wishes.
const VARIABLE: &str = "PROTOLOG";

/// Listens for the rest of the process.
static SERVER: ForkLock<Option<(u32, Server)>> = ForkLock::new(Order::Server, None);

/// Makes the program switchable from outside: fulfils what is wished in the variable `PROTOLOG` and in the state file, and
/// listens to operators.
///
/// ```no_run
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// if let Err(error) = protolog_rt::init() {
///     eprintln!("{error}"); // the program works all the same
/// }
/// protolog_rt::d!(AppLog::Net, "hello");
/// ```
///
/// ```text
/// $ PROTOLOG='net=debug,text' app                      # prints group Net from DEBUG on
/// $ protologtool configuration logcat disable Net      # and no more
/// ```
///
/// [`Init`] has what can be chosen.
pub fn init() -> Result<(), InitError> {
    Init::new().start()
}

/// What [`init`] does, with choices.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `start`"]
pub struct Init {
    control: bool,
    state: bool,
    directory: Option<PathBuf>,
    config: Option<PathBuf>,
    watch: bool,
}

/// What [`init`] could not do, and what to do about it. Everything else is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitError {
    problems: Vec<String>,
}

impl Default for Init {
    fn default() -> Self {
        Self::new()
    }
}

impl Init {
    /// All of it, and no configuration file.
    pub fn new() -> Self {
        Self { control: true, state: true, directory: None, config: None, watch: false }
    }

    /// Whether to listen to operators.
    pub fn control(mut self, listen: bool) -> Self {
        self.control = listen;
        self
    }

    /// Whether to fulfil what operators wanted remembered.
    pub fn remembered(mut self, fulfil: bool) -> Self {
        self.state = fulfil;
        self
    }

    /// The directory of the socket, in place of the usual one.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(absolute(directory.into()));
        self
    }

    /// Fulfils what is wished in this file, if there is one.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Some(absolute(path.into()));
        self
    }

    /// Reads the configuration file again whenever it changes; what it wishes no more goes back to what it was without the file.
    /// It takes listening to operators.
    pub fn reload(mut self) -> Self {
        self.watch = true;
        self
    }

    /// Makes the groups of an enum known, which its first enabled call would do otherwise: operators see their state from
    /// the start.
    pub fn groups<G: ProtoLogGroup>(self) -> Self {
        level::register_groups(G::groups());
        self
    }

    /// Does it. A second time, wishes are read again, and the program goes on listening.
    pub fn start(self) -> Result<(), InitError> {
        let mut problems = Vec::new();
        let mut file = |path: &Path, source| match read_file(path) {
            Ok(text) => {
                let text = text.unwrap_or_default();
                problems.extend(fulfil(&text, &path.display().to_string(), source));
            }
            Err(error) => problems.push(format!("{error}\nhelp: make it a readable file")),
        };
        if self.state {
            file(&state_file(), SettingSource::Other);
        }
        if let Some(config) = &self.config {
            file(config, SettingSource::ConfigFile);
        }
        if let Some(text) = std::env::var_os(VARIABLE) {
            problems.extend(fulfil(&text.to_string_lossy(), VARIABLE, SettingSource::Other));
        }
        if self.control {
            problems.extend(self.listen());
        }
        if problems.is_empty() { Ok(()) } else { Err(InitError { problems }) }
    }

    /// Listens, unless this process does already. What is wrong, if anything is.
    fn listen(self) -> Vec<String> {
        let mut server = SERVER.lock();
        let process = std::process::id();
        if server.as_ref().is_some_and(|(owner, _)| *owner == process) {
            return Vec::new();
        }
        let mut problems = Vec::new();
        let wishes = match self.config.filter(|_| self.watch).map(Wishes::watch) {
            None => Wishes::default(),
            Some(Ok(wishes)) => wishes,
            Some(Err(error)) => {
                problems.push(format!(
                    "can't watch the configuration file: {error}\nhelp: make its directory"
                ));
                Wishes::default()
            }
        };
        match Server::start(self.directory, wishes) {
            // That of a forked child's parent is not ours to end.
            Ok(new) => drop(server.replace((process, new)).map(|(_, old)| old.forever())),
            Err(error) => problems.push(told(&error)),
        }
        problems
    }
}

fn told(error: &control::Error) -> String {
    format!("{error}\nhelp: {}", error.help())
}

/// The file with the operators' persistent settings: `$PROTOLOG_STATE`, or else `protolog/settings` in `$XDG_STATE_HOME` or
/// `~/.local/state`, or, without a home, in `/var/lib`.
fn state_file() -> PathBuf {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(file) = absolute("PROTOLOG_STATE") {
        return file;
    }
    let state = absolute("XDG_STATE_HOME");
    let state = state.or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.unwrap_or_else(|| "/var/lib".into()).join("protolog/settings")
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for InitError {}
