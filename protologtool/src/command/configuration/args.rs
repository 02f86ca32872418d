//! The flags of `configuration`.

use super::values::{RepeatSwitch, selector, selector_of_calls};
use crate::args::level::{Least, level, level_or_off};
use clap::{Subcommand, ValueEnum};
use protolog_control::{Program, Whose};
use protolog_core::Level;
use protolog_core::control::byte_limit::{self, ByteLimit};
use protolog_core::control::limit::{self, Limit};
use protolog_core::control::rate::Rate;
use protolog_core::control::session_setting::SessionSetting;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  protologtool configuration groups status
  protologtool configuration logcat enable Net Disk
  protologtool configuration --name indexer level Walk warn --persist
  protologtool configuration --pid 4711 trace start app.pftrace \\
    --level info --group Net=debug
  protologtool configuration trace stop

A program takes part if it calls `protolog_rt::init()`, or `new Init().start()` in Java. It is found in $PROTOLOG_RUNTIME_DIR, or else in \
$XDG_RUNTIME_DIR/protolog, /run/user/UID/protolog and /run/protolog/UID; root finds those of all users, and is told so: a program of \
another user may be anything, and say anything of itself. --own leaves them out. Without --pid and --name all are meant.

GROUP is a full name (app::AppLog::Net) or an end of one (Net), whatever the case; a logger's with other characters may be in \
quotation marks, as `groups list` prints it. Switching takes effect at each thread's next log call.

With the name `protolog_configuration`, the tool takes the same without the word `configuration`.

`groups status` says of each group what is printed (LOG_TO_LOGCAT) and traced (TRACE), which sessions of which program trace \
it, from which level on, and where they write. ALLOWED is shown where `level` keeps sessions from recording more. A group \
that no program has is an error, except with --persist.

Exit codes: 0 done; 2 wrong command line, no group of that name, or a program could not be asked or refused; \
3 another user has more programs than root looks at, and some are left out.";

const START_EXAMPLES: &str = "\
Examples:
  protologtool configuration trace start app.pftrace --name server
  protologtool configuration trace start %n-%p.pftrace \\
    --level info --group Net=debug
  protologtool configuration trace start app.pftrace --keep newest";

const TRACE_LIMIT_EXAMPLES: &str = "\
Examples:
  protologtool configuration trace limit 1MiB/s
  protologtool configuration trace limit '1MiB/s burst 8MiB' --persist
  protologtool configuration trace limit default

Messages beyond it are counted by group, with their times; pinned ones always pass. `groups status` shows the limits.";

const SITE_EXAMPLES: &str = "\
Examples:
  protologtool configuration site list 'net and debug'
  protologtool configuration site enable net.rs:120-180
  protologtool configuration site enable 'net.rs:120 and arg1 == 42'
  protologtool configuration site disable '\"retry %d\"' --persist
  protologtool configuration site reset net.rs:120-180

A selector is a group or module (net), a file with lines (net.rs:120-180), a text of the template in quotation marks, an id \
(#58f2c41b9a07d36e), a level (debug, verbose-info), the value of an argument (arg1 == 42, arg2 >= 500), a function that is looked up in the sources here (fn send) or several with `and` between. A call that is enabled is recorded by every \
session that runs, though its group is off, and no other call of the group is.";

const LIMIT_EXAMPLES: &str = "\
Examples:
  protologtool configuration limit 'net and warn' 100/s
  protologtool configuration limit net '1000/s burst 5000' --group
  protologtool configuration limit net none
  protologtool configuration site rules

Each call that the selector takes may log so many messages in a second (s), minute (m) or hour (h), and as many at once, or a \
burst. Traces say how many more there were, of which group, and when.";

const SAMPLE_EXAMPLES: &str = "\
Examples:
  protologtool configuration sample net 1/100
  protologtool configuration sample 'net and warn' 0.1%
  protologtool configuration sample net '1/100 by arg1'
  protologtool configuration sample debug 1/512KiB
  protologtool configuration sample net off
  protologtool configuration site rules

Each message of these calls is kept by chance, one of 100 for instance; the others write nothing. They evaluate no argument, but in Java, \
by an argument and by bytes. Bytes are in B, KiB or MiB. All of \
WARN and worse are kept, unless the selector names their level. Traces have the number of the others, by group and level, and \
`read-log --estimate` tells how many messages those that were kept stand for.";

const REPEAT_EXAMPLES: &str = "\
Examples:
  protologtool configuration repeat 'net and warn'
  protologtool configuration repeat net off
  protologtool configuration site rules

Of messages that a thread logs at one call, with the same arguments, the first is written once a second; the others are counted. \
Traces have their number, and `read-log` shows it behind the message.";

/// Arguments of `configuration`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ConfigurationArgs {
    #[command(flatten)]
    pub(super) choice: Choice,

    #[command(subcommand)]
    pub(super) command: Action,
}

