//! Start-up of a program that can be switched from outside: it applies settings, and listens to
//! operators.
//!
//! Settings come from three sources, later ones win: the state file (settings that operators made
//! persistent), a configuration file that the program names, and the variable `PROTOLOG`. All have
//! the format of [`protolog_core::control::setting`]. A program may ask for a fourth, before the
//! last: the variable `RUST_LOG`, which [`rust_log`] reads.
//!
//! A program with more rights than its caller, such as a set-user-id program, ignores all
//! variables. An error quotes a file only if the file belongs to the user that started the program.
//!
//! A mistake in the variable is a warning on standard error, unless the program asks for an error
//! ([`Init::strict`]): the user who starts the program made it, not its author.
//!
//! Invariant: a step that fails keeps no other from being done; the error lists all failures.

mod misspelt;
mod rust_log;

use crate::control::{
    self, Server, SettingsText, WatchedSettings, apply_text, read_file, read_state_file,
};
use crate::error::Error;
use crate::level;
use crate::level::{ProtoLogGroup, SettingSource};
use crate::paths::absolute;
use crate::producer::Connect;
use crate::session::life::forked;
use crate::sys::close_on_fork;
use crate::sys::copies;
use crate::sys::environment::{absolute_path, variable};
use crate::sys::fork::{ForkLock, Order, is_incomplete};
use crate::sys::process::asked_id;
use crate::text_queue;
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The environment variable with settings.
const VARIABLE: &str = "PROTOLOG";

/// The server; it listens until the process ends.
static SERVER: ForkLock<Option<InitServer>> = ForkLock::new(Order::Server, None);

/// A server, the process that it belongs to, and the options that it was started with.
#[derive(Debug)]
struct InitServer {
    process: u32,
    server: Server,
    options: Init,
}

/// Makes the program switchable from outside: applies the settings in the variable `PROTOLOG` and
/// in the state file, and listens to operators.
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
/// $ PROTOLOG=debug,text app                            # prints all groups from DEBUG on
/// $ PROTOLOG=warn app                                  # records nothing below WARN, whatever is enabled
/// ```
///
/// A part of the variable that is wrong is left out, and reported on standard error;
/// [`Init::strict`] makes it an error.
///
/// ```text
/// protolog: PROTOLOG: unknown word `debgu`
/// help: use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between
/// ```
///
/// [`Init`] has the options.
pub fn init() -> Result<(), InitError> {
    Init::new().start()
}

/// [`init`] with options.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `start`"]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Init {
    control: bool,
    state: bool,
    directory: Option<PathBuf>,
    config: Option<PathBuf>,
    watch: bool,
    strict: bool,
    rust_log: bool,
    perfetto: Option<Connect>,
}

