//! `view`: the log as a page in the browser, served on loopback or written to a file.
//!
//! The tool decodes traces and embeds columns ([`columns`]) in a page ([`page`]) whose script shows
//! them. Decoding is Rust's, since the reader stands here already, and so `cargo install` needs
//! neither a target for WebAssembly nor npm; the script filters and renders messages.

mod admission;
mod columns;
mod http;
mod log_files;
mod loopback;
mod opening;
mod page;
mod perfetto;
mod server;
mod switching;

use crate::args::{Expansion, LogOutput};
use crate::command::merge;
use crate::exit::{Exit, Failure};
use crate::logs::filter::Filters;
use crate::logs::merged_traces::MERGED;
use crate::logs::named_logs::{NamedLogs, WholeLog};
use crate::logs::text_sources::with_dictionaries;
use crate::output::{once, write_one};
use crate::system::System;
use columns::Live;
use flate2::Compression;
use flate2::write::ZlibEncoder;
#[cfg(fuzzing)]
pub use http::exchange;
use http::{HttpServer, Shell};
use log_files::LogFiles;
use loopback::{ListenAt, is_unguessed};
use opening::Opening;
use protolog_reader::{CounterArg, Times};
use server::{DataSource, Known};
use std::cell::Cell;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Examples:
  protologtool view app.pftrace
  protologtool view server.pftrace worker.pftrace --level info
  protologtool view app.pftrace --since 18:27 --until 18:30 -o incident.html
  protologtool view app.pftrace --perfetto --counter 'sent %d bytes'
  ssh -t -L 8080:127.0.0.1:8080 host \\
    protologtool view app.pftrace --port 8080 --no-browser

Without -o, the page is served on this machine alone, to the browser that is opened, until Ctrl-C. It follows a \
trace that is still being written. With --no-browser, an address is printed that lets one browser in, once and within ten minutes; \
Enter prints another one, for another browser. With -o, it is a file that shows the log without this tool, asks nothing of the \
network, and can be sent to somebody else.

The page has all messages, losses and spans with their times, filters by level, group, thread, template, time, text and regular \
expression, each with counts; an overview over time; the values of an argument over time; bookmarks; and an address \
that keeps what is chosen. The key ? lists its keys.

With --perfetto, the trace is handed to the Perfetto UI in another window, with what `merge --perfetto-ui` adds for it: messages in its \
table and on its track of logs, losses, counters, and texts by --viewer-config. The UI comes from the network and reads the trace within the browser; nothing is \
sent to its server. --perfetto=URL names another UI, such as one of your own. The command ends when the UI has the trace.

A page takes up to 16 million messages; filters choose fewer.

Exit codes: 0 done; 2 wrong command line, or a trace can't be read or the file not be written; 3 the page is there, and \
standard error says what is missing of the log.";

/// Arguments of `view`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
pub(crate) struct ViewArgs {
    /// Traces, or recordings; several are shown as one
    #[arg(required = true, value_name = "TRACES")]
    traces: Vec<PathBuf>,

    /// Write the page to this file, instead of serving it; `-` for standard output
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,

    #[command(flatten)]
    output_file: LogOutput,

    /// Open the trace in Perfetto's UI instead: that of ui.perfetto.dev, or of a server of yours
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = perfetto::UI,
        value_parser = perfetto::address,
        conflicts_with_all = ["output", "Filters"]
    )]
    perfetto: Option<String>,

    /// With --perfetto, make an argument a counter, as in `merge --perfetto-ui`; may be repeated
    #[arg(long, value_name = "TEXT[:NUMBER]", value_parser = merge::counter, requires = "perfetto")]
    counter: Vec<CounterArg>,

    /// Serve on this port of 127.0.0.1; without it, or with 0, on any that is free, of any address
    /// of this machine's own
    #[arg(
        long,
        value_name = "PORT",
        conflicts_with = "output",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,

    /// Print an address that lets a browser in once, and open none
    #[arg(long, conflicts_with = "output")]
    no_browser: bool,

    /// Read texts that a trace lacks from this dictionary (.pb, .json or .json.gz), or from the
    /// matching `<hash>.pb` in this directory; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    #[command(flatten)]
    expansion: Expansion,

    #[command(flatten)]
    filters: Filters,
}

