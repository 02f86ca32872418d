//! `transform-protolog-calls`: sources in, rewritten sources out, and the dictionary in the same pass if wanted.

use super::inputs::{Inputs, Outcome, class_name, dictionary, with_extension};
use crate::cli::{Exit, Failure};
use crate::output::{self, Outputs};
use crate::system::System;
use std::path::PathBuf;

const HELP: &str = "\
Example:
  protologtool transform-protolog-calls \\
    --protolog-class dev.protolog.ProtoLog \\
    --loggroups-class com.foo.AppLog --loggroups-source src/com/foo/AppLog.java \\
    --output-srcjar out/app.srcjar --viewer-config out/app.pb \\
    src/com/foo/*.java

A call such as
  ProtoLog.d(NET, \"sent %d bytes to %s\", n, host);
becomes, on the same line,
  if (dev.protolog.ProtoLogImpl.isEnabled(NET, dev.protolog.LogLevel.DEBUG)) dev.protolog.ProtoLogImpl.d(…);
and its text moves to the dictionary. No other byte of the source changes, and no line moves.

Exit codes: 0 done; 1 problems in the sources, nothing was written; 2 wrong command line, or a file can't be
read or written.";

/// Arguments of `transform-protolog-calls`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for an example.")]
#[command(group(clap::ArgGroup::new("output").required(true).args(["output_srcjar", "output_dir"])))]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// The class that rewritten code calls [default: the class of the calls with `Impl` appended]
    #[arg(long, value_name = "CLASS", value_parser = class_name)]
    protolog_impl_class: Option<String>,

    /// Write the sources, rewritten or not, into this archive
    #[arg(long, value_name = "FILE.srcjar", value_parser = srcjar)]
    output_srcjar: Option<PathBuf>,

    /// Write the sources, rewritten or not, under this directory
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,

    /// Name output files by their path below this directory, rather than by their path as given
    #[arg(long, value_name = "DIR")]
    source_root: Option<PathBuf>,

    /// Write the dictionary too (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE", value_parser = dictionary)]
    viewer_config: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, system: &dyn System) -> Result<Exit, Failure> {
    let (groups, processed) =
        match args.inputs.process(args.protolog_impl_class.as_deref(), system)? {
            Outcome::Good(groups, processed) => (groups, processed),
            Outcome::Bad => return Ok(Exit::Problems),
        };
    let outputs = Outputs {
        srcjar: args.output_srcjar.as_deref(),
        directory: args.output_dir.as_deref(),
        source_root: args.source_root.as_deref(),
        dictionaries: &args.viewer_config,
    };
    output::write(&outputs, &groups, processed, system)
}

fn srcjar(text: &str) -> Result<PathBuf, String> {
    with_extension(text, &["srcjar"])
        .ok_or("a source archive's name ends with `.srcjar`".to_owned())
}
