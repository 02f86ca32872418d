//! Errors of the command line, in the form of all other errors: the user's text in backticks, then
//! the advice.
//!
//! The parser's own texts are kept for kinds of errors that are not known here.

use crate::command::binary;
use crate::suggest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::num::ParseIntError;

/// The text for an error, with its line ends; `args` is the command line, the program's name first,
/// and `origin` where in a response file the argument stands that it is about.
pub(super) fn text(error: &clap::Error, args: &[OsString], origin: Option<&str>) -> String {
    if let Some(text) = android(error, args) {
        return text;
    }
    let at = origin.map_or(String::new(), |origin| format!("{origin}: "));
    match message(error, args) {
        Some(message) => format!("error: {at}{message}\nhelp: {}\n", help(error, args)),
        None => format!("{at}{}", error.render()),
    }
}

/// The message of Android's `protolog_configuration`, where it has one.
fn android(error: &clap::Error, args: &[OsString]) -> Option<String> {
    if args.get(1).is_none_or(|command| command != "configuration") {
        return None;
    }
    match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Some("Incomplete command. Use 'protologtool configuration help' for guidance.\n".into())
        }
        ErrorKind::InvalidSubcommand => {
            let other = string(error, ContextKind::InvalidSubcommand)?;
            let meant = suggest::command(&parent(args, other), other);
            let help = meant.map_or(String::new(), |meant| format!("help: use {meant}\n"));
            Some(format!("Unknown command: {other} (use 'help' command for guidance)\n{help}"))
        }
        _ => None,
    }
}