/// The steps of [`init`] that failed, each with advice. All others are done. Its `Debug` form is
/// the same text.
#[derive(Clone, PartialEq, Eq)]
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
        let (directory, config) = (None, None);
        let (watch, strict, rust_log, perfetto) = (false, false, false, None);
        Self { control: true, state: true, directory, config, watch, strict, rust_log, perfetto }
    }

    /// Sets whether to listen to operators; the default is true.
    pub fn control(mut self, listen: bool) -> Self {
        self.control = listen;
        self
    }

    /// Sets whether to apply the settings that operators made persistent; the default is true. They
    /// are in `$PROTOLOG_STATE`, or else `protolog/settings` in `$XDG_STATE_HOME`, `~/.local/state`
    /// or, without a home, `/var/lib`. In a program with more rights than its caller, such as a
    /// set-user-id program, no variable is read, so they are in `/var/lib`.
    pub fn persistent_settings(mut self, apply: bool) -> Self {
        self.state = apply;
        self
    }

    /// Sets the directory of the socket.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(absolute(directory.into()));
        self
    }

    /// Applies the settings in this file, if it exists. A named pipe is refused: nobody waits for
    /// its writer.
    pub fn config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Some(absolute(path.into()));
        self
    }

    /// Reads the configuration file again whenever it changes. Groups that it no longer names go
    /// back to their state without the file. Has no effect without [`Self::control`].
    pub fn reload(mut self) -> Self {
        self.watch = true;
        self
    }

    /// Makes a mistake in the variable `PROTOLOG` an error of [`Self::start`]. By default it is a
    /// warning on standard error, and the rest of the variable holds. All else is done in either
    /// case.
    ///
    /// ```no_run
    /// protolog_rt::Init::new().strict().start()?; // `PROTOLOG=net=debgu` ends the program
    /// # Ok::<(), protolog_rt::InitError>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Also applies the levels in the variable `RUST_LOG`, if it is set, as `env_logger` and the
    /// `EnvFilter` of `tracing-subscriber` read it. They limit what sessions record, and what
    /// groups print that print by their declaration.
    ///
    /// ```no_run
    /// protolog_rt::Init::new().rust_log().start()?;
    /// # Ok::<(), protolog_rt::InitError>(())
    /// ```
    ///
    /// ```text
    /// $ RUST_LOG=warn app                        # all groups from WARN on
    /// $ RUST_LOG=info,hyper::client=trace app    # and all levels of these targets of a bridge
    /// $ RUST_LOG=my_crate=debug app              # the groups of this crate; all others are off
    /// $ RUST_LOG=info,Net=debug app              # and one of its groups
    /// ```
    ///
    /// A target takes all groups whose full name begins with it, and the longest one counts; and
    /// those of enums that end with it, before any beginning. The full name of a group has the
    /// crate and the enum, `my_crate::AppLog::Net`, but no module; that of a target of the bridges
    /// (module `bridge`) is the target. ERROR includes WTF.
    ///
    /// Spans and fields (`[span{field}]`) and patterns of texts (`/pattern`) are left out with a
    /// warning on standard error, as is all else that not both of them take; none is an error, also
    /// with [`Self::strict`]. If nothing is left, the variable changes nothing. Settings in
    /// `PROTOLOG` win.
    pub fn rust_log(mut self) -> Self {
        self.rust_log = true;
        self
    }

    /// Joins Perfetto's tracing service, now or once it is there: see
    /// [`connect`](crate::producer::connect).
    ///
    /// ```no_run
    /// protolog_rt::Init::new().perfetto().start()?;
    /// # Ok::<(), protolog_rt::InitError>(())
    /// ```
    pub fn perfetto(self) -> Self {
        self.perfetto_with(Connect::new())
    }

    /// As [`Self::perfetto`], with options.
    ///
    /// ```no_run
    /// use protolog_rt::producer::Connect;
    ///
    /// protolog_rt::Init::new().perfetto_with(Connect::new().startup_buffer(1 << 20)).start()?;
    /// # Ok::<(), protolog_rt::InitError>(())
    /// ```
    pub fn perfetto_with(mut self, options: Connect) -> Self {
        self.perfetto = Some(options);
        self
    }

    /// Registers the groups of an enum now, rather than with its first enabled call, so that
    /// operators see their state from the start.
    pub fn groups<G: ProtoLogGroup>(self) -> Self {
        level::register_groups(G::groups());
        self
    }

    /// Applies the settings and starts to listen. A second call reads the settings again.
    pub fn start(self) -> Result<(), InitError> {
        let mut problems = Vec::new();
        let mut take = |read: Result<SettingsText, String>, path: &Path, source| match read {
            Ok(text) => {
                problems.extend(apply_text(&text, &path.display().to_string(), source));
            }
            Err(error) => problems.push(format!("{error}\nhelp: make it a readable file")),
        };
        if self.state {
            let path = state_file();
            take(read_state_file(&path), &path, SettingSource::Other);
        }
        if let Some(config) = &self.config {
            take(read_file(config), config, SettingSource::ConfigFile);
        }
        if self.rust_log {
            rust_log::apply();
        }
        if let Some(text) = variable(VARIABLE) {
            let text = SettingsText { text: text.to_string_lossy().into(), may_quote: true };
            let mut mistakes = apply_text(&text, VARIABLE, SettingSource::Other);
            mistakes.extend(misspelt::groups(&text.text, VARIABLE));
            mistakes.extend(misspelt::rules(&text.text, VARIABLE));
            if self.strict {
                problems.extend(mistakes);
            } else {
                warn(&mistakes);
            }
        }
        if let Some(options) = self.perfetto {
            options.start();
        }
        if self.control {
            problems.extend(self.listen());
        }
        if problems.is_empty() { Ok(()) } else { Err(InitError { problems }) }
    }

    /// Starts to listen for another copy of this runtime, whose groups are registered here.
    pub(crate) fn listen_for_guest(self) {
        warn(&self.listen());
    }

    /// Starts to listen, unless this process does already; returns the problems. Where this copy of
    /// the runtime has joined that of the program, that one listens, for the groups of both.
    fn listen(self) -> Vec<String> {
        if is_incomplete() {
            let error = Error::IncompleteFork;
            return vec![format!("{error}\nhelp: {}", error.help())];
        }
        if cfg!(not(unix)) {
            // There are no operators, and settings apply all the same.
            return self.config.filter(|_| self.watch).map_or_else(Vec::new, |_| {
                vec![
                    "a configuration file is not watched on this system\n\
                      help: leave out `watch_config`"
                        .to_owned(),
                ]
            });
        }
        level::look_for_host();
        if let Some(host) = copies::host() {
            let directory = self.directory.unwrap_or_default();
            let Some(text) = directory.to_str() else {
                return vec![format!(
                    "can't listen in `{}`: its name is not UTF-8, and the program's copy of protolog-rt takes no other\n\
                     help: name a directory of another name, or none",
                    directory.display()
                )];
            };
            host.listen(text);
            return Vec::new();
        }
        close_on_fork::register();
        let mut server = SERVER.lock();
        let process = asked_id();
        if server.as_ref().is_some_and(|listening| listening.process == process) {
            return Vec::new();
        }
        forked::on_follow(listen_in_child);
        let options = self.clone();
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
            // A server that is replaced belongs to the parent of this forked child, and is not ours
            // to end.
            Ok(new) => {
                problems.extend(new.displaced().map(|error| {
                    let (place, help) = (new.path().display(), error.help());
                    format!("{error}; listening on `{place}` instead\nhelp: {help}")
                }));
                if let Some(old) = server.replace(InitServer { process, server: new, options }) {
                    old.server.forever();
                }
            }
            Err(error) => problems.push(describe(&error)),
        }
        problems
    }
}

