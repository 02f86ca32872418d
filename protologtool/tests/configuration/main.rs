//! `configuration` against real programs: this binary again, under other names.
//!
//! `transcript.txt` is a session of a shell, `indexer` and `server` being programs that run all the
//! time (see [`Program`]):
//!
//! ```text
//! $ protologtool configuration groups list      a command, for sh
//! …                                             what it printed to standard output
//! ! …                                           what it printed to standard error
//! ? 2                                           its exit code, unless 0
//! indexer> log                                  what a program is output to do
//! …                                             what it printed to standard error
//! ```
//!
//! Empty lines are for who reads it, so no command may print one.

mod functions;

use protolog_rt::{Init, ProtoLogGroup, Session, Triggers, d, w, wtf};
use protolog_testkit::{
    Output, TempDir, copy_program, expect_file, run_any, temp_dir_for_sockets, tool,
};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(tag = "DISK", log_to_text = true)]
    Disk,
    #[protolog(enabled = false)]
    Out,
}

#[derive(ProtoLogGroup)]
enum LateLog {
    Late,
}

/// A program that listens, and does what it is output on its standard input.
struct Program {
    name: &'static str,
    child: Child,
    out: BufReader<ChildStdout>,
    errors: Option<BufReader<ChildStderr>>,
}

const ROLE: &str = "PROTOLOG_TEST_ROLE";

/// The program that the tests switch.
#[test]
fn role_of_a_program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let init = Init::new().groups::<AppLog>().start();
    println!("\nready {}", init.map_or_else(|error| error.to_string(), |()| String::new()));
    let mut session = None;
    for line in std::io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "log" => {
                d!(AppLog::Net, "a datagram of %d bytes", 512);
                w!(AppLog::Net, "no answer from %s", "example.org");
                d!(AppLog::Disk, "read %d blocks", 3);
                d!(AppLog::Out, "never");
            }
            "fail" => {
                wtf!(AppLog::Net, "this can't happen");
                wtf!(AppLog::Disk, "nor this");
            }
            "late" => d!(LateLog::Late, "better than never"),
            "triggers" => {
                let own = std::env::current_exe().unwrap();
                let triggers = Triggers::to(own.with_file_name("events.pftrace"));
                let builder = Session::builder().enable_all().triggers(triggers);
                session = Some(builder.start().unwrap());
            }
            "stop" => drop(session.take()),
            other => panic!("{other}"),
        }
        eprintln!("---");
    }
}

impl Program {
    fn start(name: &'static str, directory: &Path) -> Self {
        let path = directory.join(name);
        let own = std::env::current_exe().unwrap();
        if !path.exists() && std::fs::hard_link(&own, &path).is_err() {
            copy_program(&own, &path);
        }
        let mut command = Command::new(path);
        command
            .args(["--exact", "role_of_a_program", "--nocapture"])
            .env(ROLE, name)
            .env("TZ", "UTC");
        surroundings(&mut command, directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let errors = child.stderr.take().map(BufReader::new);
        let mut line = String::new();
        while !line.starts_with("ready") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "{name} ended");
        }
        assert_eq!(line, "ready \n");
        Self { name, child, out, errors }
    }

    /// The line that it prints on an instruction: level, tag and message.
    fn instruct(&mut self, what: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
        let mut text = String::new();
        for line in self.errors.as_mut().unwrap().lines() {
            let line = line.unwrap();
            if line == "---" {
                break;
            }
            let _ = writeln!(text, "{}", without_head(&line));
        }
        text
    }
}

/// The line after date, time, process and thread, whose ids may have more digits than columns.
fn without_head(line: &str) -> &str {
    let word = |rest: &'_ str| rest.trim_start().find(' ');
    (0..4)
        .fold(line, |rest, _| word(rest).map_or(rest, |end| &rest.trim_start()[end..]))
        .trim_start()
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = std::io::copy(&mut self.out, &mut std::io::sink());
        let _ = self.child.wait();
    }
}

fn surroundings(command: &mut Command, directory: &Path) {
    command
        .env_remove("PROTOLOG")
        .env("PROTOLOG_RUNTIME_DIR", directory.join("run"))
        .env("PROTOLOG_STATE", directory.join("state/settings"));
}

