//! `check`: sources in, problems out.

use super::inputs::{RunRequest, process};
use crate::args::Check;
use crate::diagnostic::Reporter;
use crate::exit::Exit;
use crate::system::System;

pub(crate) fn run(args: &Check, system: &dyn System) -> Exit {
    let mut reporter = Reporter::new(args.reporting, system);
    let result = process(&args.sources, RunRequest::default(), &mut reporter, system).map(drop);
    reporter.finish(&result)
}
