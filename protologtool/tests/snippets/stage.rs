//! A place where the commands of help texts and pages mean something: programs that run and that
//! were killed, traces, sources.
//!
//! Commands name processes by `4711`, which stands for the one that is meant.

use crate::{copy_of_repository, shell, tool_and_path};
use protolog_testkit::{
    TempDir, copy_program, run, temp_dir_for_sockets, user_environment, workspace_root,
};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The program. Without arguments it logs to `app.pftrace`, and runs for some seconds.
/// `program FILE` logs to a file and ends; with `wait` after that it logs on, and ends with its
/// input. `record` in place of a file is a recording, smaller than the log; `memory` is as large,
/// and ends with the program.
const PROGRAM: &str = r#"
use protolog_rt::{ProtoLogGroup, Session, d, w};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    Disk,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let file = args.first().map_or("app.pftrace", String::as_str);
    let ends = args.len() == 1;
    let init = if ends { None } else { Some(protolog_rt::init()?) };
    let session = Session::builder().enable_all();
    let session = match file {
        "record" => session.record(),
        "memory" => session.keep_newest().file("newest.pftrace"),
        _ => session.file(file),
    }
    .start()?;
    let older = if matches!(file, "record" | "memory") { 400_000 } else { 2 };
    std::thread::spawn(move || (0..older).for_each(|n| d!(AppLog::Net, "sent %d bytes", n))).join().expect("a thread");
    w!(AppLog::Disk, "timeout");
    let (bytes, host, ms) = (1500, "example.org", 0.271);
    d!(AppLog::Net, "sent %d bytes to %s in %8.3f ms", bytes, host, ms);
    if !ends {
        session.flush().or_else(|error| if file == "record" { Ok(()) } else { Err(error) })?;
        println!("ready");
    }
    if args.is_empty() {
        std::thread::sleep(Duration::from_secs(20));
    } else if !ends {
        std::io::stdin().lines().for_each(drop);
    }
    drop(init);
    session.stop()?;
    Ok(())
}
"#;

/// The programs, once they are built.
static PROGRAMS: OnceLock<TempDir> = OnceLock::new();

/// A directory with sources, traces, and the program under its names.
pub(crate) struct Stage {
    dir: TempDir,
    running: Vec<Child>,
}

impl Stage {
    /// Builds the program and makes the traces. Sources are those of a crate, or in Java.
    pub(crate) fn new(is_rust: bool) -> Self {
        let stage = Self { dir: temp_dir_for_sockets(), running: Vec::new() };
        let programs = build_programs();
        for name in ["app", "libplugin.so", "target/release/app", "server", "indexer"] {
            let path = stage.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
            let other = if name == "indexer" { "indexer" } else { "app" };
            copy_program(&programs.join(other), &path);
        }
        for directory in [
            "out",
            "dist",
            "dictionaries",
            "traces",
            "logs",
            "src/app",
            ".local/share/man/man1",
            ".config/fish/completions",
        ] {
            fs::create_dir_all(stage.path().join(directory)).expect("make a directory");
        }
        stage.add_sources(is_rust);
        for trace in [
            "app",
            "server",
            "worker",
            "worker-1",
            "worker-2",
            "good",
            "expected",
            "traces/app",
            "logs/app",
        ] {
            run(&mut stage.command(&format!("./app {trace}.pftrace")));
        }
        let runs = ["bad", "good-1", "good-2", "good-3"].map(|run| ("good", run));
        for (from, to) in runs.into_iter().chain([("expected", "actual")]) {
            run(&mut stage.command(&format!("cp {from}.pftrace {to}.pftrace")));
        }
        stage
    }