/// The choice of programs.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Choice {
    /// Only the program with this process id; may be repeated
    #[arg(long, global = true, value_name = "PID")]
    pub(super) pid: Vec<u32>,

    /// Only programs of this name, that of their executable, main class or jar; may be repeated
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) name: Vec<String>,

    /// Only programs of this user; without it, root looks at those of all users
    #[arg(long, global = true)]
    pub(super) own: bool,

    /// Print JSON, one object a line
    #[arg(long, global = true)]
    pub(super) json: bool,
}

impl Choice {
    /// True if it names this program, or none at all.
    pub(super) fn means(&self, program: &Program) -> bool {
        (self.pid.is_empty() || self.pid.contains(&program.pid))
            && (self.name.is_empty() || self.name.contains(&program.name))
    }

    /// The users whose programs are looked at.
    pub(super) fn whose(&self) -> Whose {
        if self.own { Whose::Own } else { Whose::All }
    }
}

/// The action.
#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// List groups, or show their state
    #[command(after_help = "Example:\n  protologtool configuration groups status Net")]
    Groups {
        #[command(subcommand)]
        command: GroupsAction,
    },
    /// Switch text output
    #[command(
        visible_alias = "text",
        after_help = "Example:\n  protologtool configuration text enable Net --level info"
    )]
    Logcat {
        #[command(subcommand)]
        command: Logcat,
    },
    /// Set the minimum level of a group, in traces and in text output
    #[command(
        after_help = "Examples:\n  protologtool configuration level Net warn\n  protologtool configuration level '*' off --trace"
    )]
    Level(LevelArgs),
    /// List single calls, or switch them
    #[command(after_help = SITE_EXAMPLES)]
    Site {
        #[command(subcommand)]
        command: SiteAction,
    },
    /// Limit how often calls may log
    #[command(after_help = LIMIT_EXAMPLES)]
    Limit(LimitArgs),
    /// Keep a part of the messages of calls, by chance or by request
    #[command(after_help = SAMPLE_EXAMPLES)]
    Sample(SampleArgs),
    /// Write identical consecutive messages of a call once, with a count
    Repeat(RepeatArgs),
    /// Record the logs of programs
    #[command(after_help = "Example:\n  protologtool configuration trace start app.pftrace")]
    Trace {
        #[command(subcommand)]
        command: Trace,
    },
    /// Show the numbers of written and lost messages, by group
    #[command(after_help = "Example:\n  protologtool configuration stats --name server")]
    Stats,
}

/// `groups`
#[derive(Debug, Subcommand)]
pub(super) enum GroupsAction {
    /// List all groups of the programs
    #[command(after_help = "Example:\n  protologtool configuration groups list --name server")]
    List,
    /// Print the status of groups; of all if none is named: what is printed and traced, and by whom
    #[command(
        after_help = "Examples:\n  protologtool configuration groups status\n  protologtool configuration groups status Net Disk --json"
    )]
    Status {
        /// The groups
        #[arg(value_name = "GROUP")]
        groups: Vec<String>,
    },
    /// Print the names of all groups and no more, for completions
    #[command(hide = true)]
    Names,
}

