//! Commands of the tool that a text names in passing, in code between backticks or as an indented
//! line: the tool knows the command and all of its flags.

use protolog_testkit::{run, run_any, workspace_root};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A command, with the line that names it.
#[derive(Debug, PartialEq)]
struct Named {
    line: usize,
    command: String,
}

/// Commands that a page makes up, with the reason.
const MADE_UP: [(&str, &str); 1] = [("docs/tour.md", "count TRACE")]; // The page adds it to the tool.

#[test]
fn commands_that_are_named_exist() {
    let mut faults = Vec::new();
    let mut count = 0;
    for path in texts() {
        let text = fs::read_to_string(workspace_root().join(&path)).expect("read a file");
        for Named { line, command } in named(&text, is_prose(&path)) {
            count += 1;
            if MADE_UP.contains(&(path.as_str(), command.as_str())) {
                continue;
            }
            let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
            let output = run_any(tool.args(words(&command)).arg("--help"));
            if output.code != Some(0) {
                faults.push(format!("{path}:{line}: `{command}`\n{}", output.stderr));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 80, "{count} commands");
}

/// Pages, and sources, whose documentation names commands. Expectations of tests are compared by
/// these.
fn texts() -> Vec<String> {
    let mut list = Command::new("git");
    let listed = run(list.args(["ls-files", "*.md", "*.rs"]).current_dir(workspace_root())).stdout;
    let is_read = |path: &&str| {
        !path.contains("/tests/") && !path.starts_with("xtask/") && *path != "CHANGELOG.md"
    };
    listed.lines().filter(is_read).map(str::to_owned).collect()
}

fn is_prose(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// The commands of a text: of a source, those of its comments.
fn named(text: &str, is_prose: bool) -> Vec<Named> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = ["///", "//!", "//"].iter().find_map(|marker| line.strip_prefix(marker));
        let Some(text) = (if is_prose { Some(line) } else { comment }) else { continue };
        let mut add = |command: &str| {
            let arguments = command.strip_prefix("protologtool ");
            // An arrow points from a crate to those that it uses.
            if let Some(command) = arguments.filter(|it| !it.trim_start().starts_with("->")) {
                found.push(Named { line: index + 1, command: command.to_owned() });
            }
        };
        let text = text.trim_start();
        add(text.strip_prefix("$ ").unwrap_or(text).split('`').next().unwrap_or_default());
        text.split('`').skip(1).step_by(2).for_each(&mut add);
    }
    found
}

/// The arguments of a command, up to where the shell takes over or an ellipsis stands for the rest.
fn words(command: &str) -> Vec<String> {
    let is_end = |word: &&str| ["|", ">", "#", "\\", "&&", "…", "..."].contains(word);
    let words = quoted_words(command).into_iter().take_while(|word| !is_end(word));
    // What follows is for another program, and tested with that.
    let mut is_export = false;
    let words = words.take_while(move |word| !std::mem::replace(&mut is_export, *word == "export"));
    // Of alternatives the first.
    let first = |word: &str| word.split('|').next().unwrap_or_default().to_owned();
    words.map(|word| first(word.trim_matches('\''))).collect()
}

/// The words of a command, with their single quotation marks, between which spaces are no ends.
fn quoted_words(command: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |char: char| {
        is_quoted ^= char == '\'';
        char.is_whitespace() && !is_quoted
    };
    command.split(is_end).filter(|word| !word.is_empty()).collect()
}

#[test]
fn commands_are_found_in_text() {
    let text =
        "Run `protologtool top`, or\n    protologtool check src | wc\n/// `protologtool merge …`\n";
    let command = |line, command: &str| Named { line, command: command.to_owned() };
    assert_eq!(
        named(text, true),
        [command(1, "top"), command(2, "check src | wc"), command(3, "merge …")]
    );
    assert_eq!(named(text, false), [command(3, "merge …")]);
    assert_eq!(words("completions bash|zsh 'src' | wc"), ["completions", "bash", "src"]);
    assert_eq!(words("site enable 'a.rs:3 and net'"), ["site", "enable", "a.rs:3 and net"]);
}