fn message(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let get = |kind| string(error, kind);
    let flag = get(ContextKind::InvalidArg).map(name);
    Some(match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command".to_owned()
        }
        ErrorKind::InvalidSubcommand => {
            format!("no command `{}`", get(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::UnknownArgument => match flag? {
            flag if flag.starts_with('-') => format!("unknown flag `{flag}`"),
            other => format!("unexpected argument `{other}`"),
        },
        ErrorKind::MissingRequiredArgument => format!("missing {}", required(error, args)?),
        ErrorKind::ArgumentConflict => {
            let (flag, other) = (flag?, strings(error, ContextKind::PriorArg));
            match other.first().map(|other| name(other)) {
                Some(other) if other != flag => format!("`{flag}` can't be used with `{other}`"),
                _ => format!("`{flag}` is given twice"),
            }
        }
        ErrorKind::InvalidValue => match get(ContextKind::InvalidValue)? {
            "" => format!("no value for `{}`", flag?),
            value => format!("`{value}` is not a value of `{}`", flag?),
        },
        ErrorKind::TooManyValues => {
            format!("`{}` takes no value: `{}`", flag?, get(ContextKind::InvalidValue)?)
        }
        ErrorKind::ValueValidation => {
            let cause = cause(std::error::Error::source(error)?);
            format!("`{}` for `{}`: {cause}", get(ContextKind::InvalidValue)?, flag?)
        }
        _ => return None,
    })
}

/// The reason why a value is none, in one line and in our words.
fn cause(cause: &(dyn std::error::Error + 'static)) -> String {
    if cause.is::<ParseIntError>() {
        return "it is no whole number, or too large".to_owned();
    }
    let text = cause.to_string();
    if cause.is::<regex::Error>() {
        // A drawing of the place stands before it.
        let last = text.lines().next_back().unwrap_or_default();
        return last.strip_prefix("error: ").unwrap_or(last).to_owned();
    }
    // Clap's words for a range, whose end is the largest number there is if none was set.
    let Some((_, range)) = text.split_once(" is not in ") else { return text };
    match range.split_once("..") {
        Some((first, last)) if last.trim_start_matches('=') == u64::MAX.to_string() => {
            format!("it is less than {first}")
        }
        Some((first, last)) => {
            format!("it is not from {first} to {}", last.trim_start_matches('='))
        }
        None => text,
    }
}

fn help(error: &clap::Error, args: &[OsString]) -> String {
    let valid = strings(error, ContextKind::ValidValue);
    if !valid.is_empty() {
        return format!("use one of `{}`", valid.join("`, `"));
    }
    let special = format_flag(error, args).or_else(|| separate_level(error, args));
    if let Some(one) = special.or_else(|| output_flag(error, args)) {
        return one;
    }
    let similar = match string(error, ContextKind::InvalidSubcommand) {
        Some(file) if file.contains(['.', '/']) => {
            Some(format!("`protologtool read-log {file}` for the log in a trace"))
        }
        Some(wanted) => suggest::command(&parent(args, wanted), wanted),
        None => {
            let similar = strings(error, ContextKind::SuggestedArg).into_iter().next();
            similar.map(|similar| format!("`{}`", name(&similar)))
        }
    };
    let words = command(args).map_or(String::new(), |(words, _)| words.join(" "));
    let see = match words.as_str() {
        "" => "run `protologtool --help` for the list of commands".to_owned(),
        binary::NAME => format!("run `protologtool {} --help` for its flags", binary::SHOWN),
        words => format!("run `protologtool {words} --help` for its flags"),
    };
    match similar {
        Some(similar) => format!("use {similar}, or {see}"),
        None => see,
    }
}

/// The help for `-o` and `--output`, which most commands have, where outputs have flags of their
/// own.
fn output_flag(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let flag = name(string(error, ContextKind::InvalidArg)?);
    let (words, _) = command(args)?;
    let own = match words.last()?.as_str() {
        "generate-viewer-config" => "`--viewer-config FILE`",
        "transform-protolog-calls" => "`--output-dir DIR` or `--output-srcjar FILE.srcjar`",
        _ => return None,
    };
    let is_it = error.kind() == ErrorKind::UnknownArgument && ["-o", "--output"].contains(&flag);
    is_it.then(|| format!("use {own}"))
}

/// The help for `level Net=warn`, the form of `trace start`, where the group and the level are two
/// arguments.
fn separate_level(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let (words, _) = command(args)?;
    let is_level = error.kind() == ErrorKind::MissingRequiredArgument
        && words.last().is_some_and(|it| it == "level");
    let mut given = args.iter().filter_map(|it| it.to_str()).filter(|it| !it.starts_with('-'));
    let (group, level) = given.find_map(|it| it.split_once('='))?;
    is_level.then(|| format!("use `protologtool {} {group} {level}`", words.join(" ")))
}

/// The help for `--json`, which some commands have, where another flag says the same.
fn format_flag(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let wanted = name(string(error, ContextKind::InvalidArg)?).strip_prefix("--")?;
    let (_, command) = command(args)?;
    let format = command.get_arguments().find(|arg| arg.get_long() == Some("format"))?;
    let is_one = format.get_possible_values().iter().any(|value| value.get_name() == wanted);
    is_one.then(|| format!("use `--format {wanted}`"))
}

/// The command below which `wanted` was looked for.
fn parent(args: &[OsString], wanted: &str) -> clap::Command {
    let mut command = super::table();
    for word in args.iter().skip(1).take_while(|word| *word != wanted) {
        let next = word.to_str().and_then(|word| command.find_subcommand(word)).cloned();
        command = next.unwrap_or(command);
    }
    command
}

/// The command that is meant, and the words that name it, such as `configuration trace start`.
fn command(args: &[OsString]) -> Option<(Vec<String>, clap::Command)> {
    let mut command = super::table();
    let all = command.clone().ignore_errors(true).try_get_matches_from(args).ok()?;
    let (mut matches, mut words) = (&all, Vec::new());
    while let Some((word, next)) = matches.subcommand() {
        command = command.find_subcommand(word)?.clone();
        words.push(word.to_owned());
        matches = next;
    }
    (!words.is_empty()).then_some((words, command))
}

/// The missing arguments, as a list: of alternatives one.
fn required(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let missing = strings(error, ContextKind::InvalidArg);
    let command = command(args);
    let one = |item: &String| {
        let of = command.as_ref().map(|(_, command)| command);
        if let Some(plain) = of.and_then(|command| operand(item, command)) {
            return plain;
        }
        let item = item.strip_prefix('<').filter(|item| item.contains('|')).map_or_else(
            || item.clone(),
            |group| group.strip_suffix('>').unwrap_or(group).to_owned(),
        );
        alternatives(&item).iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(" or ")
    };
    let all: Vec<String> = missing.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The parts of `--a <FILE>|--b <FILE|DIR>`: a bar within brackets parts the values of one flag.
fn alternatives(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_between = |c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        c == '|' && depth == 0
    };
    group.split(is_between).collect()
}

/// The description of `<NAME>`, an argument without a flag, by the first words of its help:
/// "sources", "the trace".
fn operand(item: &str, command: &clap::Command) -> Option<String> {
    let name = item.strip_prefix('<')?.trim_end_matches('.').strip_suffix('>')?;
    let is_it = |arg: &&clap::Arg| {
        arg.get_value_names().is_some_and(|names| names.iter().any(|it| it.as_str() == name))
    };
    let help = command.get_positionals().find(is_it)?.get_help()?.to_string();
    let words = help.split([':', ',', '.', ';']).next()?;
    Some(words[..1].to_lowercase() + &words[1..])
}

/// A flag without its value.
fn name(flag: &str) -> &str {
    if flag.starts_with('-') { flag.split([' ', '=', '[']).next().unwrap_or(flag) } else { flag }
}

fn string(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
