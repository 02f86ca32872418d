//! Transcripts about programs that run or were killed: each is played with such programs, and what
//! the commands print has the shown form. Numbers differ from run to run, and so does the number of
//! threads.

use crate::page;
use crate::stage::Stage;
use protolog_testkit::{assert_eq_text, run_any, skip};

/// The directory in which programs of the pages write their traces.
const DIRECTORY: &str = "/var/log";

/// Plays a transcript, or the form of one, such as the output of a test, which has no commands.
pub(crate) fn check(text: &str, place: &str) {
    let commands = page::commands(text);
    if commands.is_empty() {
        return;
    }
    let mut stage = Stage::new(false);
    if text.contains("kill -9") {
        let is_recording = text.contains(".rec");
        stage.start(
            if is_recording { "server" } else { "app" },
            if is_recording { "record" } else { "app.pftrace" },
        );
    }
    if text.contains("kill -ABRT") {
        stage.start("server", "memory");
    }
    if text.contains("the last run crashed") {
        stage.start("app", "app.pftrace");
        stage.kill();
    }
    if text.contains("configuration") && !text.contains("app &") {
        stage.start_in_background("app");
    }
    for (command, shown) in commands {
        if command.starts_with("kill -9 ") {
            stage.kill();
        } else if command.starts_with("kill -ABRT ") {
            if !stage.abort() {
                return skip("core files", "the kernel writes them elsewhere");
            }
        } else if command.ends_with('&') {
            stage.start_in_background(command);
        } else {
            check_command(&stage, command, &shown, place);
        }
    }
}

fn check_command(stage: &Stage, command: &str, shown: &str, place: &str) {
    let is_endless = command.starts_with("protologtool view") && !command.contains(" -o ");
    if is_endless {
        let output = run_any(&mut stage.command(&format!("timeout --signal=INT 2 {command}")));
        assert!(matches!(output.code, Some(0 | 124)), "{place}: `{command}`\n{}", output.stderr);
        let address = output.stdout.lines().next().unwrap_or_default();
        assert!(address.starts_with("http://127."), "{place}: `{command}`\n{}", output.stdout);
        return;
    }
    let output = run_any(&mut stage.command(command));
    assert_eq!(output.code, Some(0), "{place}: `{command}`\n{}", output.stderr);
    if !shown.is_empty() {
        let here = stage.path().display().to_string();
        let printed = [output.stderr, output.stdout].concat().replace(&here, DIRECTORY);
        // The stage's program says that it has logged, which no page shows.
        let printed = printed.replace("ready\n", "");
        assert_eq_text(&form(&printed), &form(shown));
    }
}

/// The text with `N` for each number and without the width of columns.
fn form(text: &str) -> String {
    let text = page::without_times(text);
    let mut form = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        let goes_on = matches!(c, 'N' | ' ') && form.ends_with(c);
        if !goes_on {
            form.push(c);
        }
    }
    form
}