pub(crate) fn run(args: &ViewArgs, system: &dyn System) -> Result<Exit, Failure> {
    if args.output.is_none() && args.output_file.mode.is_some() {
        let failure = Failure::new("`--mode` is that of a file, and none is written");
        return Err(failure.help("name the file by `-o`, or leave `--mode` out"));
    }
    once(&args.traces, "trace", system)?;
    if let Some(ui) = &args.perfetto {
        return perfetto::run(args, ui, system);
    }
    let files = LogFiles::new(&args.traces, system);
    let (is_followed, can_switch) = Default::default();
    let view = View { args, system, files, is_followed, can_switch };
    // Before the log is read: additions meanwhile make another version.
    let version = view.version();
    let read = view.read()?;
    for line in read.log.summary().to_string().lines() {
        system.print_error(&format!("warning: {line}\n"));
    }
    system.print_error(&args.expansion.hint(read.log.stats()));
    let exit = if read.is_whole() { Exit::Done } else { Exit::Incomplete };
    // The page says whether it switches, which depends on its address.
    let place = args.place(ListenAt::Anywhere);
    let listening = args.output.is_none().then(|| loopback::listen(place)).transpose()?;
    view.can_switch.set(listening.as_ref().is_some_and(|(_, address)| is_unguessed(*address)));
    let data = view.columns(&read)?;
    drop(read);
    view.is_followed.set(true);
    if let Some(listening) = listening {
        let known = Known::new(version, data);
        args.serve(listening, server::shell(), system, |server| {
            known.serve(server, &view, view.can_switch.get(), system);
        })?;
        return Ok(exit);
    }
    let Some(output) = &args.output else { return Ok(exit) };
    let page = page::page(Some(&data));
    let fill = |out: &mut dyn Write| out.write_all(page.as_bytes());
    let failed = |error: std::io::Error| crate::output::cant_write(output, &error);
    let read = with_dictionaries(&args.traces, &args.viewer_config, output, system);
    write_one(output, args.output_file.mode_of_new(), &read, system, fill, failed)?;
    Ok(exit)
}

impl ViewArgs {
    /// The port of --port, or another place where there is none.
    fn place(&self, otherwise: ListenAt) -> ListenAt {
        if self.port == 0 { otherwise } else { ListenAt::Usual(self.port) }
    }

    /// Serves a page while `run` runs, and has it opened.
    fn serve(
        &self,
        (listener, address): (TcpListener, SocketAddr),
        shell: Shell,
        system: &dyn System,
        run: impl FnOnce(&HttpServer),
    ) -> Result<(), Failure> {
        let opening = Opening::new(address);
        let server = HttpServer::start(listener, shell, opening.admission.clone())?;
        opening.during(!self.no_browser, system, || run(&server))?;
        server.finish();
        Ok(())
    }
}

/// The logs to show, as the arguments choose them.
struct View<'a> {
    args: &'a ViewArgs,
    system: &'a dyn System,
    files: LogFiles<'a>,
    /// Set once the log was read.
    is_followed: Cell<bool>,
    /// Set before the first columns: whether the page may switch programs.
    can_switch: Cell<bool>,
}

impl View<'_> {
    /// The log of all traces.
    fn read(&self) -> Result<WholeLog, Failure> {
        let Self { args, system, .. } = self;
        let logs = NamedLogs {
            paths: &args.traces,
            dictionaries: &args.viewer_config,
            has_spans: true,
            expansion: args.expansion,
        };
        logs.whole(Path::new(MERGED), *system, &|line| self.note(line))
    }

    /// Prints a note, of the first reading only: a log that is followed is read again each second.
    fn note(&self, line: &str) {
        if !self.is_followed.get() {
            self.system.print_error(line);
        }
    }

    /// The deflated columns of a log.
    fn columns(&self, read: &WholeLog) -> Result<Vec<u8>, Failure> {
        let Self { args, system, .. } = self;
        let log = &read.log;
        let times = Times::local();
        let filter = args.filters.resolve(log, &times, system.now())?;
        filter.problems(&times).iter().for_each(|problem| self.note(problem));
        let names: Vec<String> =
            args.traces.iter().map(|path| path.display().to_string()).collect();
        let live =
            if args.output.is_some() { Live::No } else { Live::Served(self.can_switch.get()) };
        // As they stand on standard error, without the word `warning`.
        let missing = read.missing.iter().map(|it| it.trim_start_matches("warning: ").trim_end());
        let summary = log.summary().to_string();
        let problems: Vec<&str> = missing.chain(summary.lines()).collect();
        let columns = columns::encode(log, &filter, &names, &problems, live);
        let columns = columns.map_err(|too_much| {
            let failure = Failure::new(too_much.to_string());
            failure.help("choose fewer, as by `--level`, `--group`, `--since` and `--until`")
        })?;
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::fast());
        let done = deflated.write_all(&columns).and_then(|()| deflated.finish());
        done.map_err(|error| Failure::new(format!("can't compress the log: {error}")))
    }
}

impl DataSource for View<'_> {
    fn version(&self) -> String {
        self.files.version()
    }

    fn data(&self) -> Result<Vec<u8>, Failure> {
        self.columns(&self.read()?)
    }
}
