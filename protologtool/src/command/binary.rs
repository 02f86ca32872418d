//! `generate-viewer-config --from-binary`: programs in, dictionary out, and with `--strip-to` a
//! program without texts.
//!
//! A command of its own in the table, since it takes none of the flags for sources; [`route`] sends
//! the arguments here.

use super::clashes;
use super::generate::stale;
use crate::args::values::dictionary;
use crate::binary;
use crate::diagnostic::Reporter;
use crate::diagnostic::Reporting;
use crate::exit::{Exit, Failure};
use crate::output::{self, OutputProgram, Outputs, cant_read};
use crate::system::System;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use viewer_config::{Collector, Dictionary, Format};

/// The command's name in the table.
pub(crate) const NAME: &str = "generate-viewer-config-from-binary";

const HELP: &str = "\
Examples:
  protologtool generate-viewer-config --from-binary target/release/app \\
    --viewer-config app.pb
  protologtool generate-viewer-config --from-binary app libplugin.so \\
    --viewer-config all.json
  protologtool generate-viewer-config --from-binary app --strip-to dist/app \\
    --viewer-config dictionaries

A program that logs through the macros of `protolog_rt` carries its dictionary, and its traces do. `--strip-to` \
writes a program that has the dictionary's hash in its place. Its traces name that hash: `read-log --viewer-config DIR` \
finds the dictionary among those in DIR. What it prints as text shows `#<id> (arguments)`, unless the environment \
variable PROTOLOG_DICTIONARIES names a directory that holds the dictionary as `<hash>.pb`; a directory given to \
`--viewer-config` gets it under that name. Sign a program after it was stripped.

Executables and shared objects of ELF, PE (Windows) and Mach-O (macOS) are read; programs of WebAssembly are not.

Exit codes: 0 done; 1 dictionaries contradict each other, or the file of --check is stale; nothing was written; 2 wrong \
command line, or a file can't be read or written.";

const USAGE: &str = "protologtool generate-viewer-config [OPTIONS] --from-binary <PROGRAM>... \
                     <--viewer-config <FILE|DIR>|--check <FILE>>";

/// Arguments of `generate-viewer-config --from-binary`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for examples.")]
#[command(override_usage = USAGE)]
#[command(group(clap::ArgGroup::new("outputs").required(true).multiple(true).args(["viewer_config", "check"])))]
pub(crate) struct BinaryArgs {
    /// Read the log calls of these programs and shared objects
    #[arg(long, value_name = "PROGRAM", required = true, num_args = 1..)]
    from_binary: Vec<PathBuf>,

    /// Write the dictionary to this file (.pb, .json or .json.gz), or into this directory as
    /// `<hash>.pb`; may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    viewer_config: Vec<PathBuf>,

    /// Add the contents of this dictionary (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    merge: Vec<PathBuf>,

    /// Fail, and show the difference, unless this file holds exactly this dictionary
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    check: Option<PathBuf>,

    /// Write the program without its texts to this file
    #[arg(long, value_name = "PROGRAM", requires = "viewer_config")]
    strip_to: Option<PathBuf>,

    /// Write a makefile that lists the files the outputs were made from
    #[arg(long, value_name = "FILE", requires = "viewer_config")]
    depfile: Option<PathBuf>,

    #[command(flatten)]
    reporting: Reporting,
}

/// The command's name in messages.
pub(crate) const SHOWN: &str = "generate-viewer-config --from-binary";

/// Replaces the command where its arguments ask for programs rather than sources.
pub(crate) fn route(args: &mut [OsString]) {
    let is_flag = |arg: &OsString| {
        arg == "--from-binary" || arg.as_encoded_bytes().starts_with(b"--from-binary=")
    };
    let wanted = args.get(1).is_some_and(|command| command == "generate-viewer-config");
    if wanted && args.iter().take_while(|arg| *arg != OsStr::new("--")).any(is_flag) {
        args[1] = NAME.into();
        // Help is shown even if required arguments are missing.
        if let Some(help) = args.iter().position(|arg| arg == "--help" || arg == "-h") {
            args[2..=help].rotate_right(1);
        }
    }
}