/// `site`
#[derive(Debug, Subcommand)]
pub(super) enum SiteAction {
    /// List the calls that a selector takes; all without one
    #[command(after_help = "Example:\n  protologtool configuration site list 'net and debug'")]
    List {
        /// The selector
        #[arg(default_value = "*", value_parser = selector)]
        selector: String,

        /// The most calls to list of a program
        #[arg(long, value_name = "N", default_value_t = 1000)]
        limit: u32,
    },
    /// Have the calls recorded by every session, though their group is off
    #[command(after_help = "Example:\n  protologtool configuration site enable net.rs:120-180")]
    Enable {
        #[command(flatten)]
        calls: SiteArgs,

        /// And print them
        #[arg(long)]
        text: bool,
    },
    /// Have the calls neither recorded nor printed, though their group is on
    #[command(after_help = "Example:\n  protologtool configuration site disable '\"retry %d\"'")]
    Disable(SiteArgs),
    /// Have the calls follow their group again
    #[command(after_help = "Example:\n  protologtool configuration site reset net.rs:120-180")]
    Reset(SiteArgs),
    /// List the rules that hold
    #[command(after_help = "Example:\n  protologtool configuration site rules --name server")]
    Rules,
}

/// Arguments of the commands that switch calls.
#[derive(Debug, clap::Args)]
pub(super) struct SiteArgs {
    /// The selector
    #[arg(value_parser = selector)]
    pub(super) selector: String,

    /// Remember it for programs that start later; calls that lines name, by their ids
    #[arg(long)]
    pub(super) persist: bool,
}

/// Arguments of `limit`.
#[derive(Debug, clap::Args)]
pub(super) struct LimitArgs {
    /// The selector
    #[arg(value_parser = selector_of_calls)]
    pub(super) selector: String,

    /// The limit, such as `100/s` or `2/m burst 10`; `none` ends it
    #[arg(value_parser = limit)]
    pub(super) limit: GivenLimit,

    /// Limit all calls of a group together that the selector takes, rather than each call
    #[arg(long)]
    pub(super) group: bool,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// Arguments of `sample`.
#[derive(Debug, clap::Args)]
pub(super) struct SampleArgs {
    /// The selector
    #[arg(value_parser = selector_of_calls)]
    pub(super) selector: String,

    /// The part that is kept, such as `1/100` or `0.5%`, each by chance, or `1/100 by arg1`, all
    /// with one value of an argument together, or `1/512KiB`, each byte by chance, and with it its
    /// message; `off` for all messages
    #[arg(value_parser = rate)]
    pub(super) rate: GivenRate,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// Arguments of `repeat`.
#[derive(Debug, clap::Args)]
#[command(after_help = REPEAT_EXAMPLES)]
pub(super) struct RepeatArgs {
    /// The selector
    #[arg(value_parser = selector_of_calls)]
    pub(super) selector: String,

    /// `off` for each message on its own
    #[arg(default_value = "on")]
    pub(super) merging: RepeatSwitch,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// A rate of the command line; none for `off`.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenRate(pub(super) Option<Rate>);

/// Parses a rate of the command line.
fn rate(text: &str) -> Result<GivenRate, String> {
    if text.eq_ignore_ascii_case("off") {
        return Ok(GivenRate(None));
    }
    let rate = Rate::parse(text).map(|rate| GivenRate(Some(rate)));
    rate.ok_or_else(|| format!("no rate\nhelp: {}, or `off` for all", Rate::help(text)))
}

/// A limit of the command line; none for `none`.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenLimit(pub(super) Option<Limit>);

/// Parses a limit of the command line.
fn limit(text: &str) -> Result<GivenLimit, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(GivenLimit(None));
    }
    let limit = Limit::parse(text).map(|limit| GivenLimit(Some(limit)));
    limit.ok_or_else(|| {
        let bytes =
            ByteLimit::parse(text).map_or("", |_| "; sessions have one of bytes, by `trace limit`");
        format!("no limit\nhelp: {}, or `none`{bytes}", limit::HELP)
    })
}

/// Parses a cause of the command line.
fn cause(text: &str) -> Result<String, String> {
    named(text, "no cause\nhelp: name what happened, as in `trace trigger 'slow today'`")
}

/// Parses the name of a file of the command line.
fn file(text: &str) -> Result<String, String> {
    named(text, "no file\nhelp: name a file, as in `trace start app.pftrace`")
}

fn named(text: &str, none: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err(none.to_owned()) } else { Ok(text.to_owned()) }
}

