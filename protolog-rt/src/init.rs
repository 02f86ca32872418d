//! Start-up of a program that can be switched from outside: it applies settings, and listens to operators.
//!
//! Settings come from three sources, later ones win: the state file (settings that operators made persistent), a configuration file
//! that the program names, and the variable `PROTOLOG`. All have the format of [`protolog_core::control::setting`].
//!
//! Invariant: a step that fails keeps no other from being done; the error lists all failures.

use crate::control::{self, Server, WatchedSettings, apply_text, read_file};
use crate::level;
use crate::level::{ProtoLogGroup, SettingSource};
use crate::paths::absolute;
use crate::sys::close_on_fork;
use crate::sys::fork::{ForkLock, Order};
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variable with settings.
const VARIABLE: &str = "PROTOLOG";

/// The server, and the process that it belongs to; it listens until the process ends.
static SERVER: ForkLock<Option<(u32, Server)>> = ForkLock::new(Order::Server, None);

/// Makes the program switchable from outside: applies the settings in the variable `PROTOLOG` and in the state file, and listens to
/// operators.
///
/// ```no_run
/// # #[derive(protolog_rt::ProtoLogGroup)]
/// # enum AppLog { Net }
/// if let Err(error) = protolog_rt::init() {
///     eprintln!("{error}"); // the program works without it
/// }
/// protolog_rt::d!(AppLog::Net, "hello");
/// ```
///
/// ```text
/// $ PROTOLOG='net=debug,text' app                      # prints group Net from DEBUG on
/// $ protologtool configuration logcat disable Net      # and stops
/// ```
///
/// [`Init`] has the options.
pub fn init() -> Result<(), InitError> {
    Init::new().start()
}

/// [`init`] with options.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `start`"]
pub struct Init {
    control: bool,
    state: bool,
    directory: Option<PathBuf>,
    config: Option<PathBuf>,
    watch: bool,
}

/// The steps of [`init`] that failed, each with advice. All others are done.
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
    /// Creates the options of [`init`]: all steps, no configuration file.
    pub fn new() -> Self {
        Self { control: true, state: true, directory: None, config: None, watch: false }
    }

    /// Sets whether to listen to operators; the default is true.
    pub fn control(mut self, listen: bool) -> Self {
        self.control = listen;
        self
    }

    /// Sets whether to apply the settings that operators made persistent; the default is true. They are in `$PROTOLOG_STATE`, or else
    /// `protolog/settings` in `$XDG_STATE_HOME`, `~/.local/state` or, without a home, `/var/lib`.
    pub fn persistent_settings(mut self, apply: bool) -> Self {
        self.state = apply;
        self
    }

    /// Sets the directory of the socket.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(absolute(directory.into()));
        self
    }

    /// Applies the settings in this file, if it exists.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Some(absolute(path.into()));
        self
    }

    /// Reads the configuration file again whenever it changes. Groups that it no longer names go back to their state without the
    /// file. Has no effect without [`Self::control`].
    pub fn reload(mut self) -> Self {
        self.watch = true;
        self
    }

    /// Registers the groups of an enum now, rather than with its first enabled call, so that operators see their state from
    /// the start.
    pub fn groups<G: ProtoLogGroup>(self) -> Self {
        level::register_groups(G::groups());
        self
    }

    /// Applies the settings and starts to listen. A second call reads the settings again.
    pub fn start(self) -> Result<(), InitError> {
        let mut problems = Vec::new();
        let mut file = |path: &Path, source| match read_file(path) {
            Ok(text) => {
                let text = text.unwrap_or_default();
                problems.extend(apply_text(&text, &path.display().to_string(), source));
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
            problems.extend(apply_text(&text.to_string_lossy(), VARIABLE, SettingSource::Other));
        }
        if self.control {
            problems.extend(self.listen());
        }
        if problems.is_empty() { Ok(()) } else { Err(InitError { problems }) }
    }

    /// Starts to listen, unless this process does already; returns the problems.
    fn listen(self) -> Vec<String> {
        close_on_fork::register();
        let mut server = SERVER.lock();
        let process = std::process::id();
        if server.as_ref().is_some_and(|(owner, _)| *owner == process) {
            return Vec::new();
        }
        let mut problems = Vec::new();
        let settings = match self.config.filter(|_| self.watch).map(WatchedSettings::watch) {
            None => WatchedSettings::default(),
            Some(Ok(settings)) => settings,
            Some(Err(error)) => {
                problems.push(format!(
                    "can't watch the configuration file: {error}\nhelp: make its directory"
                ));
                WatchedSettings::default()
            }
        };
        match Server::start(self.directory, settings) {
            // A server that is replaced belongs to the parent of this forked child, and is not ours to end.
            Ok(new) => drop(server.replace((process, new)).map(|(_, old)| old.forever())),
            Err(error) => problems.push(describe(&error)),
        }
        problems
    }
}

fn describe(error: &control::ServeError) -> String {
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