/// Listens in a forked child as its parent does, if that does.
fn listen_in_child() {
    if is_incomplete() {
        return;
    }
    let parent = SERVER.lock().as_ref().map(|listening| listening.options.clone());
    warn(&parent.map_or_else(Vec::new, Init::listen));
}

/// Writes problems to standard error, at once.
fn warn(problems: &[String]) {
    let mut text = String::new();
    for problem in problems {
        let _ = writeln!(text, "protolog: {problem}"); // Writing to a string can't fail.
    }
    text_queue::write_line(text.as_bytes());
}

fn describe(error: &control::ServeError) -> String {
    format!("{error}\nhelp: {}", error.help())
}

/// The file with the operators' persistent settings: `$PROTOLOG_STATE`, or else `protolog/settings`
/// in `$XDG_STATE_HOME` or `~/.local/state`, or, without a home, in `/var/lib`.
fn state_file() -> PathBuf {
    if let Some(file) = absolute_path("PROTOLOG_STATE") {
        return file;
    }
    let state = absolute_path("XDG_STATE_HOME");
    let state = state.or_else(|| absolute_path("HOME").map(|home| home.join(".local/state")));
    state.unwrap_or_else(|| "/var/lib".into()).join("protolog/settings")
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl fmt::Debug for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InitError {}