pub(crate) fn run(args: &BinaryArgs, response_files: &[PathBuf], system: &dyn System) -> Exit {
    let mut reporter = Reporter::new(args.reporting, system);
    let result = generate(args, response_files, &mut reporter, system);
    reporter.finish(&result)
}

fn generate(
    args: &BinaryArgs,
    response_files: &[PathBuf],
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<(), Failure> {
    if let (Some(_), [first, second, ..]) = (&args.strip_to, &args.from_binary[..]) {
        let (first, second) = (first.display(), second.display());
        return Err(Failure::new(format!("`--strip-to` can't take both `{first}` and `{second}`"))
            .help("strip one program at a time"));
    }
    let Some(dictionary) = collect(args, reporter, system)? else { return Ok(()) };
    if let Some(path) = &args.check
        && let Some(difference) = output::difference(path, &dictionary, None, system)?
    {
        reporter.text(&difference);
        reporter.notice(&stale(path, "these programs"));
    }
    if reporter.errors() > 0 {
        return Ok(());
    }
    let hash = dictionary.hash();
    let paths = paths(args, hash, system)?;
    let dictionaries = paths.iter().map(|(path, format)| (path.as_path(), *format)).collect();
    let inputs = args.from_binary.iter().chain(&args.merge).chain(&args.check);
    let outputs = Outputs {
        dictionaries,
        depfile: args.depfile.as_deref(),
        inputs: inputs.chain(response_files).cloned().collect(),
        ..Outputs::default()
    };
    let Some(to) = &args.strip_to else {
        return output::write(&outputs, &[], &dictionary, system);
    };
    let from = &args.from_binary[0];
    let mode = system.mode(from).map_err(|error| cant_read(from, &error))?;
    let program = OutputProgram { path: to, bytes: strip(from, hash, system)?, mode };
    let outputs = Outputs { program: Some(program), ..outputs };
    output::write(&outputs, &[], &dictionary, system)
}

/// The dictionary of all programs and of the dictionaries to merge; none if they contradict each
/// other, which was shown.
fn collect(
    args: &BinaryArgs,
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<Option<Dictionary>, Failure> {
    let mut collector = Collector::new();
    for path in &args.from_binary {
        let bytes = system.read_large(path).map_err(|error| cant_read(path, &error))?;
        binary::read(&bytes, &mut collector).map_err(|error| refused("read", path, &error))?;
    }
    for path in &args.merge {
        collector.add(output::read_dictionary(path, system)?);
    }
    match collector.finish() {
        Ok(collected) => Ok(Some(collected.dictionary)),
        Err(problems) => {
            clashes::report(&problems, &[], reporter, system);
            Ok(None)
        }
    }
}

/// Where the dictionary goes, and in which format.
fn paths(
    args: &BinaryArgs,
    hash: u64,
    system: &dyn System,
) -> Result<Vec<(PathBuf, Format)>, Failure> {
    let place = |path: &PathBuf| {
        if system.is_directory(path) {
            return Ok((path.join(format!("{hash:016x}.pb")), Format::Pb));
        }
        let format = Format::of_path(path).ok_or_else(|| {
            Failure::new(format!("`{}` is neither a directory nor a dictionary", path.display()))
                .help("give a name that ends with `.pb`, `.json` or `.json.gz`, or make the directory")
        });
        format.map(|format| (path.clone(), format))
    };
    args.viewer_config.iter().map(place).collect()
}

/// The program without texts.
fn strip(from: &Path, hash: u64, system: &dyn System) -> Result<Vec<u8>, Failure> {
    let mut bytes = system.read_large(from).map_err(|error| cant_read(from, &error))?;
    binary::strip(&mut bytes, hash).map_err(|error| refused("strip", from, &error))?;
    Ok(bytes)
}

fn refused(what: &str, path: &Path, error: &binary::BinaryError) -> Failure {
    Failure::new(format!("can't {what} `{}`: {error}", path.display()))
        .help(error.help().to_owned())
}
