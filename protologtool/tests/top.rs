//! `top` against a real program, on a real terminal (tmux), of 80 columns and 24 lines.

use protolog_rt::{Init, ProtoLogGroup, Session, d, w};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::{TempDir, temp_dir_for_sockets, tool};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

const ROLE: &str = "PROTOLOG_TEST_TOP";
/// The longest that anything takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The program that is watched: it logs until its input ends, into a buffer that soon is full.
#[test]
fn role_of_a_program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let dir = PathBuf::from(std::env::var_os("PROTOLOG_RUNTIME_DIR").unwrap());
    Init::new().groups::<AppLog>().start().unwrap();
    let builder = Session::builder().file(dir.with_extension("pftrace")).enable_all();
    let session = builder.keep_first().buffer_size(64 << 10).start().unwrap();
    println!("\nready");
    thread::spawn(|| {
        loop {
            for number in 0..100 {
                d!(AppLog::Net, "sent %d bytes", number);
            }
            w!(AppLog::Disk, "slow");
            thread::sleep(Duration::from_millis(5));
        }
    });
    let _ = std::io::stdin().lock().lines().next();
    session.stop().unwrap();
}

/// A program that runs, until the value is dropped.
struct Program(Child);

impl Program {
    fn start(dir: &TempDir) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "role_of_a_program", "--nocapture"]).env(ROLE, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = surroundings(&mut command, dir).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        thread::spawn(move || lines.for_each(drop));
        Self(child)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn surroundings<'a>(command: &'a mut Command, dir: &TempDir) -> &'a mut Command {
    command
        .env_remove("PROTOLOG")
        .env("PROTOLOG_RUNTIME_DIR", dir.path().join("run"))
        .env("PROTOLOG_STATE", dir.path().join("settings"))
}

fn top(dir: &TempDir, args: &[&str]) -> Output {
    let mut top = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    surroundings(top.arg("top").args(args), dir).output().unwrap()
}

/// A terminal with a shell in it.
struct Tmux {
    program: PathBuf,
    socket: PathBuf,
}

impl Tmux {
    fn start(dir: &TempDir) -> Option<Self> {
        let tmux = Self { program: tool("tmux")?, socket: dir.path().join("tmux") };
        let mut start =
            tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24"]);
        start.args(["env", "PS1=$ ", "TERM=screen", "sh"]);
        let output = surroundings(&mut start, dir).env_remove("TMUX").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        tmux.wait_for("the prompt", |text| text.starts_with('$'));
        Some(tmux)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-S").arg(&self.socket).args(args);
        command
    }

    fn keys(&self, keys: &[&str]) {
        assert!(self.command(&["send-keys"]).args(keys).status().unwrap().success());
    }

    fn start_top(&self) {
        let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
        self.keys(&["-l", &format!("{} top; echo \"status $?\"", program.display())]);
        self.keys(&["Enter"]);
        self.wait_for("the groups", |text| text.contains("AppLog::Net") && text.contains("q end"));
    }

