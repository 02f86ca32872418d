//! Whole processes: `init` with variables and files, and forks. Each test runs this binary again,
//! with one of its tests in a role.

use crate::{group, listen};
use protolog_control::{Program, REPLY_TIMEOUT, Whose, find_sockets};
use protolog_core::control::protocol::Request;
use protolog_core::control::{minimum_level, switch};
use protolog_rt::{Init, Level, ProtoLogGroup, init};
use protolog_testkit::temp_dir_for_sockets;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Own {
    Net,
    Disk,
}

/// Runs the test `role` of this binary with the variables `variables`.
fn run(role: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", &format!("process::{role}"), "--nocapture"])
        .env_remove("PROTOLOG")
        .env("PROTOLOG_TEST_ROLE", role)
        .env("PROTOLOG_RUNTIME_DIR", directory.join("run"))
        .env("PROTOLOG_STATE", directory.join("settings"))
        .envs(variables.iter().copied());
    again.output().unwrap()
}

fn in_role(role: &str) -> bool {
    std::env::var("PROTOLOG_TEST_ROLE").is_ok_and(|value| value == role)
}

/// The lines that a role printed after `> `.
fn printed_lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

/// The minimum level of the text output of `Net` and of `Disk`.
fn minimum_levels() -> String {
    let least = |group: Own| {
        let mut on = Level::ALL.into_iter().filter(|level| group.is_enabled(*level));
        on.next().map_or("-", Level::name)
    };
    format!("{} {}", least(Own::Net), least(Own::Disk))
}

#[test]
fn role_of_a_program_that_calls_init() {
    if !in_role("role_of_a_program_that_calls_init") {
        return;
    }
    println!();
    if let Err(error) = init() {
        error.to_string().lines().for_each(|line| println!("> {line}"));
    }
    println!("> {}", minimum_levels());
    let sockets = std::fs::read_dir(std::env::var("PROTOLOG_RUNTIME_DIR").unwrap());
    println!("> {} sockets", sockets.map_or(0, Iterator::count));
    init().ok();
}

#[test]
fn init_applies_settings_and_listens() {
    let dir = temp_dir_for_sockets();
    let role = "role_of_a_program_that_calls_init";
    assert_eq!(printed_lines(&run(role, dir.path(), &[])), ["- -", "1 sockets"]);
    let variables = [("PROTOLOG", "own::net=warn,text;DISK=text:error")];
    assert_eq!(
        printed_lines(&run(role, dir.path(), &variables)),
        ["WARN ERROR", "2 sockets"],
        "the earlier process left its socket"
    );
    std::fs::write(dir.path().join("settings"), "*=text:info\n[other]\n*=notext\n").unwrap();
    let variables = [("PROTOLOG", "disk=notext")];
    let lines = printed_lines(&run(role, dir.path(), &variables));
    assert_eq!(lines[0], "INFO -", "the variable overrides the settings file");
}

#[test]
fn init_reports_errors_and_applies_the_rest() {
    let dir = temp_dir_for_sockets();
    std::fs::write(dir.path().join("settings"), "net=text\nnet=loud\n").unwrap();
    std::fs::write(dir.path().join("run"), "").unwrap();
    let role = "role_of_a_program_that_calls_init";
    let lines =
        printed_lines(&run(role, dir.path(), &[("PROTOLOG", "disk=text:eror;disk=text:w")]));
    let words = "help: use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between";
    let path = dir.path().display();
    assert_eq!(
        lines,
        [
            &format!("{path}/settings: line 2: unknown word `loud`"),
            words,
            &format!("`{path}/run` is not private to this user"),
            "help: make it a directory of this user with `chmod 700`, where others can't rename it",
            "VERBOSE WARN",
            "0 sockets",
        ]
    );
}

#[test]
fn role_of_a_program_with_a_strict_variable() {
    if !in_role("role_of_a_program_with_a_strict_variable") {
        return;
    }
    println!();
    let result = Init::new().strict().control(false).start();
    result.unwrap_err().to_string().lines().for_each(|line| println!("> {line}"));
    println!("> {}", minimum_levels());
}

