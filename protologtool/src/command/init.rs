//! `init`: the fragment of a build file that has the tool process a project's log calls, for the
//! build that the project has.
//!
//! It prints, or writes a file that is not there yet; it never changes one that is. Obstacles
//! between the fragment and a build that works are reported on standard error.

mod build;
mod fragment;
mod survey;

use crate::exit::{Exit, Failure};
use crate::output::cant_write_or;
use crate::system::{Staged, System};
use build::Build;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use survey::{GroupClass, Survey};

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct InitArgs {
    /// The build to write for [default: that of the build file in the directory]
    #[arg(long, value_enum, value_name = "BUILD")]
    build: Option<Build>,

    /// Write the fragment to this file, which must not be there yet
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The directory of the project
    #[arg(default_value = ".", value_name = "DIR")]
    directory: PathBuf,
}

const HELP: &str = "\
Examples:
  protologtool init   # prints what belongs into pom.xml, build.gradle, BUILD …
  protologtool init --build gradle-kotlin app -o app/protolog.gradle.kts

It looks for sources with log calls and for the class of their groups, and fills them in.";

/// Prints the fragment, or writes it.
pub(crate) fn run(args: &InitArgs, system: &dyn System) -> Result<Exit, Failure> {
    let directory = args.directory.as_path();
    if !system.is_directory(directory) {
        return Err(Failure::new(format!("`{}` is no directory", directory.display()))
            .help("name the directory of a project"));
    }
    let build = match args.build {
        Some(build) => build,
        None => Build::of_directory(directory, system)?,
    };
    let mut survey = Survey::of(directory, build, system)?;
    if survey.groups.is_empty() && build.shares_groups() {
        survey.other_groups.extend(groups_around(directory, build, system)?);
    }
    refuse_modules(directory, build, &survey)?;
    if let Some(name) = fragment::unsuitable_name(build, &survey) {
        let text =
            format!("`{name}` can't stand in a build file as it is: it would not be text there");
        let help = "rename it: letters, digits and `_-./+=,~` stand for themselves in each build";
        return Err(Failure::new(text).help(help));
    }
    let fragment = fragment::fill(build, &survey);
    match &args.output {
        Some(file) => write_new(file, &fragment, system)?,
        None => system.print(&fragment),
    }
    system.print_error(&notes(build, &survey, args.output.as_deref()));
    Ok(Exit::Done)
}

/// The groups of the project that the directory is a module of, with their paths from there.
fn groups_around(
    directory: &Path,
    build: Build,
    system: &dyn System,
) -> Result<Vec<GroupClass>, Failure> {
    for up in ["..", "../.."] {
        let project = directory.join(up);
        if !build.has_project(&project, system) {
            break;
        }
        let found = Survey::of(&project, build, system)?;
        let found = found.all_groups().into_iter();
        let from_here =
            found.map(|it| GroupClass { source: Path::new(up).join(&it.source), ..it.clone() });
        let groups: Vec<GroupClass> = from_here.collect();
        if !groups.is_empty() {
            return Ok(groups);
        }
    }
    Ok(Vec::new())
}

/// Refuses the root of a project whose calls are all in its modules: each of these needs the step,
/// and it nothing.
fn refuse_modules(directory: &Path, build: Build, survey: &Survey) -> Result<(), Failure> {
    let modules = with_calls(survey);
    match modules.as_slice() {
        [first, ..] if build.takes_groups() && survey.sources_with_calls() == 0 => {
            let message = format!(
                "`{}` has log calls in its modules only: {}",
                directory.display(),
                modules
                    .iter()
                    .map(|it| format!("`{}`", it.display()))
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            let first = directory.join(first);
            let first = first.strip_prefix(".").unwrap_or(&first).display();
            let help =
                format!("run `protologtool init {first}`, and the same for each other module");
            Err(Failure::new(message).help(help))
        }
        _ => Ok(()),
    }
}

/// The modules with log calls.
fn with_calls(survey: &Survey) -> Vec<&Path> {
    let modules = survey.modules.iter().filter(|(_, calls)| *calls > 0);
    modules.map(|(path, _)| path.as_path()).collect()
}

fn write_new(file: &Path, fragment: &str, system: &dyn System) -> Result<(), Failure> {
    if system.is_file(file) || system.is_directory(file) {
        return Err(Failure::new(format!("`{}` is there already", file.display()))
            .help("name a new file, or leave out `--output` and copy what is printed"));
    }
    let failed = |error: io::Error| {
        cant_write_or(file, &error, "name a file in a directory that you may write to")
    };
    let staged = system.stage(file, &mut |sink| sink.write_all(fragment.as_bytes()));
    staged.and_then(Staged::commit).map_err(failed)
}

/// The findings, and the steps that are left.
fn notes(build: Build, survey: &Survey, output: Option<&Path>) -> String {
    let mut text = String::new();
    let calls = match survey.sources_with_calls() {
        1 => "1 source with log calls".to_owned(),
        count => format!("{count} sources with log calls"),
    };
    let _ = writeln!(text, "note: {}, {calls}", build.title());
    if build.takes_groups() {
        let modules = with_calls(survey);
        if !modules.is_empty() {
            let modules: Vec<String> =
                modules.iter().map(|it| format!("`{}`", it.display())).collect();
            let _ = writeln!(
                text,
                "note: these modules need a step of their own: {}",
                modules.join(", ")
            );
        }
    }
    if build.takes_groups() && !fragment::is_for_rust(build, survey) {
        match survey.all_groups().as_slice() {
            [] => text.push_str(
                "note: no enum implements `IProtoLogGroup` here: put in your class of groups in place of `com.foo.AppLog`\n",
            ),
            [one] => {
                let _ = writeln!(text, "note: groups are those of `{}`", one.class);
            }
            [one, others @ ..] => {
                let others: Vec<String> =
                    others.iter().map(|it| format!("`{}`", it.class)).collect();
                let _ = writeln!(
                    text,
                    "note: groups are those of `{}`; also there: {}\nhelp: process the sources of each class of groups by a step of its own",
                    one.class,
                    others.join(", ")
                );
            }
        }
    }
    let place = match output {
        Some(file) => format!("use `{}` {}", file.display(), build.use_of_file()),
        None => format!("put this {}", build.place()),
    };
    let _ = writeln!(text, "help: {place}");
    if let Some(runtime) = build.runtime() {
        let _ = writeln!(text, "help: {runtime}");
    }
    text
}
