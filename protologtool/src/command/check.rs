//! `check`: sources in, problems out.

use super::inputs::process;
use crate::cli::{Check, Exit};
use crate::diagnostic::Reporter;
use crate::system::System;

pub(super) fn run(args: &Check, system: &dyn System) -> Exit {
    let mut reporter = Reporter::new(args.reporting, system);
    let result = process(&args.sources, None, None, &mut reporter, system).map(drop);
    reporter.finish(&result)
}
