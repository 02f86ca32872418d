//! Errors that `main` returns, which the standard library prints with `Debug`.

use protolog_rt::{Error, Init, Session, control, text};
use protolog_testkit::{run_any, temp_dir};
use std::path::Path;
use std::process::{Command, ExitCode, Termination};

/// The variable that says which program this process is.
const ROLE: &str = "PROTOLOG_TEST_ROLE";

/// A program whose `main` returns the error of a session.
fn main_with_a_session() -> Result<(), Error> {
    let _session = Session::builder().file("missing/app.pftrace").start()?;
    Ok(())
}

/// A program whose `main` returns the errors of `init`.
fn main_with_init() -> Result<(), Box<dyn std::error::Error>> {
    Init::new().strict().control(false).persistent_settings(false).start()?;
    Ok(())
}

/// A program whose `main` returns the error of a server.
fn main_with_a_server() -> Result<(), control::ServeError> {
    let _server = control::serve_in("missing/run")?;
    Ok(())
}

struct Nowhere;

impl text::TextSink for Nowhere {
    fn show(&self, _: &text::TextLine<'_>) {}
}

/// A program whose `main` returns the error of a second sink.
fn main_with_two_sinks() -> Result<(), text::SinkIsSet> {
    text::set_sink(Nowhere)?;
    text::set_sink(Nowhere)
}

/// Ends this process as one does whose `main` returned this.
fn end(result: impl Termination) {
    let code = result.report();
    assert_eq!(code, ExitCode::FAILURE);
    std::process::exit(1);
}

#[test]
fn role_of_a_program() {
    match std::env::var(ROLE).as_deref() {
        Ok("session") => end(main_with_a_session()),
        Ok("init") => end(main_with_init()),
        Ok("server") => end(main_with_a_server()),
        Ok("sinks") => end(main_with_two_sinks()),
        _ => {}
    }
}

/// Returns the text that the program prints on standard error, in this directory.
fn printed(role: &str, directory: &Path) -> String {
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again.args(["--exact", "role_of_a_program", "--nocapture"]).current_dir(directory);
    let output = run_any(again.env(ROLE, role).env("PROTOLOG", "net=debgu"));
    assert_eq!(output.code, Some(1), "{output:?}");
    output.stderr
}

#[test]
fn main_prints_messages_not_fields() {
    let dir = temp_dir();
    let path = dir.path().canonicalize().expect("the directory");
    assert_eq!(
        printed("session", dir.path()),
        format!(
            "Error: can't write `{}/missing/app.pftrace`: no such file or directory\nhelp: check that the directory exists, may \
             be written to, and has space\n",
            path.display()
        )
    );
    assert_eq!(
        printed("init", dir.path()),
        "Error: PROTOLOG: unknown word `debgu`\nhelp: use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext \
         or notrace, with commas between\n"
    );
    std::fs::write(dir.path().join("missing"), "").expect("a file where a directory should be");
    let server = printed("server", dir.path());
    assert!(server.starts_with("Error: can't use the directory `missing/run`: "), "{server}");
    assert!(server.contains("\nhelp: set XDG_RUNTIME_DIR"), "{server}");
    assert_eq!(printed("sinks", dir.path()), "Error: text has a sink already\n");
}
