//! The command line: strict, so that a misspelt option is refused and not ignored.

use std::path::PathBuf;

use crate::Result;
use crate::bench::BENCHES;
use crate::soak;
use crate::test::STEPS;

/// A command line, understood.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Help,
    Demo { dir: Option<PathBuf>, install: bool },
    Test { only: Vec<String>, install: bool },
    Soak { only: Vec<String> },
    Bench { only: Vec<String>, install: bool, json: bool },
    Bless { args: Vec<String> },
    Jar { install: bool },
}

/// The whole help text.
pub(crate) fn help() -> String {
    let steps = |steps: &[(&str, &str)]| -> String {
        let lines =
            steps.iter().map(|(name, what)| format!("                    {name:<12} {what}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let benches: Vec<String> = BENCHES
        .iter()
        .map(|(name, what, ..)| format!("                    {name:<12} {what}"))
        .collect();
    HELP.replace("{steps}", &steps(&STEPS))
        .replace("{soak}", &steps(&soak::STEPS))
        .replace("{benches}", &benches.join("\n"))
}

const HELP: &str = "\
usage: cargo xtask COMMAND

  demo [DIR]      the main job: rewrite the log calls of the Java example, compile it before and after, run both on the
                  directory tree DIR (default: the sources in cargo's registry), compare, show the dictionary; then run
                  the Rust example on the same tree; read all traces, and one of both programs, also with Perfetto's
                  trace_processor
  test [STEP]...  everything that is tested; without STEP all of them, in this order:
{steps}
  soak [STEP]...  what takes longer or needs a nightly compiler; without STEP all of them, in this order:
{soak}
  bench [NAME]... figures, each beside its floor; without NAME all of them, in this order:
{benches}
  bless [ARG]...  run the tests and rewrite their expectations; ARG goes to cargo test, as in `bless -p protolog-tool`;
                  `bless instructions` rewrites the table of that step of `test`
  jar             the Java runtime and its bridges from other loggers as jars, in target/java/jars
  help            this text

  --json          (bench) write the figures of `runtime` to target/bench/figures.json too
  --no-install    (demo, test, bench, jar) say what is missing and skip what needs it; otherwise Debian packages are
                  installed when root, Python wheels, Kotlin's compiler (by npm) and compilers of Debian's under target/tools,
                  and what only rustup has in rustup: components, the oldest Rust that is promised

With the environment variable CI set, `test` and `demo` skip nothing: where a tool, a compiler or a table of instructions
is missing, the step fails. One exception: an old compiler that neither Debian nor rustup offers is named in the summary.
";

/// Parses the words after `cargo xtask`; an error says what is wrong with them.
pub(crate) fn parse(words: &[String]) -> Result<Request> {
    let Some((command, rest)) = words.split_first() else {
        return Err("no command".to_owned());
    };
    if rest.iter().any(|word| word == "--help" || word == "-h") && command != "bless" {
        return Ok(Request::Help);
    }
    match command.as_str() {
        "help" | "--help" | "-h" => nothing(rest).map(|()| Request::Help),
        "demo" => {
            let (mut names, install) = split(rest)?;
            let dir = names.pop().map(PathBuf::from);
            nothing(&names).map(|()| Request::Demo { dir, install })
        }
        "test" => {
            let (only, install) = split(rest)?;
            match only.iter().find(|name| STEPS.iter().all(|(step, _)| step != name)) {
                Some(name) => Err(format!("no step `{name}` in `test`")),
                None => Ok(Request::Test { only, install }),
            }
        }
        "soak" => match rest.iter().find(|name| soak::STEPS.iter().all(|(step, _)| step != name)) {
            Some(name) => Err(format!("no step `{name}` in `soak`")),
            None => Ok(Request::Soak { only: rest.to_vec() }),
        },
        "bench" => {
            let (json, rest): (Vec<_>, Vec<_>) =
                rest.iter().cloned().partition(|word| word == "--json");
            let json = !json.is_empty();
            let (only, install) = split(&rest)?;
            match only.iter().find(|name| BENCHES.iter().all(|(bench, ..)| bench != name)) {
                Some(name) => Err(format!("no bench `{name}`")),
                None => Ok(Request::Bench { only, install, json }),
            }
        }
        "jar" => {
            let (names, install) = split(rest)?;
            nothing(&names).map(|()| Request::Jar { install })
        }
        "bless" => Ok(Request::Bless { args: rest.to_vec() }),
        other => Err(format!("no command `{other}`")),
    }
}

/// Names, and whether installing is allowed.
fn split(words: &[String]) -> Result<(Vec<String>, bool)> {
    let (options, names): (Vec<_>, Vec<_>) =
        words.iter().cloned().partition(|word| word.starts_with('-'));
    match options.iter().find(|option| *option != "--no-install") {
        Some(option) => Err(format!("no option `{option}`")),
        None => Ok((names, options.is_empty())),
    }
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
        assert_eq!(parse(&words), expected.map_err(str::to_owned));
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
        check("test --help", Ok(Request::Help));
        check("jar --no-install", Ok(Request::Jar { install: false }));
        check("soak loom", Ok(Request::Soak { only: vec!["loom".into()] }));
        check("bench", Ok(Request::Bench { only: vec![], install: true, json: false }));
        check(
            "bench protozero --json",
            Ok(Request::Bench { only: vec!["protozero".into()], install: true, json: true }),
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
        check("test --no-instal", Err("no option `--no-instal`"));
        check("demo a b", Err("nothing belongs where `a` stands"));
        check("soak lom", Err("no step `lom` in `soak`"));
        check("bench x", Err("no bench `x`"));
        check("help x", Err("nothing belongs where `x` stands"));
    }

    #[test]
    fn help_names_every_step() {
        assert!(
            soak::STEPS.iter().all(|(name, what)| help().contains(&format!("{name:<12} {what}")))
        );
        assert!(STEPS.iter().all(|(name, what)| help().contains(&format!("{name:<12} {what}"))));
    }
}
