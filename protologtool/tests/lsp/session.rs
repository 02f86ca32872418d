//! Transcripts of sessions.
//!
//! ```text
//! === title
//! $ --loggroups-class …                        the arguments of the server
//! > {"id":1,"method":"initialize",…}           a message of the client
//! < {"id":1,"jsonrpc":"2.0","result":…}        the messages of the server that follow it, before the client goes on
//! ? 1                                          the exit code, unless 0
//! ```
//!
//! A session has a directory of its own that holds what `fixtures/` holds; `ROOT` stands for its
//! URI, and `DIRECTORY` for its path. Whole bytes are read: a header, and as long a body as it
//! says.

use protolog_testkit::{expect_file, temp_dir};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A server and its client's ends of the pipes.
pub(crate) struct Session {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<String>,
}

impl Session {
    pub(crate) fn start(directory: &Path, args: &str) -> Self {
        Self::start_in(directory, args, &[])
    }

    /// As [`Self::start`], with these variables.
    pub(crate) fn start_in(directory: &Path, args: &str, variables: &[(&str, &Path)]) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_protologtool"))
            .arg("lsp")
            .envs(variables.iter().copied())
            .args(args.split_whitespace())
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = receive(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { input: server.stdin.take(), server, messages }
    }

    pub(crate) fn send(&mut self, body: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    /// The next message; none after this time, or at the end.
    pub(crate) fn receive(&mut self, timeout: Duration) -> Option<String> {
        self.messages.recv_timeout(timeout).ok()
    }

    /// The exit code, and what it still says.
    pub(crate) fn finish(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.input.take());
        (self.server.wait().unwrap().code(), self.messages.iter().collect())
    }
}

/// The next message, of whose header every byte is as the protocol has it.
fn receive(output: &mut impl BufRead) -> Option<String> {
    let mut header = String::new();
    output.read_line(&mut header).unwrap();
    let length = header.strip_prefix("Content-Length: ")?.strip_suffix("\r\n").unwrap();
    let mut blank = [0; 2];
    output.read_exact(&mut blank).unwrap();
    assert_eq!(&blank, b"\r\n");
    let mut body = vec![0; length.parse().unwrap()];
    output.read_exact(&mut body).unwrap();
    Some(String::from_utf8(body).unwrap())
}

pub(crate) fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/lsp")
}

/// Puts the fixtures into a directory.
pub(crate) fn fixtures(directory: &Path) {
    let groups = here().join("../java/runtime/demo/AppLog.java");
    for (path, text) in [
        ("src/demo/AppLog.java", std::fs::read_to_string(groups).unwrap()),
        ("src/demo/Net.java", include_str!("fixtures/Net.java").to_owned()),
        ("src/lib.rs", include_str!("fixtures/lib.rs").to_owned()),
        ("Cargo.toml", include_str!("fixtures/manifest.toml").to_owned()),
    ] {
        let path = directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut generate = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    generate
        .args(["generate-viewer-config", "--loggroups-class", "demo.AppLog", "--loggroups-source"])
        .args(["src/demo/AppLog.java", "--viewer-config", "app.json", "src/demo"])
        .current_dir(directory);
    assert!(generate.status().unwrap().success());
}

/// A message without the directory's name.
fn shown(message: &str, directory: &Path) -> String {
    let directory = directory.display().to_string();
    message.replace(&format!("file://{directory}"), "ROOT").replace(&directory, "DIRECTORY")
}

#[test]
fn transcripts() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(here().join("cases")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut parts = text.split("\n=== ");
        let mut actual = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (title, lines) = part.split_once('\n').unwrap();
            let _ = write!(actual, "\n=== {title}\n{}", session(lines));
        }
        expect_file(&file, &actual);
    }
}

/// The transcript of a session, whose client says what this one says.
fn session(text: &str) -> String {
    let directory = temp_dir();
    fixtures(directory.path());
    let root = format!("file://{}", directory.path().display());
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let (mut transcript, mut session) = (String::new(), None);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(args) = line.strip_prefix("$") {
            let _ = writeln!(transcript, "{line}");
            session = Some(Session::start(directory.path(), args));
        }
        let Some(first) = line.strip_prefix("> ") else { continue };
        let _ = writeln!(transcript, "{line}");
        let session = session.as_mut().unwrap();
        session.send(&first.replace("ROOT", &root));
        let mut show = |message: &str| {
            let _ = writeln!(transcript, "< {}", shown(message, directory.path()));
        };
        while lines.next_if(|line| line.starts_with('<')).is_some() && !is_update {
            show(&session.receive(Duration::from_secs(60)).unwrap_or_default());
        }
        // It has said all once it is silent.
        while is_update && let Some(message) = session.receive(Duration::from_secs(1)) {
            show(&message);
        }
    }
    let (code, rest) = session.unwrap().finish();
    for message in rest {
        let _ = writeln!(transcript, "< {}", shown(&message, directory.path()));
    }
    if code != Some(0) {
        let _ = writeln!(transcript, "? {}", code.unwrap_or(-1));
    }
    transcript
}
