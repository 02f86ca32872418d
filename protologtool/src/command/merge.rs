//! `merge`: traces of several processes in, one trace out.

use crate::args::{Expansion, LogOutput};
use crate::exit::{Exit, Failure};
use crate::logs::merge_report::{failure, problems};
use crate::logs::merged_traces::MERGED;
use crate::logs::pipe_input;
use crate::logs::text_sources::{TextSources, with_dictionaries};
use crate::logs::trace_paths::{self, Moved};
use crate::output::{cant_write, is_standard, once, write_one};
use crate::system::System;
use protolog_reader::{
    AddedForUi, ByteSource, CounterArg, MergeError, MergeInput, Merged, SourceReader,
    for_perfetto_ui, merge_with_dictionaries, printable,
};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const HELP: &str = "\
Examples:
  protologtool merge server.pftrace worker-1.pftrace worker-2.pftrace \\
    -o all.pftrace
  protologtool read-log all.pftrace --since 18:27
  protologtool merge app.pftrace --perfetto-ui \\
    --counter 'sent %d bytes' -o ui.pftrace

The result has every message of every trace, in Perfetto too, each with its own process, thread and time. Messages are \
put into order by who reads them. Traces may be compressed with gzip or zstd, and come from Perfetto's service.

A message that several traces have is in the result once: where a trace is a copy of another one or of a part of it, \
where snapshots of a session overlap, where a session streamed and recorded, or where several sessions of a program ran \
at a time. Two messages are the same if process, \
thread, time in nanoseconds, text and arguments are; within one trace, equal messages all stay. The same goes for begins \
and ends of spans, and for records of losses. A message that one session has with a stack trace, or with more of a text that another one \
has cut, stays in that form. What can't be known to be the same stays: messages without a time, a process or their strings; \
messages of processes with one pid where a trace does not say which of them it is of. A loss that one trace reports stays, even if another trace has the messages.

Sequences get new ids. Dictionaries become one; where one id stands for two messages or groups, nothing is \
written, and the message says which they are and where. Texts that no trace has, as those of stripped programs, come from the \
dictionaries that --viewer-config names, and become a part of the result. Times are those since the machine was booted; traces of several \
boots, or of several machines, are ordered by the clock on the wall, and refused where one does not know that.

Of a directory, all traces in it are merged, but for the output of an earlier run; what can't be read there is left out, with a warning and exit \
code 3.

A trace that comes through a pipe is held in memory, and with --perfetto-ui the result is, too.

Perfetto's UI shows messages in its SQL page alone. With --perfetto-ui they also are in its table and on its track of logs, as \
those of Android are, which makes the trace about twice as large. What an earlier run has added is made anew, with its counters.

Recordings of processes that died are made into traces by `protologtool recover`, which takes several at once.

Of a program that was killed or still runs, a trace has no end, which standard error says; what is there is merged.

Exit codes: 0 done; 2 wrong command line, or traces can't be merged, read or written: nothing was written; 3 done, but a \
trace is incomplete, and standard error says what could not be read.";

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for an example.")]
pub(crate) struct MergeArgs {
    /// Traces, and directories with traces; `-` for standard input
    #[arg(required = true, value_name = "TRACES")]
    traces: Vec<PathBuf>,

    /// Take texts that the traces lack from this dictionary (.pb, .json or .json.gz), or from the
    /// matching `<hash>.pb` in this directory, into the result; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    /// Write the trace to this file; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Add what Perfetto's UI shows without a query: its table and track of logs, names of threads,
    /// marks where messages were lost
    #[arg(long)]
    perfetto_ui: bool,

    /// Make an argument a counter in Perfetto's UI, that of messages whose template contains TEXT;
    /// the first one if no number is given; may be repeated
    #[arg(long, value_name = "TEXT[:NUMBER]", value_parser = counter, requires = "perfetto_ui")]
    counter: Vec<CounterArg>,

    #[command(flatten)]
    expansion: Expansion,

    #[command(flatten)]
    output_file: LogOutput,
}

