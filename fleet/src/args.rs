//! Parts that the kinds of exports share: values of options, and the end of a run.

use lexopt::{Parser, ValueExt};

use crate::failure::{Failure, Result};

/// The end of a run, by its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done = 0,
    /// A file could not be read.
    Failed = 2,
    /// A part of a trace could not be read.
    Incomplete = 3,
}

/// The text behind an option.
pub(crate) fn text(parser: &mut Parser) -> Result<String> {
    parser.value().and_then(ValueExt::string).map_err(misuse)
}

/// A mistake on the command line.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub(crate) fn misuse(error: lexopt::Error) -> Failure {
    Failure::new(error.to_string()).help("run `protologtool export --help` for the options")
}

/// The name of this machine.
pub(crate) fn this_host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}
