//! Arguments of the commands that read sources, with their help texts, and of those that print what
//! is made from the table.
//!
//! The table of commands is in [`crate::cli`]; commands with arguments of their own declare them
//! beside their code.

mod expansion;
mod form;
pub(crate) mod level;
pub(crate) mod values;

pub(crate) use expansion::Expansion;
pub(crate) use form::{DialectChoice, Form, IdChoice, RustCrate};

use crate::diagnostic::Reporting;
use crate::encoding::SourceEncoding;
use clap::ValueEnum;
use clap_complete::Shell;
use std::num::NonZero;
use std::path::PathBuf;
use values::{
    class_name, device_json, device_log, device_proto, dictionary, file_mode, groups_source, jar,
    java_source, srcjar, threads,
};

/// Arguments of `transform-protolog-calls`.
#[derive(Debug, clap::Args)]
#[command(override_usage = TRANSFORM_USAGE)]
#[command(after_long_help = TRANSFORM_HELP, after_help = "See --help for an example.")]
#[command(group(clap::ArgGroup::new("output").required(true).args(["output_srcjar", "output_dir"])))]
pub(crate) struct Transform {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// The class that rewritten code calls [default: the class of the calls with `Impl` appended;
    /// in Android's dialects one that is made from a template]
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    pub(crate) protolog_impl_class: Option<String>,

    /// Make the class that rewritten code calls from this template, in Android's dialects [default:
    /// `ProtoLogImpl.java` among the sources, or at its path in Android's sources]
    #[arg(long, value_name = "FILE.java", value_parser = java_source, conflicts_with = "protolog_impl_class")]
    pub(crate) protolog_impl_template: Option<PathBuf>,

    /// Write the sources, rewritten or not, into this archive
    #[arg(long, value_name = "FILE.srcjar", value_parser = srcjar)]
    pub(crate) output_srcjar: Option<PathBuf>,

    /// Write the sources, rewritten or not, under this directory; unchanged files are left alone,
    /// and outputs of an earlier run that are no longer written are removed
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,

    /// Name output files by their path below this directory, rather than by their path as given
    #[arg(long, value_name = "DIR")]
    pub(crate) source_root: Option<PathBuf>,

    /// Compression level of the archive, from 0 (none) to 9 (best)
    #[arg(long, value_name = "LEVEL", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=9))]
    #[arg(conflicts_with = "output_dir")]
    pub(crate) compress: u8,

    /// Write the dictionary too (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    pub(crate) viewer_config: Vec<PathBuf>,

    /// Write a makefile that lists the files the outputs were made from
    #[arg(long, value_name = "FILE")]
    pub(crate) depfile: Option<PathBuf>,

    /// The dictionary's path on the device, for code that is injected
    #[arg(long, value_name = "FILE.pb", value_parser = device_proto)]
    pub(crate) viewer_config_file_path: Option<String>,

    /// The legacy dictionary's path on the device, for code that is injected
    #[arg(long, value_name = "FILE.json.gz", value_parser = device_json)]
    pub(crate) legacy_viewer_config_file_path: Option<String>,

    /// The legacy log's path on the device, for code that is injected
    #[arg(long, value_name = "FILE.winscope", value_parser = device_log)]
    pub(crate) legacy_output_file_path: Option<String>,

    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// Arguments of `generate-viewer-config`.
#[derive(Debug, clap::Args)]
#[command(override_usage = GENERATE_USAGE)]
#[command(after_long_help = GENERATE_HELP, after_help = "See --help for an example.")]
#[command(group(clap::ArgGroup::new("output").required(true).multiple(true).args(["viewer_config", "check"])))]
#[command(mut_arg("files", |files| files.required(false).required_unless_present("merge")))]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// Write the dictionary to this file (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) viewer_config: Vec<PathBuf>,

    /// Write this format, whatever the file's name is
    #[arg(long, value_name = "TYPE", requires = "viewer_config")]
    pub(crate) viewer_config_type: Option<DictionaryType>,

    /// Add the contents of this dictionary (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    pub(crate) merge: Vec<PathBuf>,

    /// Fail, and show the difference, unless this file holds exactly this dictionary
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    pub(crate) check: Option<PathBuf>,

    /// Write a makefile that lists the files the outputs were made from
    #[arg(long, value_name = "FILE", requires = "viewer_config")]
    pub(crate) depfile: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = CHECK_HELP, after_help = "See --help for an example.")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) sources: Sources,

    /// Change the sources where that follows the advice of a problem for certain, and report what
    /// is left
    #[arg(long)]
    pub(crate) fix: bool,

    #[command(flatten)]
    pub(crate) reporting: Reporting,
}

/// Arguments that name sources, classes and groups.
#[derive(Clone, Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("loggroups").args(["loggroups_jar", "loggroups_source"])))]
pub(crate) struct Sources {
    /// The class with the log methods, `dev.protolog.ProtoLog` if it is not named
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    pub(crate) protolog_class: Option<String>,

    /// The class that holds the log groups of Java; Rust's are the enums that derive
    /// `ProtoLogGroup` in the sources
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    pub(crate) loggroups_class: Option<String>,

    /// The jar that holds that class, compiled
    #[arg(long, value_name = "FILE.jar", value_parser = jar)]
    pub(crate) loggroups_jar: Option<PathBuf>,

