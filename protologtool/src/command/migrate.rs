//! `migrate`: the edits that move the log calls of other libraries, shown or made.
//!
//! Invariants: every call is moved or listed; files are written all of them or none, each whole,
//! and not if they changed since they were read; a second run changes nothing.

use super::inputs::{changed_meanwhile, files::files};
use crate::diagnostic::{MessageFormat, Reporter, Reporting};
use crate::differences;
use crate::exit::{Exit, Failure};
use crate::lang::migration::{FileMoves, Migration, MoveChoice, SourceLibrary};
use crate::lang::{java, rust};
use crate::output::{cant_read, cant_write};
use crate::rewrite::PlanBuilder;
use crate::source::Kind;
use crate::system::{Staged, System};
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// Arguments of `migrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct MigrateArgs {
    /// The library whose calls are moved
    #[arg(long, value_enum, value_name = "LIBRARY")]
    from: FromLibrary,

    /// Make the edits, rather than show them
    #[arg(long)]
    apply: bool,

    /// The group of all calls, such as `crate::AppLog::Net` [default: one of each module]
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,

    /// The name of the enum that is made of the groups
    #[arg(long, value_name = "NAME", default_value = "LogGroup", value_parser = name, conflicts_with = "group")]
    r#enum: String,

    #[command(flatten)]
    reporting: Reporting,

    /// Sources, and directories of them
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
}

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FromLibrary {
    /// The crate `log`
    Log,
    /// The crate `tracing`
    Tracing,
    /// SLF4J, of Java
    Slf4j,
}

const HELP: &str = "\
Examples:
  protologtool migrate --from log src   # shows the edits
  protologtool migrate --from log --apply src
  protologtool migrate --from tracing --group crate::AppLog::Net --apply src
  protologtool migrate --from slf4j --apply src

The edits are a difference that `git apply` takes where the paths lead down from the working directory.