    fn add_sources(&self, is_rust: bool) {
        let write = |path: &str, text: &str| {
            let path = self.path().join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("make a directory");
            fs::write(path, text).expect("write a source");
        };
        if is_rust {
            write(
                "Cargo.toml",
                "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            );
            write("src/main.rs", PROGRAM);
            return;
        }
        write("src/com/foo/AppLog.java", crate::java::GROUPS);
        write("src/com/foo/Net.java", crate::java::CALLS);
        write("pom.xml", "<project/>");
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Starts a program that logs on and takes an operator's commands; returns when it has logged.
    /// It is the `4711` of later commands.
    pub(crate) fn start(&mut self, name: &str, file: &str) {
        let line = format!("ulimit -c unlimited; exec ./{name} {file} wait");
        self.start_command(&line, Stdio::piped());
    }

    /// Runs a line that starts a program in the background; returns when it has logged.
    pub(crate) fn start_in_background(&mut self, line: &str) {
        let line = line.trim_end_matches([' ', '&']);
        self.start_command(&format!("exec env {line}"), Stdio::null());
    }

    fn start_command(&mut self, line: &str, input: Stdio) {
        let mut command = self.command(line);
        // Nobody here reads the text that it shows.
        let command = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("start it");
        let mut line = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("read what it prints");
        assert_eq!(line, "ready\n");
        self.running.push(child);
    }

    /// Ends the newest program as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        let newest = self.running.last_mut().expect("one runs");
        newest.kill().and_then(|()| newest.wait()).expect("end it");
    }

    /// Has the newest program dump core, to the file `core`; false where the system writes it
    /// elsewhere.
    pub(crate) fn abort(&mut self) -> bool {
        let pid = self.running.last().expect("one runs").id().to_string();
        run(Command::new("kill").args(["-ABRT", &pid]));
        self.running.last_mut().expect("one runs").wait().expect("wait for it");
        let named = self.path().join(format!("core.{pid}"));
        self.path().join("core").exists() || fs::rename(named, self.path().join("core")).is_ok()
    }

    /// A line of shell, with the newest process in place of `4711`.
    pub(crate) fn command(&self, line: &str) -> Command {
        let pid = self.running.last().map(|child| child.id().to_string());
        let line = pid.map_or_else(|| line.to_owned(), |pid| line.replace("4711", &pid));
        let mut command = shell("bash", &line, self.path());
        command.env("PATH", format!("{}:{}", tool_and_path(), self.path().display()));
        command.env("HOME", self.path()).env("XDG_RUNTIME_DIR", self.path());
        command.env("XDG_CONFIG_HOME", self.path().join(".config"));
        command.env("XDG_STATE_HOME", self.path().join(".state"));
        for variable in ["PROTOLOG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
            command.env_remove(variable);
        }
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill().and_then(|()| child.wait());
            for name in ["app", "server"] {
                let _ = fs::remove_file(format!("/dev/shm/protolog-{name}-{}-0.rec", child.id()));
            }
        }
    }
}

/// Builds the programs, once; returns their directory. Pages wait meanwhile, so it is never called
/// for the first time while one is tried.
pub(crate) fn build_programs() -> &'static Path {
    PROGRAMS.get_or_init(build).path()
}

/// Builds the program, and one with another group, in the target directory that packages of all
/// pages share; copies of them are in the directory, since other pages have programs of these
/// names.
fn build() -> TempDir {
    let desk = copy_of_repository();
    let lock = File::create(desk.join("lock")).expect("create a lock");
    lock.lock().expect("wait for pages");
    let package = desk.join("stage");
    fs::create_dir_all(package.join("src/bin")).expect("make a package");
    let manifest = "[package]\nname = \"stage\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
        protolog-rt = { path = \"../protolog/protolog-rt\" }\n\n[workspace]\n";
    fs::write(package.join("Cargo.toml"), manifest).expect("write a manifest");
    fs::write(package.join("src/bin/app.rs"), PROGRAM).expect("write a program");
    let other = PROGRAM.replace("    Disk,\n", "    Disk,\n    Walk,\n");
    fs::write(package.join("src/bin/indexer.rs"), other).expect("write a program");
    fs::copy(workspace_root().join("Cargo.lock"), package.join("Cargo.lock"))
        .expect("copy a lock file");
    run(&mut shell("sh", "cargo build --quiet", &package));
    let target = user_environment(env!("CARGO_TARGET_TMPDIR"))[0].1.clone();
    let programs = protolog_testkit::temp_dir();
    for name in ["app", "indexer"] {
        copy_program(&Path::new(&target).join("debug").join(name), &programs.path().join(name));
    }
    programs
}
