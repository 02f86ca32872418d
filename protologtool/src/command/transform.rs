//! `transform-protolog-calls`: sources in, rewritten sources out, and the dictionary in the same
//! pass if wanted.

use super::inputs::{RunRequest, process};
use crate::args::Transform;
use crate::diagnostic::Reporter;
use crate::exit::{Exit, Failure};
use crate::inject::Values;
use crate::output::{self, Outputs};
use crate::system::System;
use crate::target::{AndroidFlags, CodeRequest};
use std::path::PathBuf;
use viewer_config::Format;

pub(crate) fn run(args: &Transform, response_files: &[PathBuf], system: &dyn System) -> Exit {
    let mut reporter = Reporter::new(args.reporting, system);
    let result = transform(args, response_files, &mut reporter, system);
    // A build that leaves nothing out stays silent.
    if !reporter.calls().are_all_rewritten() {
        reporter.show_calls();
    }
    reporter.finish(&result)
}

fn transform(
    args: &Transform,
    response_files: &[PathBuf],
    reporter: &mut Reporter<'_>,
    system: &dyn System,
) -> Result<(), Failure> {
    let code = CodeRequest {
        implementation: args.protolog_impl_class.as_deref(),
        template: args.protolog_impl_template.as_deref(),
        values: Values {
            viewer_config: args.viewer_config_file_path.as_deref(),
            legacy_viewer_config: args.legacy_viewer_config_file_path.as_deref(),
            legacy_output: args.legacy_output_file_path.as_deref(),
        },
    };
    let output = args.output_dir.as_deref();
    let source_root = args.source_root.as_deref();
    let run = RunRequest { code: Some(code), output, source_root, flags: flags(args) };
    let done = process(&args.sources, run, reporter, system)?;
    let Some(mut done) = done else { return Ok(()) };
    done.inputs.extend_from_slice(response_files);
    let named = |path| (path, Format::of_path(path).unwrap_or(Format::Pb));
    let outputs = Outputs {
        archive: args.output_srcjar.as_deref().map(|path| (path, args.compress)),
        directory: output,
        incremental: done.incremental.as_ref(),
        is_locked: done.previous.is_some(),
        source_root,
        dictionaries: args.viewer_config.iter().map(|path| named(path.as_path())).collect(),
        statements: done.statements.as_ref(),
        depfile: args.depfile.as_deref(),
        inputs: done.inputs,
        ..Outputs::default()
    };
    output::write(&outputs, &done.processed, &done.dictionary, system)
}

/// The flags that only rules of Android's build pass.
fn flags(args: &Transform) -> AndroidFlags {
    let of_15 = [
        (&args.legacy_viewer_config_file_path, "--legacy-viewer-config-file-path"),
        (&args.legacy_output_file_path, "--legacy-output-file-path"),
    ];
    let of_15 = of_15.into_iter().find(|(value, _)| value.is_some()).map(|(_, flag)| flag);
    let of_any = args.viewer_config_file_path.as_ref().map(|_| "--viewer-config-file-path");
    AndroidFlags { any: of_any.or(of_15), is_15: of_15.is_some(), is_later: false }
}