/// Standard output, standard error and exit code of a command line.
fn shell(line: &str, directory: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(directory);
    shell.env(
        "PATH",
        format!("{}:{}:{path}", directory.display(), program.parent().unwrap().display()),
    );
    surroundings(&mut shell, directory);
    let output = run_any(&mut shell);
    let mut text = output.stdout;
    for line in output.stderr.lines() {
        let _ = writeln!(text, "{}", format!("! {line}").trim_end());
    }
    if output.code != Some(0) {
        let _ =
            writeln!(text, "? {}", output.code.map_or("signal".into(), |code| code.to_string()));
    }
    text
}

#[test]
fn a_session_with_two_programs() {
    let dir = temp_dir_for_sockets();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configuration/transcript.txt");
    let text = std::fs::read_to_string(&file).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_protologtool"),
        dir.path().join("protolog_configuration"),
    )
    .unwrap();
    let mut programs = Vec::new();
    let mut actual = String::new();
    for line in text.lines() {
        let output = if let Some(command) = line.strip_prefix("$ ") {
            shell(&unmasked(command, &programs), dir.path())
        } else if let Some(name) = line.strip_prefix("start ") {
            let name = ["indexer", "server", "late", "ruled"]
                .into_iter()
                .find(|one| *one == name)
                .unwrap();
            programs.push(Program::start(name, dir.path()));
            String::new()
        } else if let Some((name, what)) = line.split_once("> ") {
            programs.iter_mut().find(|program| program.name == name).unwrap().instruct(what)
        } else if line.starts_with('#') || line.is_empty() {
            String::new()
        } else {
            continue;
        };
        let _ = write!(actual, "{line}\n{}", masked(&output, &programs, &dir));
    }
    expect_file(&file, &actual);
}

fn masked(text: &str, programs: &[Program], dir: &TempDir) -> String {
    let mut text = text.replace(&dir.path().display().to_string(), "DIR");
    for Program { name, child, .. } in programs {
        // The same digits may stand for something else.
        for (before, after) in
            [("(pid ", ")"), ("\"pid\":", ","), (&format!("{name}-"), ".pftrace")]
        {
            let found = format!("{before}{}{after}", child.id());
            text = text.replace(&found, &format!("{before}PID-{name}{after}"));
        }
    }
    let user = std::fs::metadata("/proc/self").unwrap().uid();
    text = text.replace(&format!("\"user\":{user},"), "\"user\":UID,");
    // Sizes of traces depend on the paths in them.
    let is_bytes = |word: &&str| word.starts_with("bytes");
    let words: Vec<&str> = text.split_inclusive([' ', ',']).collect();
    let mut masked = String::new();
    for (at, word) in words.iter().enumerate() {
        let number = word.trim_end().chars().all(|char| char.is_ascii_digit());
        if number && words.get(at + 1).is_some_and(is_bytes) && text.contains(" lost, ") {
            masked.push_str("SOME ");
        } else {
            masked.push_str(word);
        }
    }
    masked
}

fn unmasked(text: &str, programs: &[Program]) -> String {
    programs.iter().fold(text.to_owned(), |text, program| {
        text.replace(&format!("PID-{}", program.name), &program.child.id().to_string())
    })
}

/// Command lines, and what the tab key makes of each: names of groups of a program that runs, under
/// both names of the tool.
const COMPLETED: [(&str, &str); 4] = [
    ("protologtool configuration logcat enable Disk N", "Net"),
    ("protologtool configuration groups status La", "Late"),
    ("protologtool configuration level Di", "Disk"),
    ("protolog_configuration logcat disable L", "Late"),
];

/// The output of a shell's completion script, which finds the tool under both names.
fn completed(shell: &str, script: &str, lines: &[&str]) -> Option<String> {
    let shell = tool(shell)?;
    let dir = temp_dir_for_sockets();
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    std::os::unix::fs::symlink(program, dir.path().join("protolog_configuration")).unwrap();
    let _running = Program::start("indexer", dir.path());
    let script_path = dir.path().join("script");
    std::fs::write(&script_path, script).unwrap();
    let mut command = Command::new(shell);
    // As on a machine where nobody has set anything up.
    command.arg(script_path).args(lines).env("HOME", dir.path()).env("TERM", "dumb");
    let path = std::env::var("PATH").unwrap_or_default();
    let folders =
        [dir.path(), program.parent().unwrap()].map(|folder| folder.display().to_string());
    command.env("PATH", format!("{}:{path}", folders.join(":")));
    surroundings(&mut command, dir.path());
    let Output { code, stdout, stderr } = run_any(&mut command);
    assert_eq!(code, Some(0), "{stderr}");
    Some(stdout)
}

