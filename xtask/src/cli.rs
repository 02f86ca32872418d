//! The command line: strict, so that a misspelt option is refused and not ignored.

use std::path::PathBuf;

use crate::Result;
use crate::bench::BENCHES;
use crate::release;
use crate::soak;
use crate::test::{SETUPS, STEPS, every};

/// A command line, understood.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Help,
    Demo { dir: Option<PathBuf>, install: bool },
    Test { only: Vec<String>, install: bool },
    Setup { only: Vec<String> },
    Soak { only: Vec<String> },
    Bench { only: Vec<String>, json: bool },
    Bless { args: Vec<String> },
    Jar,
    Release { only: Vec<String> },
}

/// The whole help text.
pub(crate) fn help() -> String {
    let lines = |list: &[(&str, &str)]| -> String {
        let lines =
            list.iter().map(|(name, what)| format!("                    {name:<12} {what}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let steps: Vec<_> = STEPS.iter().map(|(name, what, ..)| (*name, *what)).collect();
    let benches: Vec<_> = BENCHES.iter().map(|(name, what, ..)| (*name, *what)).collect();
    HELP.replace("{steps}", &lines(&steps))
        .replace("{soak}", &lines(&soak::STEPS.map(|(name, what, _)| (name, what))))
        .replace("{benches}", &lines(&benches))
        .replace("{release}", &lines(&release::STEPS.map(|(name, what, _)| (name, what))))
}

const HELP: &str = "\
usage: cargo xtask COMMAND

  demo [DIR]      the main job: rewrite the log calls of the Java example, compile it before and after, run both on the
                  directory tree DIR (default: the sources in cargo's registry), compare, show the dictionary; then run
                  the Rust example on the same tree; read all traces, and one of both programs, also with Perfetto's
                  trace_processor
  test [STEP]...  everything that is tested; without STEP all of them but `instructions`, `loom`, `oldest` and `packages`, in
                  this order, with `java`, `python` and `fleet` beside the others:
{steps}
  setup [STEP]... install what these steps of `test` need, all of them without STEP; `jar` and `bench` are for those commands
  soak [STEP]...  what takes longer or needs a nightly compiler; without STEP all of them, in this order:
{soak}
  bench [NAME]... figures, each beside its floor; without NAME all of them, in this order:
{benches}
  bless [ARG]...  run the tests and rewrite their expectations; ARG goes to cargo test, as in `bless -p protolog-tool`;
                  `bless instructions` rewrites the table of that step of `test`, `bless api` the lists of that step of
                  `release`
  jar             the Java runtime and its bridges from other loggers as jars, in target/java/jars; it needs a JDK, and the
                  bridges from SLF4J, Log4j and Logback what `setup jar` fetches
  release --dry-run [STEP]...
                  the packages in the order of their publication, whether all is ready, and what is left to a person; without
                  STEP all of them, in this order:
{release}
  help            this text

  --json          (bench) write the figures of `runtime` to target/bench/figures.json too
  --all           (test) all steps, with those that guard rare interleavings, compilers, platforms and figures:
                  `instructions`, `loom`, `oldest`, `packages`
  --no-install    (demo, test) say what is missing and skip what needs it
  --install       (test STEP) install what the step needs first, as `setup STEP` does

`demo`, `test` without STEP, and `setup` install: Debian packages when root, Python wheels, Kotlin's compiler (by npm) and
compilers of Debian's under target/tools, and what only rustup has in rustup: components, the oldest Rust that is promised.
All else names what is missing.

With the environment variable CI set, `test` and `demo` skip nothing: where a tool, a compiler or a table of instructions
is missing, the step fails. One exception: an old compiler that neither Debian nor rustup offers is named in the summary.
";

/// Parses the words after `cargo xtask`; an error says what is wrong with them.
pub(crate) fn parse(words: &[String]) -> Result<Request> {
    let Some((command, rest)) = words.split_first() else {
        return Err("no command".to_owned());
    };
    let asks_for_help = rest.iter().any(|word| word == "--help" || word == "-h")
        || rest.first().is_some_and(|word| word == "help");
    if asks_for_help && command != "bless" {
        return Ok(Request::Help);
    }
    match command.as_str() {
        "help" | "--help" | "-h" => nothing(rest).map(|()| Request::Help),
        "demo" => {
            let (mut names, options) = split(rest, &["--no-install"])?;
            let dir = names.pop().map(PathBuf::from);
            nothing(&names).map(|()| Request::Demo { dir, install: options.is_empty() })
        }
        "test" => {
            let (mut only, options) = split(rest, &["--all", "--no-install", "--install"])?;
            known("step", &only, "test", STEPS.iter().map(|(step, ..)| *step))?;
            // Of those about installing the last one counts.
            let install = options.iter().rfind(|option| *option != "--all");
            let install = install.map_or(only.is_empty(), |option| option == "--install");
            if options.iter().any(|option| option == "--all") {
                if let Some(step) = only.first() {
                    return Err(format!("`--all` has the step `{step}` in it"));
                }
                only = every();
            }
            Ok(Request::Test { only, install })
        }
        "setup" => {
            let (only, _) = split(rest, &[])?;
            known("step", &only, "setup", STEPS.iter().map(|(step, ..)| *step).chain(SETUPS))?;
            Ok(Request::Setup { only })
        }
        "soak" => {
            let (only, _) = split(rest, &[])?;
            let steps = soak::STEPS.iter().map(|(step, ..)| *step);
            known("step", &only, "soak", steps).map(|()| Request::Soak { only })
        }
        "bench" => {
            let (only, options) = split(rest, &["--json"])?;
            known("bench", &only, "bench", BENCHES.iter().map(|(bench, ..)| *bench))?;
            Ok(Request::Bench { only, json: !options.is_empty() })
        }
        "jar" => nothing(rest).map(|()| Request::Jar),
        "release" => {
            let (only, options) = split(rest, &["--dry-run"])?;
            known("step", &only, "release", release::STEPS.iter().map(|(step, ..)| *step))?;
            // Publishing needs keys that a person has, so a person does it.
            let is_dry = !options.is_empty();
            let refused = || "`release` publishes nothing: say `--dry-run`".to_owned();
            is_dry.then_some(Request::Release { only }).ok_or_else(refused)
        }
        "bless" => Ok(Request::Bless { args: rest.to_vec() }),
        other => Err(format!("no command `{other}`")),
    }
}

/// Names, and options that are among `allowed`.
fn split(words: &[String], allowed: &[&str]) -> Result<(Vec<String>, Vec<String>)> {
    let (options, names): (Vec<_>, Vec<_>) =
        words.iter().cloned().partition(|word| word.starts_with('-'));
    match options.iter().find(|option| !allowed.contains(&option.as_str())) {
        Some(option) => Err(format!("no option `{option}`")),
        None => Ok((names, options)),
    }
}

/// An error for the first name that is not among those of `all`, which it lists.
fn known<'a>(
    kind: &str,
    names: &[String],
    command: &str,
    all: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let all: Vec<&str> = all.collect();
    let unknown = names.iter().find(|name| !all.contains(&name.as_str()));
    let there = all.join("`, `");
    unknown.map_or(Ok(()), |name| Err(format!("no {kind} `{name}` in `{command}`: `{there}`")))
}

fn nothing(rest: &[String]) -> Result<()> {
    rest.first().map_or(Ok(()), |word| Err(format!("nothing belongs where `{word}` stands")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<Request, &str>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let brief = |problem: String| problem.split(": `").next().unwrap_or_default().to_owned();
        assert_eq!(parse(&words).map_err(brief), expected.map_err(str::to_owned));
    }

    #[test]
    fn accepts_what_help_says() {
        check("help", Ok(Request::Help));
        check("demo", Ok(Request::Demo { dir: None, install: true }));
        check(
            "demo --no-install src",
            Ok(Request::Demo { dir: Some("src".into()), install: false }),
        );
        check("test", Ok(Request::Test { only: vec![], install: true }));
        check(
            "test tidy --no-install",
            Ok(Request::Test { only: vec!["tidy".into()], install: false }),
        );
        check("test tidy", Ok(Request::Test { only: vec!["tidy".into()], install: false }));
        check("test --all", Ok(Request::Test { only: every(), install: true }));
        check("test --all --no-install", Ok(Request::Test { only: every(), install: false }));
        check("test --no-install", Ok(Request::Test { only: vec![], install: false }));
        check(
            "test tidy --install",
            Ok(Request::Test { only: vec!["tidy".into()], install: true }),
        );
        check("test --help", Ok(Request::Help));
        check("test help", Ok(Request::Help));
        check("setup", Ok(Request::Setup { only: vec![] }));
        check("setup java jar", Ok(Request::Setup { only: vec!["java".into(), "jar".into()] }));
        check("jar", Ok(Request::Jar));
        check("release --dry-run", Ok(Request::Release { only: vec![] }));
        check("release --dry-run api", Ok(Request::Release { only: vec!["api".into()] }));
        check("soak loom", Ok(Request::Soak { only: vec!["loom".into()] }));
        check("bench", Ok(Request::Bench { only: vec![], json: false }));
        check(
            "bench protozero --json",
            Ok(Request::Bench { only: vec!["protozero".into()], json: true }),
        );
        check(
            "bless -p x --help",
            Ok(Request::Bless { args: vec!["-p".into(), "x".into(), "--help".into()] }),
        );
    }

    #[test]
    fn refuses_everything_else() {
        check("", Err("no command"));
        check("tset", Err("no command `tset`"));
        check("test tidi", Err("no step `tidi` in `test`"));
        check("test --all tidy", Err("`--all` has the step `tidy` in it"));
        check("test --no-instal", Err("no option `--no-instal`"));
        check("demo a b", Err("nothing belongs where `a` stands"));
        check("soak lom", Err("no step `lom` in `soak`"));
        check("bench x", Err("no bench `x` in `bench`"));
        check("bench --no-install", Err("no option `--no-install`"));
        check("setup fuzz", Err("no step `fuzz` in `setup`"));
        check("release", Err("`release` publishes nothing: say `--dry-run`"));
        check("release --dry-run x", Err("no step `x` in `release`"));
        check("jar x", Err("nothing belongs where `x` stands"));
        check("help x", Err("nothing belongs where `x` stands"));
    }

    #[test]
    fn a_misspelt_name_gets_the_names_that_there_are() {
        let names = soak::STEPS.map(|(name, ..)| name).join("`, `");
        let expected = format!("no step `lom` in `soak`: `{names}`");
        assert_eq!(parse(&["soak".to_owned(), "lom".to_owned()]), Err(expected));
    }

    #[test]
    fn help_names_every_step() {
        let named = soak::STEPS.iter().chain(&release::STEPS).map(|(name, what, _)| (name, what));
        let tested = STEPS.iter().map(|(name, what, ..)| (name, what));
        let help = help();
        assert!(
            named.chain(tested).all(|(name, what)| help.contains(&format!("{name:<12} {what}")))
        );
    }

    /// The commands in code between backticks, or on lines of their own: `cargo xtask test STEP`
    /// and the like, without placeholders.
    fn named(text: &str) -> Vec<Vec<String>> {
        let after = text.split("cargo xtask").skip(1);
        let lines = after.map(|rest| rest.split(['\n', '`', '#', ')', '"', '\\', ',', ';']).next());
        let lines = lines.flatten().filter(|line| line.starts_with(' ') || line.is_empty());
        let is_word =
            |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || "-_".contains(c));
        let words =
            |line: &str| line.split_whitespace().take_while(is_word).map(str::to_owned).collect();
        lines.map(words).filter(|words: &Vec<String>| !words.is_empty()).collect()
    }

    #[test]
    fn commands_that_a_text_names_exist() {
        assert_eq!(named("Run `cargo xtask test tidy`, or cargo xtask STEP"), [["test", "tidy"]]);
        let mut count = 0;
        for file in crate::workspace::files().unwrap() {
            let is_page =
                file.extension().is_some_and(|extension| extension == "md" || extension == "rs");
            if !is_page || file.starts_with("xtask/src") {
                continue;
            }
            let text = std::fs::read_to_string(crate::workspace::root().join(&file)).unwrap();
            for words in named(&text) {
                count += 1;
                let line = words.join(" ");
                assert!(parse(&words).is_ok(), "{}: cargo xtask {line}", file.display());
            }
        }
        assert!(count > 40, "{count} commands");
    }
}
