//! `read-log` on a terminal, that of `script`: the pager, and links to sources.

use super::description;
use protolog_testkit::{TempDir, temp_dir, tool};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A log of so many messages.
fn trace(dir: &TempDir, count: u32, end: &str) -> PathBuf {
    let mut text = String::from(
        r#"
group(1, "app::Net", "Net") message(0x11, INFO, 1, "message %d.", "src/net.rs:12,40") message(0x12, INFO, 1, "other %d.", "src/gone.rs:1")
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info(100, 101, "main")
@1 needs ts=0 log(0x12, 0)
"#,
    );
    for number in 1..count {
        writeln!(text, "@1 needs ts=1000 log(0x11, {number})").unwrap();
    }
    text.push_str(end);
    let path = dir.path().join("app.pftrace");
    fs::write(&path, description::trace(&text)).unwrap();
    path
}

/// `read-log` on a terminal of 10 lines and 100 columns.
struct OnTerminal {
    child: Child,
    shown: String,
}

impl OnTerminal {
    /// Starts `read-log` with these variables and arguments; none without `script`.
    fn start(trace: &Path, variables: &[&str], args: &str) -> Option<Self> {
        let program = env!("CARGO_BIN_EXE_protologtool");
        let line = format!(
            "stty rows 10 cols 100; exec env {} {program} read-log {} {args}",
            variables.join(" "),
            trace.display()
        );
        let mut script = Command::new(tool("script")?);
        script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        for name in ["PROTOLOG_PAGER", "PAGER", "LESS", "LESSOPEN", "NO_COLOR"] {
            script.env_remove(name);
        }
        let child = script.env("TERM", "xterm").env("SHELL", "/bin/sh").spawn().unwrap();
        Some(Self { child, shown: String::new() })
    }

    /// Waits until the terminal has shown a text.
    fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.shown.contains(text) {
            let count = self.child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
            assert!(count > 0, "no `{text}` in {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn press(&mut self, keys: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// The exit code, and all that was shown.
    fn finish(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().unwrap().code(), self.shown)
    }
}

#[test]
fn a_long_log_is_shown_by_a_pager() {
    let dir = temp_dir();
    // Damaged, so that there is something to say at the end.
    let path = trace(&dir, 500, "cut(3)\n");
    if tool("less").is_none() {
        return;
    }
    let Some(mut terminal) = OnTerminal::start(&path, &[], "") else { return };
    terminal.wait_for("message 8.");
    terminal.press("G");
    terminal.wait_for("message 498.");
    assert!(!terminal.shown.contains("message 300."), "pages between are not shown");
    assert!(!terminal.shown.contains("warning"), "the terminal is the pager's");
    terminal.press("q");
    let (code, shown) = terminal.finish();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("warning: truncated: the trace ends"), "{shown}");
}

#[test]
fn reading_ends_with_the_pager() {
    let dir = temp_dir();
    // More than a pipe takes.
    let path = trace(&dir, 20_000, "");
    let Some(terminal) = OnTerminal::start(&path, &["PAGER='head -n 1'"], "") else { return };
    let (code, shown) = terminal.finish();
    assert_eq!((code, shown.lines().count()), (Some(0), 1), "{shown}");
    // A short log needs none: `less` ends by itself.
    let path = trace(&dir, 5, "");
    let Some(terminal) = OnTerminal::start(&path, &[], "") else { return };
    let (code, shown) = terminal.finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("message 1.") && shown.contains("message 4."), "{shown}");
}

#[test]
fn the_pager_is_chosen_by_variables() {
    let dir = temp_dir();
    let path = trace(&dir, 30, "");
    let shown = |variables: &[&str], args: &str| {
        let (code, shown) = OnTerminal::start(&path, variables, args)?.finish();
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("message 29."), "{shown}");
        Some(shown)
    };
    let (ours, others) = ("PROTOLOG_PAGER='sed s/^/ours:/'", "PAGER='sed s/^/others:/'");
    let Some(text) = shown(&[ours, others], "") else { return };
    assert!(text.starts_with("ours:") && !text.contains("others:"), "{text}");
    assert!(shown(&[others], "").unwrap().starts_with("others:"));
    let missing = shown(&["PAGER=no-such-program"], "").unwrap();
    assert!(missing.starts_with("warning: can't start the pager `no-such-program`: "), "{missing}");
    for (variables, args) in [
        (&[ours][..], "--no-pager"),
        (&["PROTOLOG_PAGER=cat", others], ""),
        (&["PROTOLOG_PAGER=", others], ""),
        (&[ours, "TERM=dumb"], ""),
        (&[ours], "| cat"),
    ] {
        let text = shown(variables, args).unwrap();
        assert!(!text.contains("ours:") && !text.contains("others:"), "{variables:?}: {text}");
    }
}

#[test]
fn tags_and_locations_are_links_to_sources_that_are_there() {
    let dir = temp_dir();
    let path = trace(&dir, 3, "");
    let root = dir.path().join("my sources");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/net.rs"), "").unwrap();
    let shown = |args: &str| {
        let args = format!("--no-pager --time boot --source-root '{}' {args}", root.display());
        let (code, shown) = OnTerminal::start(&path, &[], &args)?.finish();
        assert_eq!(code, Some(0), "{shown}");
        Some(shown.replace('\r', ""))
    };
    let Some(text) = shown("--color never") else { return };
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let file = format!("{}/my%20sources/src/net.rs", dir.path().display());
    let (begin, end) = (format!("\x1b]8;;file://{}{file}\x1b\\", host.trim()), "\x1b]8;;\x1b\\");
    let expected = [
        "     1.000000   100   101 I Net     : other 0.\n".to_owned(),
        format!("     1.000001   100   101 I {begin}Net{end}     : message 1.\n"),
        format!("     1.000002   100   101 I {begin}Net{end}     : message 2.\n"),
    ];
    assert_eq!(text, expected.concat());
    let text = shown("--color never --columns location,message").unwrap();
    let line = format!("{begin}src/net.rs:12,40{end}         message 1.");
    assert_eq!(text.lines().nth(1), Some(&*line));
    assert_eq!(text.lines().next(), Some("src/gone.rs:1            other 0."));
    let form = "--hyperlink-format 'vscode://file{path}:{line}'";
    let text = shown(form).unwrap();
    assert!(text.contains(&format!("\x1b]8;;vscode://file{file}:12\x1b\\Net{end}")), "{text}");
    for args in
        ["--hyperlink-format none", "--format json", "--columns location --format csv", "| cat"]
    {
        let text = shown(args).unwrap();
        assert!(!text.contains("\x1b]8"), "{args}: {text}");
    }
}
