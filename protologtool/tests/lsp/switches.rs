//! Actions that switch a call in a program that runs: this test, whose source the editor has open.

use crate::session::Session;
use protolog_rt::{Init, ProtoLogGroup, d};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::{TempDir, temp_dir_for_sockets};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum SwitchLog {
    Net,
}

const ROLE: &str = "PROTOLOG_TEST_LSP_SWITCHES";
const TIMEOUT: Duration = Duration::from_secs(120);
const HERE: &str = "tests/lsp/switches.rs";

/// The program that is switched, until its input ends.
#[test]
fn role_of_a_program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    Init::new().groups::<SwitchLog>().start().unwrap();
    println!("\nready");
    let _ = std::io::stdin().lock().lines().next();
    d!(SwitchLog::Net, "sent %d bytes", 1500);
}

struct Program(Child);

impl Program {
    fn start(dir: &TempDir) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "switches::role_of_a_program", "--nocapture"]).env(ROLE, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).env_remove("PROTOLOG");
        let mut child = command.env("PROTOLOG_RUNTIME_DIR", run(dir)).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        std::thread::spawn(move || lines.for_each(drop));
        Self(child)
    }
}

/// The directory of the sockets.
fn run(dir: &TempDir) -> PathBuf {
    dir.path().join("run")
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// An editor with this file open.
struct Editor {
    session: Session,
    root: String,
    last: i32,
}

impl Editor {
    fn open(dir: &TempDir) -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let session =
            Session::start_in(manifest, "tests/lsp", &[("PROTOLOG_RUNTIME_DIR", &run(dir))]);
        let root = format!("file://{}", manifest.display());
        let mut editor = Self { session, root: root.clone(), last: 0 };
        let initialized = editor.request(
            "initialize",
            &json!({"capabilities": {}, "workspaceFolders": [{"uri": root, "name": "tool"}]}),
        );
        let commands = &initialized.0["capabilities"]["executeCommandProvider"]["commands"];
        assert_eq!(*commands, json!(["protolog.switchCall"]));
        let document = json!({"uri": editor.uri(), "languageId": "rust", "version": 1, "text": include_str!("switches.rs")});
        let opened = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}});
        editor.session.send(&opened.to_string());
        editor
    }

    fn uri(&self) -> String {
        format!("{}/{HERE}", self.root)
    }

    /// The result of a request, and the texts that were shown before it.
    fn request(&mut self, method: &str, params: &Value) -> (Value, Vec<(Value, String)>) {
        self.last += 1;
        let id = self.last;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.session.send(&request.to_string());
        let mut shown = Vec::new();
        loop {
            let message = self.session.receive(TIMEOUT).expect("an answer");
            let message: Value = serde_json::from_str(&message).unwrap();
            if message["method"] == "window/showMessage" {
                let params = &message["params"];
                let text = params["message"].as_str().unwrap().to_owned();
                shown.push((params["type"].clone(), text));
            }
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return (message["result"].clone(), shown);
            }
        }
    }

    /// The actions at the call, in a context.
    fn actions(&mut self, context: &Value) -> Vec<Value> {
        let text = include_str!("switches.rs");
        let line = text.lines().position(|line| line.trim_start().starts_with("d!(")).unwrap();
        let at = json!({"line": line, "character": 8});
        let params = json!({"textDocument": {"uri": self.uri()}, "range": {"start": at, "end": at}, "context": context});
        let (actions, _) = self.request("textDocument/codeAction", &params);
        actions.as_array().unwrap().clone()
    }

    /// The texts that are shown when an action is done.
    fn run(&mut self, action: &Value) -> Vec<(Value, String)> {
        let command = &action["command"];
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.request("workspace/executeCommand", &params).1
    }
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

fn rules(dir: &TempDir) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    command.args(["configuration", "site", "list", "\"sent %d bytes\""]);
    let output = command.env("PROTOLOG_RUNTIME_DIR", run(dir)).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_call_is_switched_in_the_program_that_runs() {
    let dir = temp_dir_for_sockets();
    let mut editor = Editor::open(&dir);
    let asked = json!({"diagnostics": [], "triggerKind": 1});
    assert!(editor.actions(&asked).is_empty(), "no program runs");
    let program = Program::start(&dir);
    let pid = program.0.id();
    let actions = editor.actions(&asked);
    let shown = titles(&actions);
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].starts_with("Enable this call in lsp-"), "{shown:?}");
    assert!(shown[1].ends_with(&format!("(pid {pid})")), "{shown:?}");
    // A client that asks by itself, at each move of the cursor, or for fixes alone.
    for context in [
        json!({"diagnostics": [], "triggerKind": 2}),
        json!({"diagnostics": [], "only": ["quickfix"]}),
        json!({"diagnostics": [], "only": ["source.fixAll"]}),
    ] {
        assert!(editor.actions(&context).is_empty(), "{context}");
    }
    assert_eq!(editor.actions(&json!({"diagnostics": [], "only": ["protolog"]})).len(), 2);
    let said = editor.run(&actions[0]);
    assert!(said[0].1.ends_with(&format!("(pid {pid}) is now on")), "{said:?}");
    assert_eq!(said[0].0, 3);
    assert!(rules(&dir).ends_with("[on]"), "{}", rules(&dir));
    let actions = editor.actions(&asked);
    let shown = titles(&actions);
    assert!(shown[1].starts_with("Disable this call") && shown[1].ends_with(" (now on)"));
    assert!(shown[2].starts_with("Take back the rule of this call in lsp-"), "{shown:?}");
    editor.run(&actions[1]);
    assert!(rules(&dir).ends_with("[off]"), "{}", rules(&dir));
    let said = editor.run(&actions[2]);
    assert!(said[0].1.ends_with(" is without a rule"), "{said:?}");
    assert!(!rules(&dir).contains('['), "{}", rules(&dir));
    // The program ends while the menu is open.
    drop(program);
    let said = editor.run(&actions[0]);
    let text = format!("nothing is switched: process {pid} has ended, or does not answer");
    assert_eq!(said, [(json!(1), text)]);
    // What no action of this server is.
    let wrong = json!({"command": {"command": "protolog.switchCall", "arguments": [{"pid": 1, "id": "0", "rule": "limit:1/s"}]}});
    assert_eq!(editor.run(&wrong)[0].0, 1);
    let (code, _) = editor.session.finish();
    assert_eq!(code, Some(1), "without `shutdown`");
}