    /// The source of that class
    #[arg(long, value_name = "FILE", value_parser = groups_source)]
    pub(crate) loggroups_source: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) form: Form,

    #[command(flatten)]
    pub(crate) rust: RustCrate,

    /// Encoding of the sources in Java, as for javac: UTF-8, ISO-8859-1 or windows-1252; rewritten
    /// ones have it too
    #[arg(long, value_name = "NAME", default_value = "UTF-8")]
    pub(crate) encoding: SourceEncoding,

    /// Skip files that can't be parsed, with a warning; `transform-protolog-calls` copies them
    /// unchanged
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Let directories of sources be missing, or hold no sources, as in a module of a build that
    /// has none
    #[arg(long = "allow-no-sources")]
    pub(crate) allow_none: bool,

    /// Ask javac, run through this program as Soong wants it, about Java sources that can't be
    /// parsed: those that it refuses too are skipped, as by `--keep-going`
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) javac_wrapper_path: Option<PathBuf>,

    /// Number of threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<NonZero<usize>>,

    /// Sources: Java, Kotlin, Rust; or directories of them
    #[arg(required = true, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

/// The format of a dictionary's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DictionaryType {
    /// Protobuf
    Proto,
    /// JSON
    Json,
}

/// Arguments for a file that logs are written to.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct LogOutput {
    /// Permissions of the file that is written, in octal digits; logs may hold what not everybody
    /// is to read [default: 600]
    #[arg(long, value_name = "MODE", value_parser = file_mode)]
    pub(crate) mode: Option<u32>,
}

impl LogOutput {
    /// The permissions of a new file.
    pub(crate) fn mode_of_new(self) -> u32 {
        self.mode.unwrap_or(0o600)
    }
}

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct Man {
    /// The command whose page to print, such as `configuration trace`
    pub(crate) command: Vec<String>,
}

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

const MAN_HELP: &str = "\
Examples:
  protologtool man read-log | man -l -
  protologtool man > ~/.local/share/man/man1/protologtool.1";

const COMPLETIONS_HELP: &str = "\
Examples:
  source <(protologtool completions bash)
  protologtool completions fish > ~/.config/fish/completions/protologtool.fish";

const TRANSFORM_USAGE: &str = "\
protologtool transform-protolog-calls [OPTIONS]
       <--output-srcjar <FILE.srcjar>|--output-dir <DIR>> <FILES>...";

const GENERATE_USAGE: &str = "\
protologtool generate-viewer-config [OPTIONS]
       <--viewer-config <FILE>|--check <FILE>>... <--merge <FILE>|FILES>...";

// Paragraphs are one line each: they are wrapped to the width of the terminal.
const TRANSFORM_HELP: &str = "\
Examples:
  protologtool transform-protolog-calls \\
    --protolog-class dev.protolog.ProtoLog \\
    --loggroups-class com.foo.AppLog \\
    --loggroups-source src/com/foo/AppLog.java \\
    --output-srcjar out/app.srcjar --viewer-config out/app.pb \\
    src/com/foo/*.java
  protologtool transform-protolog-calls --output-dir out \\
    --viewer-config out/app.pb src   # Rust

A call such as
  ProtoLog.d(NET, \"sent %d to %s\", n, host);
becomes, on the same line and with the classes' full names,
  if (I.isEnabled(NET, LogLevel.DEBUG)) I.d(NET, 12L, 1L, I.l(n), I.s(host));
and its text moves to the dictionary. No other byte of the source changes, and no line moves. In Rust,
  protolog_rt::d!(AppLog::Net, \"sent %d to %s\", n, host);
becomes, to be compiled without proc macros,
  protolog_rt::d!(AppLog::Net, @0x3f2a9c51e07b864d [d s], n, host);

In Android's dialects it calls a class that is made of a template, `ProtoLogImpl.java`, and put first into the output:
  if (I.Cache.NET_enabled[1]) {  long protoLogParam0 = n;  …  I.d(NET, 12L, …); }

With `--persistent_worker` the process stays and answers Bazel's work requests, in the protocol `proto`; it works for every command.

Files keep their paths in the archive or directory; those outside the working directory (absolute, or with `..`) are \
named by package.

Exit codes: 0 done; 1 problems in the sources, nothing was written; 2 wrong command line, or a file can't be read, \
decoded or written.";

const GENERATE_HELP: &str = "\
Examples:
  protologtool generate-viewer-config \\
    --protolog-class dev.protolog.ProtoLog \\
    --loggroups-class com.foo.AppLog \\
    --loggroups-source src/com/foo/AppLog.java \\
    --viewer-config out/app.pb --viewer-config out/app.json \\
    src/com/foo/*.java
  protologtool generate-viewer-config --viewer-config out/app.pb src   # Rust

The dictionary maps the ids in rewritten code and in traces to texts. `transform-protolog-calls` can write the same \
files in its own pass.

A dictionary that is kept beside the sources is compared by `--check FILE` instead. Dictionaries of other modules, or \
of Rust programs, are put in by `--merge FILE`, with sources or without; two messages that would have one id are refused.

`--from-binary PROGRAM` takes the dictionary out of programs that log through `protolog_rt`, and `--strip-to` takes \
their texts away: see `protologtool generate-viewer-config --from-binary --help`.

Exit codes: 0 done; 1 problems in the sources, or the file of --check is stale; nothing was written; 2 wrong command \
line, or a file can't be read, decoded or written.";

const CHECK_HELP: &str = "\
Examples:
  protologtool check --deny-warnings --message-format sarif \\
    --protolog-class dev.protolog.ProtoLog \\
    --loggroups-class com.foo.AppLog \\
    --loggroups-source src/com/foo/AppLog.java \\
    src > protolog.sarif
  protologtool check --deny-warnings src   # Rust
  protologtool check --fix src   # after a commit, to see what it changed

`--fix` puts a group and a template into their order, writes a group that is not imported by its full name, takes an \
array that is made for the call apart, and doubles a per cent sign at the end of a template.

Exit codes: 0 no errors; 1 errors in the sources; 2 wrong command line, or a file can't be read or decoded.";