/// Parses a limit of a session's bytes of the command line.
fn byte_limit(text: &str) -> Result<SessionSetting, String> {
    if text.eq_ignore_ascii_case("default") {
        return Ok(SessionSetting::Default);
    } else if text.eq_ignore_ascii_case("none") {
        return Ok(SessionSetting::Limit(None));
    }
    let limit = ByteLimit::parse(text).map(|limit| SessionSetting::Limit(Some(limit)));
    limit.ok_or_else(|| {
        format!("no limit of bytes\nhelp: {}; or `none`, or `default`", byte_limit::HELP)
    })
}

/// `logcat`
#[derive(Debug, Subcommand)]
pub(super) enum Logcat {
    /// Enable text output of groups; of all if none is named
    #[command(
        alias = "on",
        after_help = "Example:\n  protologtool configuration text enable Net --level info"
    )]
    Enable(LogcatArgs),
    /// Disable text output of groups; of all if none is named
    #[command(
        alias = "off",
        after_help = "Example:\n  protologtool configuration text disable Net Disk"
    )]
    Disable(LogcatArgs),
}

/// Arguments of `logcat enable` and `logcat disable`.
#[derive(Debug, clap::Args)]
pub(super) struct LogcatArgs {
    /// The groups
    #[arg(value_name = "GROUP")]
    pub(super) groups: Vec<String>,

    /// The least severe level to print; ignored by `disable`
    #[arg(long, value_parser = level(), ignore_case = true, default_value = "verbose", value_name = "LEVEL")]
    pub(super) level: Level,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// Arguments of `level`.
#[derive(Debug, clap::Args)]
pub(super) struct LevelArgs {
    /// The group, or `*` for all
    pub(super) group: String,

    /// The minimum level
    #[arg(value_parser = level_or_off(), ignore_case = true)]
    pub(super) level: Least,

    /// Set text output only, and enable it where it is disabled
    #[arg(long, conflicts_with = "trace")]
    pub(super) text: bool,

    /// Set traces only
    #[arg(long)]
    pub(super) trace: bool,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// `trace`
#[derive(Debug, Subcommand)]
pub(super) enum Trace {
    /// Start recording to a file, in the program itself
    #[command(after_help = START_EXAMPLES)]
    Start(Start),
    /// Stop recording, and complete the file
    #[command(after_help = "Example:\n  protologtool configuration trace stop --pid 4711")]
    Stop,
    /// Show what is being recorded
    #[command(after_help = "Example:\n  protologtool configuration trace status")]
    Status,
    /// Have sessions with triggers write what they keep, each to a file of its own
    #[command(
        after_help = "Example:\n  protologtool configuration trace trigger 'slow today' --name server"
    )]
    Trigger {
        /// The cause, which is in the name of the file and in the trace
        #[arg(value_parser = cause)]
        cause: String,
    },
    /// Limit the bytes that each session writes by time, whether it runs or starts later
    #[command(after_help = TRACE_LIMIT_EXAMPLES)]
    Limit(TraceLimit),
}

/// Arguments of `trace limit`.
#[derive(Debug, clap::Args)]
pub(super) struct TraceLimit {
    /// The limit, such as `1MiB/s` or `64KiB/m burst 1MiB`; `none` for none, `default` for what the
    /// program has set
    #[arg(value_parser = byte_limit)]
    pub(super) limit: SessionSetting,

    /// Remember it for programs that start later
    #[arg(long)]
    pub(super) persist: bool,
}

/// Arguments of `trace start`.
#[derive(Debug, clap::Args)]
pub(super) struct Start {
    /// The file; %p in it stands for the process id, %n for the program's name
    #[arg(value_parser = file)]
    pub(super) file: String,

    /// The least severe level to record
    #[arg(long, value_parser = level(), ignore_case = true, default_value = "verbose", value_name = "LEVEL")]
    pub(super) level: Level,

    /// Record this group from another level on, or not at all; may be repeated
    #[arg(long, value_name = "GROUP=LEVEL")]
    pub(super) group: Vec<String>,

    /// Read levels of groups from this file too, one `GROUP=LEVEL` a line
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Keep messages in memory, and write them when recording stops
    #[arg(long, value_enum)]
    pub(super) keep: Option<Keep>,

    /// Size of the buffer in bytes [default: the program's choice]
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide_default_value = true)]
    pub(super) buffer: u64,
}

/// The form of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Keep {
    /// The newest messages
    Newest,
    /// The first messages
    First,
}