    /// The text of the terminal, once it is as `is_it` says.
    fn wait_for(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let output = self.command(&["capture-pane", "-p"]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            if is_it(&text) {
                return text;
            }
            assert!(begun.elapsed() < LIMIT, "no {what} in\n{text}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).status();
    }
}

/// The words of the line of a group.
fn words(text: &str, group: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.contains(group)).unwrap_or_default();
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn groups_are_shown_and_switched_in_place() {
    let dir = temp_dir_for_sockets();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let program = Program::start(&dir);
    tmux.start_top();
    let has_losses = |text: &str| words(text, "AppLog::Net").get(5).is_some_and(|it| it != "0");
    let text = tmux.wait_for("losses", has_losses);
    assert!(text.starts_with("protolog top: 1 program, 2 groups, "), "{text}");
    assert_eq!(text.trim_end().lines().count(), 24, "{text}");
    let net = words(&text, "AppLog::Net");
    assert_eq!(net[1..4], [&*program.0.id().to_string(), "off", "verbose"], "{text}");
    // The group with the greatest losses is the first, and so it is chosen.
    tmux.keys(&["r"]);
    tmux.wait_for("the question", |text| text.contains("record from: v d i w e f"));
    tmux.keys(&["w"]);
    // Less than before.
    let text = tmux.wait_for("the second question", |text| text.contains("records less: y to do"));
    assert_eq!(words(&text, "AppLog::Net")[3], "verbose", "{text}");
    tmux.keys(&["y"]);
    let text = tmux.wait_for("the level", |text| {
        words(text, "AppLog::Net").get(3).is_some_and(|it| it == "warn")
    });
    assert_eq!(words(&text, "AppLog::Disk")[3], "verbose", "{text}");
    // The other one, by a key, whatever the order is now.
    tmux.keys(&["t", "x"]);
    tmux.wait_for("the refusal", |text| text.contains("`x` is no level"));
    tmux.keys(&["p"]);
    let text = tmux.wait_for("the pause", |text| text.contains("PAUSED"));
    let net_is_first = text.lines().nth(2).unwrap().contains("AppLog::Net");
    tmux.keys(&["k", "k", if net_is_first { "Down" } else { "Up" }, "t", "e"]);
    tmux.wait_for("the level", |text| {
        words(text, "AppLog::Disk").get(2).is_some_and(|it| it == "error")
    });
    tmux.keys(&["q"]);
    let text = tmux.wait_for("the end", |text| text.contains("status 0"));
    assert!(!text.contains("AppLog"), "the screen is back: {text}");
    // Echo is on again, and lines are lines.
    tmux.keys(&["-l", "stty -a | tr ' ;' '\\n\\n' | grep -cx -e echo -e icanon -e isig"]);
    tmux.keys(&["Enter"]);
    tmux.wait_for("the settings", |text| text.lines().any(|line| line == "3"));
}

#[test]
fn single_calls_are_listed_and_switched_by_the_rules_of_the_command() {
    let dir = temp_dir_for_sockets();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let program = Program::start(&dir);
    let sites = |command: &[&str]| {
        let mut site = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let site = site.args(["configuration"]).args(command);
        let output = surroundings(site, &dir).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    sites(&["limit", "Disk", "1/s"]);
    tmux.start_top();
    tmux.keys(&["p"]);
    let text = tmux.wait_for("the pause", |text| text.contains("PAUSED"));
    tmux.keys(&["k", "k"]);
    if text.lines().nth(2).unwrap().contains("AppLog::Disk") {
        tmux.keys(&["Down"]);
    }
    tmux.keys(&["s"]);
    let text = tmux.wait_for("the calls", |text| text.contains("sent %d bytes"));
    assert!(text.contains("AppLog::Net, 1 call, 0 with rules, trace verbose"), "{text}");
    assert_eq!(words(&text, "sent %d bytes")[0], "DEBUG", "{text}");
    // Less than before.
    tmux.keys(&["d"]);
    tmux.wait_for("the question", |text| text.contains("may record less: y to do it"));
    assert_eq!(sites(&["site", "list", "Net"]).matches("[off]").count(), 0);
    tmux.keys(&["y"]);
    let text = tmux.wait_for("the rule", |text| words(text, "sent %d bytes")[1] == "off");
    assert!(text.contains("=off in top-"), "the rule, as the command has it: {text}");
    let line = sites(&["site", "list", "Net"]);
    assert!(line.trim_end().ends_with("[off]"), "{line}");
    let rules = sites(&["site", "rules"]);
    assert!(rules.contains("top.rs:") && rules.contains("=off (1 call)"), "{rules}");
    tmux.keys(&["e"]);
    tmux.wait_for("the rule", |text| words(text, "sent %d bytes")[1].starts_with("on"));
    tmux.keys(&["x"]);
    tmux.wait_for("the question", |text| text.contains("may record less: y to do it"));
    tmux.keys(&["y"]);
    tmux.wait_for("no rule", |text| words(text, "sent %d bytes")[1].starts_with("top.rs:"));
    assert!(!sites(&["site", "rules"]).contains("top.rs:"));
    // A limit that somebody else set stands there, too.
    tmux.keys(&["s"]);
    tmux.wait_for("the groups", |text| text.contains("r recording"));
    tmux.keys(&["k", "k"]);
    if !first_row(&tmux).contains("AppLog::Disk") {
        tmux.keys(&["Down"]);
    }
    tmux.keys(&["s"]);
    let text = tmux.wait_for("the limit", |text| text.contains("limit:1/s"));
    assert!(text.contains("AppLog::Disk, 1 call, 1 with rules"), "{text}");
    // Its program ends.
    drop(program);
    tmux.keys(&["d", "y"]);
    tmux.wait_for("the end", |text| text.contains(") has ended"));
    tmux.keys(&["q"]);
    tmux.wait_for("the end", |text| text.contains("status 0"));
}

/// The line of the first group.
fn first_row(tmux: &Tmux) -> String {
    let text = tmux.wait_for("the groups", |text| text.contains("MSG/S"));
    text.lines().nth(2).unwrap_or_default().to_owned()
}

#[test]
fn ctrl_z_gives_the_terminal_back_until_top_goes_on() {
    let dir = temp_dir_for_sockets();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let _program = Program::start(&dir);
    tmux.start_top();
    for _ in 0..2 {
        tmux.keys(&["C-z"]);
        let text = tmux.wait_for("the prompt", |text| text.trim_end().ends_with('$'));
        assert!(!text.contains("AppLog"), "the screen is back: {text}");
        // What is typed is the shell's, with echo and as lines.
        tmux.keys(&[
            "-l",
            "clear; stty -a | tr ' ;' '\\n\\n' | grep -cx -e echo -e icanon -e isig",
        ]);
        tmux.keys(&["Enter"]);
        tmux.wait_for("the settings", |text| text.lines().any(|line| line == "3"));
        tmux.keys(&["-l", "fg"]);
        tmux.keys(&["Enter"]);
        tmux.wait_for("the groups", |text| text.contains("AppLog::Net") && text.contains("q end"));
    }
    // Keys are keys again.
    tmux.keys(&["p"]);
    tmux.wait_for("the pause", |text| text.contains("PAUSED"));
    tmux.keys(&["q"]);
    tmux.wait_for("the end", |text| !text.contains("q end"));
}

#[test]
fn what_is_pasted_switches_nothing_and_a_narrow_screen_shows_names() {
    let dir = temp_dir_for_sockets();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let _program = Program::start(&dir);
    tmux.start_top();
    assert!(tmux.command(&["set-buffer", "trekq"]).status().unwrap().success());
    assert!(tmux.command(&["paste-buffer", "-p"]).status().unwrap().success());
    tmux.keys(&["p"]);
    let text = tmux.wait_for("the pause", |text| text.contains("PAUSED"));
    assert!(!text.contains("print from"), "{text}");
    for group in ["AppLog::Net", "AppLog::Disk"] {
        assert_eq!(words(&text, group)[2..4], ["off", "verbose"], "{text}");
    }
    assert!(tmux.command(&["resize-window", "-x", "40", "-y", "24"]).status().unwrap().success());
    let wraps =
        || tmux.command(&["display-message", "-p", "#{wrap_flag}"]).output().unwrap().stdout;
    assert_eq!(
        wraps(),
        b"0\n",
        "no name goes over the next line, however wide this terminal draws it"
    );
    let is_narrow = |text: &str| text.lines().nth(1).is_some_and(|head| head.starts_with("TRACE"));
    let text = tmux.wait_for("a narrow picture", is_narrow);
    assert!(text.contains("::AppLog::Net") && text.contains("::AppLog::Disk"), "{text}");
    tmux.keys(&["q"]);
    tmux.wait_for("the end", |text| text.contains("status 0"));
    assert_eq!(wraps(), b"1\n");
}

#[test]
fn a_signal_restores_the_terminal() {
    let dir = temp_dir_for_sockets();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let _program = Program::start(&dir);
    for signal in ["TERM", "HUP", "INT"] {
        tmux.start_top();
        let output = tmux.command(&["display-message", "-p", "#{pane_pid}"]).output().unwrap();
        let shell = String::from_utf8(output.stdout).unwrap();
        let kill = format!("kill -{signal} $(cat /proc/{0}/task/{0}/children)", shell.trim());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        tmux.wait_for("the end", |text| text.contains("status 0") && !text.contains("q end"));
        tmux.keys(&["-l", "clear"]);
        tmux.keys(&["Enter"]);
        tmux.wait_for("an empty screen", |text| !text.contains("status"));
    }
}

#[test]
fn machines_get_tables_and_json() {
    let dir = temp_dir_for_sockets();
    let output = top(&dir, &[]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.starts_with("error: no terminal to draw on\nhelp: use `--once`"), "{errors}");
    let output = top(&dir, &["--once"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("note: no program listens"));
    assert_eq!(output.status.code(), Some(0));
    let program = Program::start(&dir);
    let output = top(&dir, &["--once", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let net = rows.iter().find(|row| row["group"].as_str().unwrap().ends_with("::Net")).unwrap();
    assert_eq!((&net["pid"], &net["trace"]), (&program.0.id().into(), &"verbose".into()), "{net}");
    assert!(net["lost_per_second"].as_f64().unwrap() > 0.0, "{net}");
    assert!(net["losses"].as_object().unwrap().values().any(|it| it.as_u64() > Some(0)), "{net}");
    assert_eq!(rows.len(), 2, "{text}");
    // A reader that goes away ends it.
    let mut endless = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    endless.args(["top", "--json"]).stdout(Stdio::piped());
    let mut endless = surroundings(&mut endless, &dir).spawn().unwrap();
    let first = BufReader::new(endless.stdout.take().unwrap()).lines().next();
    assert!(first.unwrap().unwrap().starts_with('{'));
    assert!(endless.wait().unwrap().success());
    let output = top(&dir, &["--once", "--name", "nobody"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("no program `nobody` listens"));
    assert_eq!(output.status.code(), Some(2));
}