A call such as
  info!(\"sent {} bytes to {host:?}\", n);
becomes
  info!(LogGroup::Net, \"sent %s bytes to %s\", n, protolog_rt::debug(&host));
and, in Java,
  LOG.info(\"sent {} bytes to {}\", n, host);
becomes
  ProtoLog.i(LogGroup.NET, \"sent %s bytes to %s\", n, host);
and prints the same text. Where all calls by an imported name move, the import becomes that of `protolog_rt::levels`; where one stays, \
the others are written `protolog_rt::i!(…)`. The group is that of the module or package, or of a literal target; the enum of the groups is put into \
the crate's root, or into a file of its own.

What can't be moved stays as it is, and is listed with the reason: spans and `#[instrument]`, calls in the bodies of macros, messages \
that are no literals, targets and levels that are known at run time only, arguments that would be evaluated twice or in another order; of \
SLF4J also markers, the fluent interface, and arguments that do not match the message.

Exit codes: 0 all calls are moved; 1 some are listed, the others are moved; 2 wrong command line, or a file can't be read or written.";

/// Checks the path of a group: an enum and its variant, or constant.
fn check_group(group: &str, language: Kind) -> Result<(), Failure> {
    let (separator, example) = match language {
        Kind::Java => (".", "com.foo.AppLog.NET"),
        _ => ("::", "crate::AppLog::Net"),
    };
    let is_name = |part: &str| {
        part.starts_with(|char: char| char.is_alphabetic() || char == '_')
            && part.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    if group.split(separator).all(is_name) && group.contains(separator) {
        return Ok(());
    }
    Err(Failure::new(format!("`{group}` is not the path of a group"))
        .help(format!("name an enum and its constant, as in `{example}`")))
}

fn name(text: &str) -> Result<String, String> {
    let is_type = text.starts_with(|char: char| char.is_ascii_uppercase())
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if is_type {
        Ok(text.to_owned())
    } else {
        Err("not the name of an enum such as `AppLog`".to_owned())
    }
}

/// Shows the edits, or makes them.
pub(crate) fn run(args: &MigrateArgs, system: &dyn System) -> Result<Exit, Failure> {
    let mut reporter = Reporter::without_outputs(args.reporting, system);
    let paths = files(&args.paths, false, None, system)?;
    let library = match args.from {
        FromLibrary::Log => SourceLibrary::Log,
        FromLibrary::Tracing => SourceLibrary::Tracing,
        FromLibrary::Slf4j => SourceLibrary::Slf4j,
    };
    let language = if library == SourceLibrary::Slf4j { Kind::Java } else { Kind::Rust };
    let is_it = |path: &PathBuf| Kind::of_path(path) == Some(language);
    let (paths, others): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_it);
    if paths.is_empty() {
        let error = others.iter().find_map(|path| Some((path, system.file_id(path).err()?)));
        return Err(
            error.map_or_else(|| no_sources(language), |(path, error)| cant_read(path, &error))
        );
    }
    if let Some(group) = &args.group {
        check_group(group, language)?;
    }
    let choice =
        MoveChoice { library, group: args.group.as_deref(), enum_name: args.r#enum.as_str() };
    let migration = match language {
        Kind::Java => java::migrate::migrate(system, &paths, choice),
        _ => rust::migrate::migrate(system, &paths, choice),
    };
    let mut migration = migration.map_err(|(path, error)| cant_read(&path, &error))?;
    if migration.files.is_empty() && language == Kind::Rust {
        migration.steps.extend(other_library(library, &paths, system));
    }
    let is_kotlin = |path: &&PathBuf| Kind::of_path(path) == Some(Kind::Kotlin);
    let kotlin = others.iter().filter(is_kotlin).count();
    if language == Kind::Java && kotlin > 0 {
        let files = counted(kotlin, "file");
        migration.notes.push(format!("{files} of Kotlin not read: only calls of Java are moved"));
    }
    let changes = changes(&migration)?;
    if args.apply {
        write(&changes, system)?;
    } else if args.reporting.message_format == MessageFormat::Human {
        let text: Vec<u8> = changes.iter().flat_map(FileChange::difference).collect();
        system.write_output(&text).map_err(|error| cant_write(Path::new("-"), &error))?;
    }
    for file in &migration.files {
        for listed in &file.listed {
            reporter.diagnostic(listed, &file.source);
        }
    }
    let listed: usize = migration.files.iter().map(|file| file.listed.len()).sum();
    system.print_error(&summary(&migration, args.apply));
    Ok(match reporter.finish(&Ok(())) {
        Exit::Done if listed > 0 => Exit::Problems,
        other => other,
    })
}

fn no_sources(language: Kind) -> Failure {
    let name = if language == Kind::Java { "Java" } else { "Rust" };
    Failure::new(format!("no source of {name} is in the paths"))
        .help("name sources of the library's language, or directories of them")
}

/// The step where nothing is found, and sources name the other library of Rust.
fn other_library(library: SourceLibrary, paths: &[PathBuf], system: &dyn System) -> Option<String> {
    let other = match library {
        SourceLibrary::Log => SourceLibrary::Tracing,
        _ => SourceLibrary::Log,
    };
    let words = [format!("use {}::", other.name()), format!(" {}::", other.name())];
    let names_it = |path: &&PathBuf| {
        let bytes = system.read(path).unwrap_or_default();
        words.iter().any(|word| memchr::memmem::find(&bytes, word.as_bytes()).is_some())
    };
    let path = paths.iter().find(names_it)?.display();
    Some(format!("try `--from {}`, which `{path}` names", other.name()))
}

/// A file before and after.
struct FileChange<'m> {
    path: &'m Path,
    /// None for a file that comes into being.
    before: Option<&'m [u8]>,
    after: Vec<u8>,
}

fn changes(migration: &Migration) -> Result<Vec<FileChange<'_>>, Failure> {
    let mut changes = Vec::new();
    for FileMoves { source, edits, .. } in &migration.files {
        let mut plan = PlanBuilder::default();
        for edit in edits {
            if edit.range.is_empty() {
                plan.wrap(edit.range.clone(), edit.text.as_str(), "");
            } else {
                plan.replace(edit.range.clone(), edit.text.as_str());
            }
        }
        let plan = plan.finish().map_err(|overlap| {
            let path = source.path().display();
            Failure::new(format!("the edits of `{path}` contradict each other: {overlap}"))
                .help("leave out this file, and report the fault")
        })?;
        let after = plan.apply(source.bytes());
        if after != source.bytes() {
            changes.push(FileChange { path: source.path(), before: Some(source.bytes()), after });
        }
    }
    let created = migration.created.iter();
    changes.extend(created.map(|(path, text)| FileChange {
        path,
        before: None,
        after: text.clone().into_bytes(),
    }));
    Ok(changes)
}

impl FileChange<'_> {
    /// As `git diff` prints it, byte for byte: sources need not be UTF-8.
    fn difference(&self) -> Vec<u8> {
        let path = self.path.strip_prefix(".").unwrap_or(self.path).display();
        let old = if self.before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
        let mut text = format!("--- {old}\n+++ b/{path}\n").into_bytes();
        text.extend(differences::unified(self.before.unwrap_or_default(), &self.after));
        text
    }
}

/// Writes all files, or none.
fn write(changes: &[FileChange<'_>], system: &dyn System) -> Result<(), Failure> {
    let mut staged: Vec<(&Path, Box<dyn Staged>)> = Vec::new();
    for FileChange { path, before, after } in changes {
        if let Some(before) = before {
            let now = system.read(path).map_err(|error| cant_read(path, &error))?;
            if now != *before {
                return Err(changed_meanwhile(path));
            }
        } else if system.is_file(path) {
            return Err(Failure::new(format!("`{}` is there already", path.display()))
                .help("name another enum by `--enum`, or its group by `--group`"));
        }
        let file = match before {
            Some(_) => system.stage_change(path, after),
            None => system.stage(path, &mut |sink| sink.write_all(after)),
        };
        staged.push((path, file.map_err(|error| cant_write(path, &error))?));
    }
    for (path, file) in staged {
        file.commit().map_err(|error| cant_write(path, &error))?;
    }
    Ok(())
}

/// The numbers, the facts and the steps that are left.
fn summary(migration: &Migration, is_made: bool) -> String {
    let moved: usize = migration.files.iter().map(|file| file.moved).sum();
    let listed: usize = migration.files.iter().map(|file| file.listed.len()).sum();
    let files = migration.files.iter().filter(|file| file.moved > 0).count();
    let [moved, files] = [(moved, "call"), (files, "file")].map(|(count, of)| counted(count, of));
    let verb = if is_made { "moved" } else { "can be moved" };
    let rest = if listed > 0 { format!(", {listed} not") } else { String::new() };
    let mut text = format!("{moved} {verb} in {files}{rest}\n");
    for note in &migration.notes {
        text = text + "note: " + note + "\n";
    }
    for step in &migration.steps {
        text = text + "help: " + step + "\n";
    }
    text
}

fn counted(count: usize, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}
