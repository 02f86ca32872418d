//! `generate-viewer-config`: sources in, dictionary out.

use super::inputs::{Inputs, Outcome, dictionary};
use crate::cli::{Exit, Failure};
use crate::output::{self, Outputs};
use crate::system::System;
use std::path::PathBuf;

const HELP: &str = "\
Example:
  protologtool generate-viewer-config \\
    --protolog-class dev.protolog.ProtoLog \\
    --loggroups-class com.foo.AppLog --loggroups-source src/com/foo/AppLog.java \\
    --viewer-config out/app.pb --viewer-config out/app.json \\
    src/com/foo/*.java

The dictionary maps the ids in rewritten code and in traces to texts. `transform-protolog-calls` can write
the same files in its own pass.

Exit codes: 0 done; 1 problems in the sources, nothing was written; 2 wrong command line, or a file can't be
read or written.";

/// Arguments of `generate-viewer-config`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HELP, after_help = "See --help for an example.")]
pub struct Args {
    #[command(flatten)]
    inputs: Inputs,

    /// Write the dictionary to this file (.pb, .json or .json.gz); may be repeated
    #[arg(long, value_name = "FILE", required = true, value_parser = dictionary)]
    viewer_config: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, system: &dyn System) -> Result<Exit, Failure> {
    let (groups, processed) = match args.inputs.process(None, system)? {
        Outcome::Good(groups, processed) => (groups, processed),
        Outcome::Bad => return Ok(Exit::Problems),
    };
    let outputs = Outputs { dictionaries: &args.viewer_config, ..Outputs::default() };
    output::write(&outputs, &groups, processed, system)
}