pub(crate) fn run(args: &MergeArgs, system: &dyn System) -> Result<Exit, Failure> {
    once(&args.traces, "trace", system)?;
    let paths = inputs_of(args, system)?;
    let traces: Vec<InputFile<'_>> =
        paths.iter().filter_map(|path| InputFile::open(path, args, &paths, system)).collect();
    let inputs: Vec<&dyn MergeInput> = traces.iter().map(|file| file as &dyn MergeInput).collect();
    if inputs.is_empty() {
        let failure = Failure::new("all traces were removed meanwhile");
        return Err(failure.help("list the directory again"));
    }
    let read = with_dictionaries(&paths, &args.viewer_config, &args.output, system);
    let mut texts = TextSources::load(&args.viewer_config, system)?;
    let (merged, is_all_added) = if args.perfetto_ui {
        write_for_ui(args, (&inputs, &read), &mut texts, system)?
    } else {
        let mode = args.output_file.mode_of_new();
        let merging = Merging { inputs: &inputs, expansion: args.expansion, texts: &mut texts };
        (write(merging, (&args.output, mode), &read, system)?, true)
    };
    texts.finish()?;
    if !args.viewer_config.is_empty() {
        system.print_error(&missing_dictionaries(&merged));
    }
    for line in problems(&merged, args.expansion) {
        system.print_error(&line);
    }
    if let Some(line) = duplicates(&merged) {
        // Not among the bytes of the trace.
        let print = if is_standard(&args.output) { System::print_error } else { System::print };
        print(system, &line);
    }
    Ok(if merged.is_whole() && is_all_added { Exit::Done } else { Exit::Incomplete })
}

/// The traces that are named, and those in directories that are, but for the result of an earlier
/// run there.
fn inputs_of(args: &MergeArgs, system: &dyn System) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = trace_paths::expand(&args.traces, system)?;
    let output = system.file_id(&args.output).ok();
    let is_output = |path: &PathBuf| output.is_some() && system.file_id(path).ok() == output;
    paths.retain(|path| args.traces.contains(path) || !is_output(path));
    if paths.is_empty() {
        let failure = Failure::new("no trace to merge but the output of an earlier run");
        return Err(failure.help("give the traces to merge, or another directory"));
    }
    Ok(paths)
}

/// Says what several traces have.
fn duplicates(merged: &Merged) -> Option<String> {
    let counted = |count: u64, one: &str, many: &str| {
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
    };
    let parts = [
        counted(merged.duplicates, "message", "messages"),
        counted(merged.duplicate_losses, "record of a loss", "records of losses"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty())
        .then(|| format!("left out, since another trace has the same: {}\n", parts.join(", ")))
}

/// Traces to merge.
pub(super) struct Merging<'a, 'b> {
    pub(super) inputs: &'a [&'a dyn MergeInput],
    pub(super) expansion: Expansion,
    /// Texts that they lack.
    pub(super) texts: &'a mut TextSources<'b>,
}

impl Merging<'_, '_> {
    fn write_to(self, out: &mut dyn io::Write) -> Result<Merged, MergeError> {
        let Self { inputs, expansion, texts } = self;
        let files = texts.dictionaries().to_vec();
        let find = &mut |hash| texts.find(hash);
        merge_with_dictionaries(inputs, expansion.max_expansion, (&files, find), out)
    }
}

/// Merges traces into the file `output` with these permissions, which none of the files `read` may
/// be.
pub(super) fn write(
    merging: Merging<'_, '_>,
    (output, mode): (&Path, u32),
    read: &[PathBuf],
    system: &dyn System,
) -> Result<Merged, Failure> {
    let mut merged = Merged::default();
    let fill = |out: &mut dyn io::Write| {
        merged = merging.write_to(out)?;
        Ok(())
    };
    write_one(output, mode, read, system, fill, |error| failure(&error, output))?;
    Ok(merged)
}

/// A trace with the texts that it lacks; the same where no dictionary is given.
pub(super) fn with_texts(
    trace: Vec<u8>,
    viewer_config: &[PathBuf],
    expansion: Expansion,
    system: &dyn System,
) -> Result<Vec<u8>, Failure> {
    if viewer_config.is_empty() {
        return Ok(trace);
    }
    let mut texts = TextSources::load(viewer_config, system)?;
    let (input, mut filled) = (WholeTrace(trace), Vec::new());
    let merging = Merging { inputs: &[&input], expansion, texts: &mut texts };
    let merged = merging.write_to(&mut filled).map_err(|error| failure(&error, Path::new("-")))?;
    texts.finish()?;
    system.print_error(&missing_dictionaries(&merged));
    Ok(filled)
}

/// A trace in memory.
struct WholeTrace(Vec<u8>);

impl MergeInput for WholeTrace {
    fn name(&self) -> &str {
        MERGED
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0.as_slice()))
    }
}

/// The lines for dictionaries that are not among those that were given; none if there are none.
fn missing_dictionaries(merged: &Merged) -> String {
    let line = |hash: &u64| {
        format!(
            "warning: missing dictionary `{hash:016x}`, which holds the texts of a stripped program\n"
        )
    };
    let lines = merged.missing_dictionaries.iter().map(line);
    let help = "help: name it, or a directory that holds it, by `--viewer-config`\n".to_owned();
    lines.chain((!merged.missing_dictionaries.is_empty()).then_some(help)).collect()
}