/// A program whose groups have these names, which it tells whoever asks. What is no name is a line
/// of its own.
fn listen(place: &Path, names: &'static [&'static str]) {
    let path = place.join(format!("{}-1.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for line in lines.map_while(Result::ok) {
                let mut reply = String::new();
                let mut last = "ok";
                match line.split(' ').next() {
                    // As a runtime that is older than this word.
                    Some("trigger-at") => last = "help ask otherwise\nerror unknown request `…`",
                    Some("trigger") if line.ends_with("again") => {
                        last = "help wait\nerror it has fired a moment ago";
                    }

                    Some("protolog") => reply = format!("protolog 1 {} x\n", std::process::id()),
                    Some("groups") => {
                        for name in names {
                            let _ = match name.strip_prefix("problem ") {
                                Some(_) => writeln!(reply, "{name}"),
                                None => writeln!(reply, "group - 0 003f3f3f y {name} T"),
                            };
                        }
                    }
                    _ => {}
                }
                if stream.write_all(format!("{reply}{last}\n").as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
}

#[test]
fn status_warns_of_groups_that_a_program_does_not_know() {
    let dir = temp_dir_for_sockets();
    let place = dir.path().join("run");
    std::fs::create_dir(&place).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    listen(&place, &["app::Log::Net", "problem `libplugin.so` has another version inside"]);
    for lines in [&["groups", "status"][..], &["groups", "list", "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        command.arg("configuration").args(lines);
        surroundings(&mut command, dir.path());
        let Output { code, stdout, stderr } = run_any(&mut command);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("app::Log::Net"), "{stdout}");
        let warning =
            format!("(pid {}): `libplugin.so` has another version inside", std::process::id());
        assert!(stderr.starts_with("warning: ") && stderr.contains(&warning), "{stderr}");
    }
}

/// A program that is older than the word of an event with a time is asked by the older word.
#[test]
fn an_older_program_is_asked_by_the_word_that_it_knows() {
    let dir = temp_dir_for_sockets();
    let place = dir.path().join("run");
    std::fs::create_dir(&place).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    listen(&place, &[]);
    for (cause, code, out, warning) in [
        ("slow", 0, "writes a file of a time of its own, since its runtime is older\n", ""),
        ("again", 2, "", "it has fired a moment ago"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        command.args(["configuration", "trace", "trigger", cause]);
        surroundings(&mut command, dir.path());
        let output = run_any(&mut command);
        assert_eq!(output.code, Some(code), "{}", output.stderr);
        assert!(output.stdout.ends_with(out), "{}", output.stdout);
        assert!(output.stderr.contains(warning), "{}", output.stderr);
    }
}

/// Another user's program names its groups as it likes, and root presses the tab key.
#[test]
fn bash_runs_nothing_of_what_groups_are_called() {
    let Some(shell) = tool("bash") else { return };
    let dir = temp_dir_for_sockets();
    let place = dir.path().join("run");
    std::fs::create_dir(&place).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    listen(&place, &["x$(>ran)", "`>ran`", "a;>ran;", "app::Log::Net"]);
    let script = "source <(protologtool completions bash)
        COMP_WORDS=(protologtool configuration logcat enable ''); COMP_CWORD=4
        _protologtool_and_groups protologtool '' enable
        printf '<%s>' \"${COMPREPLY[@]}\"
        # What is there when the tool is an older or another one.
        protologtool() { printf '%s\\n' 'x$(>ran)' 'two words' '*'; }
        _protologtool_and_groups protologtool '' enable
        printf '<%s>' \"${COMPREPLY[@]}\"";
    let program = Path::new(env!("CARGO_BIN_EXE_protologtool"));
    let mut command = Command::new(shell);
    command.args(["--norc", "-c", script]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
    surroundings(&mut command, dir.path());
    let Output { code, stdout, stderr } = run_any(&mut command);
    assert_eq!((code, &*stderr), (Some(0), ""));
    assert_eq!(stdout, "<Net><x$(>ran)><two words><*>");
    assert!(!dir.path().join("ran").exists() && !Path::new("ran").exists());
}

#[test]
fn fish_completes_groups_that_are_there() {
    let script = "protologtool completions fish | source
        for line in $argv; complete -C $line; echo .; end";
    let lines = COMPLETED.map(|(line, _)| line);
    let Some(output) = completed("fish", script, &lines) else { return };
    let expected: Vec<_> = COMPLETED.iter().flat_map(|(_, word)| [*word, "."]).collect();
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

/// A shell of its own behind a terminal of its own gets the line and a tab, and then a key that
/// tells what the line is now.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty -b shell zsh -f -i || exit
zpty -w shell 'PS1=; unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D
    eval "$(protologtool completions zsh)"
    tell() { print -r -- "<$BUFFER>" }; zle -N tell; bindkey "^X" tell; bindkey "^I" complete-word; print RE""ADY'
take() {
    local part text= tries=0
    while (( tries++ < 10000 )) && [[ $text != ${~1} ]]; do
        if zpty -r -t shell part; then text+=$part; else sleep 0.02; fi
    done
    print -r -- "${${text##*<}%%>*}"
}
take '*READY*' > /dev/null
for line in "$@"; do
    zpty -w -n shell $'\025'"$line"$'\t\030'
    take '*<*>*'
done
zpty -d shell
"#;

#[test]
fn zsh_completes_groups_that_are_there() {
    let lines = COMPLETED.map(|(line, _)| line);
    let Some(output) = completed("zsh", ZSH, &lines) else { return };
    let whole = |(line, word): &(&str, &str)| {
        let (before, _) = line.rsplit_once(' ').unwrap();
        format!("{before} {word} ")
    };
    assert_eq!(output.lines().collect::<Vec<_>>(), COMPLETED.iter().map(whole).collect::<Vec<_>>());
}

/// The switches that are remembered, in one life of the program after the other.
const REMEMBERED: [&str; 9] = [
    "level Disk warn",
    "level Disk debug --text",
    "level Net info --trace",
    "logcat enable Net --level error",
    "level Net wtf",
    "logcat disable Disk --name server",
    "logcat enable Disk",
    "level Disk error --name server",
    "level Disk off",
];

#[test]
fn a_program_that_starts_again_has_what_it_had() {
    let dir = temp_dir_for_sockets();
    let status = || shell("protologtool configuration groups status", dir.path());
    let mut running = Program::start("server", dir.path());
    for words in REMEMBERED {
        let before = status();
        let output = shell(&format!("protologtool configuration {words} --persist"), dir.path());
        assert!(output.contains("- Done"), "{words}: {output}");
        let after = status();
        assert_ne!(before, after, "{words}");
        drop(running);
        running = Program::start("server", dir.path());
        let settings = std::fs::read_to_string(dir.path().join("state/settings")).unwrap();
        assert_eq!(status(), after, "{words}: {settings}");
    }
    drop(running);
}

/// A program that does not answer holds up nobody for long, and one that died is cleaned up.
#[test]
fn programs_that_hang_or_died_are_passed_over() {
    let dir = temp_dir_for_sockets();
    let running = Program::start("server", dir.path());
    let run = dir.path().join("run");
    let mut died = Program::start("indexer", dir.path());
    died.child.kill().unwrap();
    drop(died);
    let hangs = run.join("1-1.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&hangs).unwrap();
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 3);
    let begun = Instant::now();
    let output = shell("protologtool configuration groups status Net", dir.path());
    let time = begun.elapsed();
    let expected = format!(
        "ProtoLog group Net's status:\nLOG_TO_LOGCAT = false, TRACE = false\n! warning: `{}`: the program does not answer\n! help: check whether the program is stopped or too busy\n? 2\n",
        hangs.display()
    );
    assert_eq!(output, expected);
    assert!(time < Duration::from_secs(60), "{time:?}");
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 2, "that of the dead program is gone");
    drop(running);
}