#[test]
fn a_mistake_in_the_variable_is_a_warning_or_an_error() {
    let dir = temp_dir_for_sockets();
    let variables = [("PROTOLOG", "disk=text:eror;net=txet;Dsik=text;elsewhere=text;disk=text:w")];
    let expected = "PROTOLOG: unknown word `eror`
help: use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between
PROTOLOG: unknown word `txet`
help: use verbose, debug, info, warn, error, wtf, off, text, text:LEVEL, notext or notrace, with commas between
PROTOLOG: no group is named `Dsik`
help: write `Disk`
";
    let output = run("role_of_a_program_that_calls_init", dir.path(), &variables);
    let lines = printed_lines(&output);
    assert_eq!(lines[0], "- WARN", "no error, and what is right holds");
    let warnings = expected.replace("PROTOLOG:", "protolog: PROTOLOG:");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        warnings.repeat(2),
        "`init` is called twice"
    );
    let output = run("role_of_a_program_with_a_strict_variable", dir.path(), &variables);
    let mut lines = printed_lines(&output);
    assert_eq!(lines.pop().as_deref(), Some("- WARN"));
    assert_eq!(lines.join("\n") + "\n", expected);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_bare_level_is_for_all_groups() {
    let dir = temp_dir_for_sockets();
    for (variable, expected) in [
        ("text:warn", "WARN WARN"),
        ("debug,text", "DEBUG DEBUG"),
        ("info,text;disk=off", "INFO -"),
    ] {
        let output =
            run("role_of_a_program_that_calls_init", dir.path(), &[("PROTOLOG", variable)]);
        assert_eq!(printed_lines(&output)[0], expected, "{variable}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[derive(ProtoLogGroup)]
enum Loud {
    #[protolog(log_to_text = true)]
    Ui,
}

/// The minimum levels of text output and of traces of `Net`, `Disk` and `Ui`, as an operator sees
/// them.
fn operator_view(operator: &mut Program) -> String {
    let least = |levels: u8| minimum_level(levels).map_or("-", Level::name);
    let mut parts = Vec::new();
    for group in operator.groups().unwrap() {
        if [Own::Net.info(), Own::Disk.info(), Loud::Ui.info()]
            .iter()
            .any(|own| own.name == group.name)
        {
            let (printed, allowed) =
                (switch::text_levels(group.word), switch::allowed_levels(group.word));
            parts.push(format!("{} {}/{}", group.tag, least(printed), least(allowed)));
        }
    }
    parts.join(", ")
}

/// The successive contents of the configuration file, none if it is deleted, and the operator's
/// view after each.
const CONFIGURATIONS: [(Option<&str>, &str); 7] = [
    (None, "Net -/VERBOSE, Disk INFO/VERBOSE, Ui VERBOSE/VERBOSE"),
    (Some("net=text:warn\n"), "Net WARN/VERBOSE, Disk INFO/VERBOSE, Ui VERBOSE/VERBOSE"),
    (Some("net=error,notext\nbad\ndisk=text:f\nui=off"), "Net -/ERROR, Disk WTF/VERBOSE, Ui -/-"),
    // A setting that the file drops falls back to the variable, and without one to the group's
    // default.
    (Some("net=error\n"), "Net -/ERROR, Disk INFO/VERBOSE, Ui VERBOSE/VERBOSE"),
    (Some(""), "Net -/VERBOSE, Disk INFO/VERBOSE, Ui VERBOSE/VERBOSE"),
    (Some("*=warn,text"), "Net WARN/WARN, Disk WARN/WARN, Ui WARN/WARN"),
    (None, "Net -/VERBOSE, Disk INFO/VERBOSE, Ui VERBOSE/VERBOSE"),
];

#[test]
fn role_of_a_program_whose_configuration_changes() {
    if !in_role("role_of_a_program_whose_configuration_changes") {
        return;
    }
    println!();
    let config = Path::new(&std::env::var("PROTOLOG_STATE").unwrap()).with_file_name("config");
    let init = Init::new().config_file(&config).reload();
    init.groups::<Own>().groups::<Loud>().start().unwrap();
    let socket = find_sockets(Whose::All).sockets.remove(0);
    let mut operator = Program::connect_to(&socket, REPLY_TIMEOUT).unwrap();
    let is_link = std::env::var_os(LINK).is_some();
    for (text, expected) in CONFIGURATIONS {
        match text {
            // In another directory.
            Some(text) if is_link => {
                let target = config.with_file_name("mounted/config");
                std::fs::create_dir_all(target.parent().unwrap()).unwrap();
                std::fs::write(&target, text).unwrap();
                if std::fs::symlink_metadata(&config).is_err() {
                    std::os::unix::fs::symlink("mounted/config", &config).unwrap();
                }
            }
            None => drop(std::fs::remove_file(&config)),
            Some(text) => {
                let part = config.with_extension("part");
                std::fs::write(&part, text).unwrap();
                std::fs::rename(part, &config).unwrap();
            }
        }
        let until = Instant::now() + Duration::from_secs(60);
        while operator_view(&mut operator) != expected && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        println!("> {}", operator_view(&mut operator));
        for line in operator.request(&Request::Stats).unwrap() {
            println!("> {}", line.replace(config.to_str().unwrap(), "CONFIG"));
        }
    }
}

/// The variable by which that file is a link.
const LINK: &str = "PROTOLOG_CONFIGURATION_IS_LINK";

#[test]
fn a_changed_configuration_file_is_reloaded() {
    let dir = temp_dir_for_sockets();
    check_reloads(dir.path(), &[("PROTOLOG", "disk=text:info")]);
}

#[test]
fn a_configuration_file_that_a_link_leads_to_is_reloaded() {
    let dir = temp_dir_for_sockets();
    check_reloads(dir.path(), &[("PROTOLOG", "disk=text:info"), (LINK, "1")]);
}

#[track_caller]
fn check_reloads(directory: &Path, variables: &[(&str, &str)]) {
    let role = "role_of_a_program_whose_configuration_changes";
    let lines = printed_lines(&run(role, directory, variables));
    let mut expected = CONFIGURATIONS.map(|(_, operator_view)| operator_view).to_vec();
    expected.insert(
        3,
        "problem CONFIG: line 2: missing `=` in `bad`?help: write GROUP=WORDS, as in `net=debug,text`, or a level for all groups, as in `debug`",
    );
    assert_eq!(lines, expected);
}

#[test]
fn a_forked_child_has_its_own_switches() {
    #[derive(ProtoLogGroup)]
    enum Forked {
        Net,
    }
    let program = listen();
    assert!(!Forked::Net.is_enabled(Level::Wtf));
    let mut operator = program.connect();
    let net = group(&mut operator, "Forked::Net");
    let pages = operator.pages().unwrap();
    pages.set_text_levels(&net, 0x3f);
    let (mut reads, mut writes) = ([0; 2], [0; 2]);
    for (read, write) in reads.iter_mut().zip(&mut writes) {
        let mut ends = [0; 2];
        // SAFETY: the kernel writes two numbers.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        (*read, *write) = (ends[0], ends[1]);
    }
    let (ready, changed) = ((reads[0], writes[0]), (reads[1], writes[1]));
    // SAFETY: the child tests a word, reads and writes a byte, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let inherited = Forked::Net.is_enabled(Level::Wtf);
        let mut byte = [0_u8];
        // SAFETY: one byte of ours.
        unsafe { libc::write(ready.1, byte.as_ptr().cast(), 1) };
        // SAFETY: one byte of ours.
        unsafe { libc::read(changed.0, byte.as_mut_ptr().cast(), 1) };
        let kept = Forked::Net.is_enabled(Level::Wtf);
        // SAFETY: ends the child, and runs nothing of the test's.
        unsafe { libc::_exit(i32::from(!(inherited && kept))) };
    }
    let mut byte = [0_u8];
    // SAFETY: one byte of ours.
    assert_eq!(unsafe { libc::read(ready.0, byte.as_mut_ptr().cast(), 1) }, 1);
    pages.set_text_levels(&net, 0);
    assert!(!Forked::Net.is_enabled(Level::Wtf), "the operator switches the parent");
    // SAFETY: one byte of ours.
    unsafe { libc::write(changed.1, byte.as_ptr().cast(), 1) };
    let mut status = -1;
    // SAFETY: the child is this process's, the number is ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(
        status, 0,
        "the child keeps the switches of the fork, and later changes do not reach it"
    );
}

#[test]
fn a_forked_child_does_not_hold_connections() {
    let program = listen();
    let mut operator = UnixStream::connect(program.server.path()).unwrap();
    operator.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two numbers.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    operator.write_all(b"protolog 1\n").unwrap();
    let mut answer = [0; 256];
    assert!(operator.read(&mut answer).unwrap() > 0, "it is accepted");
    // SAFETY: the child reads a byte and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: takes and gives a number.
        unsafe { libc::close(ends[1]) };
        let mut byte = [0_u8];
        // SAFETY: one byte of ours; what is read is the end, when the parent closes its side.
        unsafe { libc::read(ends[0], byte.as_mut_ptr().cast(), 1) };
        // SAFETY: ends the child, and runs nothing of the test's.
        unsafe { libc::_exit(0) };
    }
    drop(program);
    // The child lives on. If it held the connection too, this loop would not end.
    let end = loop {
        match operator.read(&mut answer) {
            Ok(1..) => {}
            end => break end,
        }
    };
    // SAFETY: takes and gives a number.
    unsafe { libc::close(ends[1]) };
    let mut status = -1;
    // SAFETY: the child is this process's, the number is ours.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!((end.expect("the connection ends with the program"), status), (0, 0));
}