/// As [`write()`], with what Perfetto's UI shows; and whether that is all.
fn write_for_ui(
    args: &MergeArgs,
    (inputs, paths): (&[&dyn MergeInput], &[PathBuf]),
    texts: &mut TextSources<'_>,
    system: &dyn System,
) -> Result<(Merged, bool), Failure> {
    let (mut trace, expansion) = (Vec::new(), args.expansion);
    let merged = Merging { inputs, expansion, texts }
        .write_to(&mut trace)
        .map_err(|error| failure(&error, &args.output))?;
    let added = for_perfetto_ui(trace, &args.counter, expansion.max_expansion);
    let (trace, added) = added.map_err(|error| {
        Failure::new(format!("can't read the merged traces: {error}")).help(error.help())
    })?;
    let fill = |out: &mut dyn io::Write| out.write_all(&trace);
    let failed = |error: io::Error| cant_write(&args.output, &error);
    let mode = args.output_file.mode_of_new();
    write_one(&args.output, mode, paths, system, fill, failed)?;
    report_added(&added, (&args.counter, expansion), system);
    Ok((merged, added.cut_texts == 0))
}

/// Reports what Perfetto's UI does not show though it was asked for.
pub(super) fn report_added(
    added: &AddedForUi,
    (counters, expansion): (&[CounterArg], Expansion),
    system: &dyn System,
) {
    if added.cut_texts > 0 {
        let (texts, advice) = (added.cut_texts, expansion.advice());
        system.print_error(&format!(
            "warning: {texts} texts and names left out: the trace expands to more than its limit\n{advice}"
        ));
    }
    if added.without_wall_clock > 0 {
        system.print_error(&format!(
            "warning: {} messages are not in the table of logs: the trace does not know the wall clock\n",
            added.without_wall_clock
        ));
    }
    for (counter, values) in counters.iter().zip(&added.counter_values) {
        if *values == 0 {
            let (template, argument) = (printable(&counter.template), counter.argument);
            system.print_error(&format!(
                "warning: no value for the counter `{template}:{argument}`\n"
            ));
        }
    }
}

/// A counter of the command line.
pub(super) fn counter(text: &str) -> Result<CounterArg, String> {
    let (template, argument) = match text.rsplit_once(':') {
        // A colon of the template, as in `sent: %d`.
        Some((_, number)) if number.contains([' ', '%']) => (text, "1"),
        Some((template, number)) => (template, number),
        None => (text, "1"),
    };
    let argument = argument.parse().ok().filter(|number| *number > 0);
    let argument = argument
        .ok_or_else(|| "give the number of the argument, from 1, after the colon".to_owned())?;
    Ok(CounterArg { template: template.to_owned(), argument, is_whole: false })
}

/// A trace in a file. It is read twice, whatever has its name by then.
struct InputFile<'a> {
    path: &'a Path,
    name: Cow<'a, str>,
    system: &'a dyn System,
    /// It was found in a directory, and not named.
    is_found: bool,
    /// The bytes of a regular file.
    source: Option<Box<dyn ByteSource>>,
    /// All of what can be read once only.
    kept: OnceCell<Vec<u8>>,
}

impl<'a> InputFile<'a> {
    /// One of the traces that are `known`; none if it was removed from its directory since that was
    /// listed.
    fn open(
        path: &'a Path,
        args: &MergeArgs,
        known: &[PathBuf],
        system: &'a dyn System,
    ) -> Option<Self> {
        let is_found = !args.traces.iter().any(|named| named == path);
        let source = |path: &Path| trace_paths::source_of_many(path, known.len(), system);
        let mut name = path.to_string_lossy();
        let found = match source(path) {
            _ if path == Path::new("-") => None,
            Ok(source) => source,
            // Whoever reads it says why it can't be read.
            Err(_) if !is_found => None,
            Err(_) => match trace_paths::moved(path, known, system) {
                Moved::Nowhere => None,
                Moved::To(path) if let Ok(Some(source)) = source(&path) => {
                    name = path.to_string_lossy().into_owned().into();
                    Some(source)
                }
                Moved::To(_) | Moved::Away => {
                    system.print_error(&trace_paths::removed(path));
                    return None;
                }
            },
        };
        Some(Self { path, name, system, is_found, source: found, kept: OnceCell::new() })
    }
}

impl MergeInput for InputFile<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        if let Some(source) = &self.source {
            return Ok(Box::new(SourceReader::new(&**source)));
        }
        if let Some(kept) = self.kept.get() {
            return Ok(Box::new(kept.as_slice()));
        }
        if self.path != Path::new("-") && !self.system.is_pipe(self.path) {
            return self.system.open(self.path);
        }
        let bytes = pipe_input::read(self.path, self.system)?;
        Ok(Box::new(self.kept.get_or_init(|| bytes).as_slice()))
    }

    fn may_be_left_out(&self) -> bool {
        self.is_found
    }
}
