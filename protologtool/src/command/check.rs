//! `check`: sources in, problems out.

use super::fix;
use super::inputs::{RunRequest, process};
use crate::args::Check;
use crate::diagnostic::Reporter;
use crate::exit::{Exit, Failure};
use crate::system::System;

pub(crate) fn run(args: &Check, system: &dyn System) -> Exit {
    let mut reporter = Reporter::without_outputs(args.reporting, system);
    let result = check(args, &mut reporter, system);
    reporter.show_calls();
    reporter.finish(&result)
}

fn check(args: &Check, reporter: &mut Reporter<'_>, system: &dyn System) -> Result<(), Failure> {
    if args.fix {
        let (changes, files) = fix::apply(args, system)?;
        if changes > 0 {
            let [changes, files] =
                [(changes, "change"), (files, "file")].map(|(count, of)| counted(count, of));
            system.print_error(&format!("{changes} made in {files}\n"));
        }
    }
    process(&args.sources, RunRequest::default(), reporter, system).map(drop)
}

fn counted(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}
