//! Calls that are chosen by their function: the program says their lines, the sources the function.

use super::{Program, shell};
use protolog_testkit::temp_dir_for_sockets;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn calls_are_switched_by_their_function_where_the_sources_are() {
    let dir = temp_dir_for_sockets();
    let mut program = Program::start("server", dir.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let run = |what: &str| {
        let line = format!("cd '{}' && protologtool configuration {what}", root.display());
        shell(&line, dir.path())
    };
    let selector = "'fn role_of_a_program and \"blocks\"'";
    let listed = run(&format!("site list {selector}"));
    assert!(listed.lines().count() == 1 && listed.contains("\"read %d blocks\""), "{listed}");
    let printed = "D DISK    : read 3 blocks\n";
    assert_eq!(program.instruct("log"), printed);
    let switched = run(&format!("site disable {selector}"));
    assert!(switched.starts_with("Setting 1 calls of client server (pid "), "{switched}");
    assert_eq!(program.instruct("log"), "");
    let rules = run("site rules");
    let rule = "site file protologtool/tests/configuration/main.rs:";
    assert!(rules.starts_with(rule), "{rules}");
    assert!(rules.contains(" and \"blocks\"=off (1 call) in server"), "{rules}");
    run(&format!("site reset {selector}"));
    assert_eq!(run("site rules"), "");
    run(&format!("limit {selector} '1/h burst 2'"));
    assert_eq!([(); 4].map(|()| program.instruct("log")), [printed, printed, "", ""]);
    run(&format!("limit {selector} none"));
    let condition = run("site disable 'fn role_of_a_program and \"blocks\" and arg1 == 3'");
    assert!(condition.starts_with("Setting 1 calls "), "{condition}");
    assert_eq!(program.instruct("log"), "");
    run("site reset 'fn role_of_a_program and \"blocks\" and arg1 == 3'");
    assert_eq!(program.instruct("log"), printed);
}

#[test]
fn what_can_not_be_found_is_said() {
    let dir = temp_dir_for_sockets();
    let _program = Program::start("server", dir.path());
    let run = |what: &str| shell(&format!("protologtool configuration {what}"), dir.path());
    let path = dir.path().join("protologtool/tests/configuration");
    let elsewhere = run("site enable 'fn role_of_a_program'");
    let expected = "! warning: 1 sources in Rust or Java are not here, `protologtool/tests/configuration/main.rs` among them\n\
                    ! help: run it in the directory that the build ran in, or name lines\n\
                    ! warning: no call is taken by `fn role_of_a_program`\n";
    assert!(elsewhere.starts_with(expected), "{elsewhere}");
    std::fs::create_dir_all(&path).expect("a directory");
    std::fs::write(path.join("main.rs"), "fn role_of_a_program() {\n}\n").expect("a source");
    let other = run("site list 'fn role_of_a_program'");
    assert!(
        other.contains(" calls are at other lines in the sources than in the program\n"),
        "{other}"
    );
    let refused = run("site list 'fn and net'");
    assert!(refused.contains("no name of a function in `fn`"), "{refused}");
    assert!(refused.ends_with("? 2\n"), "{refused}");
}

/// A program that says what it likes of its calls, and writes down what it is to set.
struct Hostile {
    set: Arc<Mutex<Vec<String>>>,
}

impl Hostile {
    /// Starts one with calls at these places, whose text is `stolen`.
    fn start(dir: &Path, places: &[(String, u32)]) -> Self {
        let run = dir.join("run");
        let _ = std::fs::DirBuilder::new().mode(0o700).create(&run);
        let listener = UnixListener::bind(run.join("1-hostile.sock")).expect("listen");
        let set = Arc::new(Mutex::new(Vec::new()));
        let mut sites = String::new();
        for (number, (file, line)) in places.iter().enumerate() {
            let _ = writeln!(sites, "site {number:016x} DEBUG - {line} net app {file} stolen");
        }
        let sites = format!("{sites}taken {}\nok\n", places.len());
        let asked = Arc::clone(&set);
        thread::spawn(move || {
            for stream in listener.incoming() {
                Self::answer(&stream.expect("an operator"), &sites, &asked);
            }
        });
        Self { set }
    }

    fn answer(mut stream: &UnixStream, sites: &str, set: &Mutex<Vec<String>>) {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let reply = match line.split(' ').next() {
                Some("protolog") => format!("protolog 1 {} hostile\nok\n", std::process::id()),
                Some("sites") => sites.to_owned(),
                _ => "ok\n".to_owned(),
            };
            if let Some(item) = line.strip_prefix("set ") {
                set.lock().expect("no panic").push(item.to_owned());
            }
            let _ = stream.write_all(reply.as_bytes());
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.set.lock().expect("no panic"))
    }
}

#[test]
fn what_a_program_says_of_its_lines_reaches_no_other_one() {
    let dir = temp_dir_for_sockets();
    let _program = Program::start("server", dir.path());
    let run = |what: &str| shell(&format!("protologtool configuration {what}"), dir.path());
    let sources = dir.path().join("protologtool/tests/configuration");
    std::fs::create_dir_all(&sources).expect("a directory");
    std::fs::write(sources.join("main.rs"), include_str!("main.rs")).expect("a source");
    let function = "fn role_of_a_program() {\n    d!(\"stolen\");\n}\n";
    std::fs::write(dir.path().join("other.rs"), function).expect("a source");
    std::fs::write(dir.path().join("many.rs"), function.repeat(60)).expect("a source");
    std::fs::write(dir.path().with_extension("rs"), function).expect("a source");
    let outside = format!("../{}.rs", dir.path().file_name().expect("a name").to_string_lossy());
    let absolute = dir.path().join("other.rs").display().to_string();
    let place = |file: &str| (file.to_owned(), 2);
    let hostile = Hostile::start(
        dir.path(),
        &["other.rs", "./protologtool/../other.rs", &outside, &absolute].map(place),
    );
    let switched = run("site disable 'fn role_of_a_program and \"blocks\"'");
    assert_eq!(switched.matches("Setting ").count(), 2, "{switched}");
    assert_eq!(hostile.take(), ["site file other.rs:1-3 and \"blocks\"=off"]);
    let rules = || run("site rules").lines().filter(|it| !it.starts_with('!')).collect::<String>();
    let own = "site file protologtool/tests/configuration/main.rs:";
    let shown = rules();
    assert!(shown.starts_with(own) && shown.matches("site ").count() == 1, "{shown}");
    run("site reset 'fn role_of_a_program and \"blocks\"'");
    assert_eq!(rules(), "");

    // A program with too many functions is left out, and keeps nobody else from being switched.
    std::fs::remove_file(dir.path().join("run/1-hostile.sock")).expect("remove it");
    let many: Vec<_> = (0..60).map(|at| ("many.rs".to_owned(), 3 * at + 2)).collect();
    let hostile = Hostile::start(dir.path(), &many);
    let switched = run("site disable 'fn role_of_a_program and \"blocks\"'");
    assert!(switched.contains("! warning: 60 functions of "), "{switched}");
    assert!(switched.contains("Setting 1 calls of client server "), "{switched}");
    assert_eq!(hostile.take(), [""; 0]);
    std::fs::remove_file(dir.path().with_extension("rs")).expect("remove it");
}

#[test]
fn lines_are_remembered_for_the_program_that_has_them() {
    let dir = temp_dir_for_sockets();
    let _program = Program::start("server", dir.path());
    let sources = dir.path().join("protologtool/tests/configuration");
    std::fs::create_dir_all(&sources).expect("a directory");
    std::fs::write(sources.join("main.rs"), include_str!("main.rs")).expect("a source");
    let line =
        "protologtool configuration site disable 'fn role_of_a_program and \"blocks\"' --persist";
    let switched = shell(line, dir.path());
    assert!(switched.starts_with("Setting 1 calls of client server "), "{switched}");
    let kept = std::fs::read_to_string(dir.path().join("state/settings")).expect("settings");
    let (_, rules) = kept.split_once("\n[server]\n").expect("rules of the program");
    assert!(rules.starts_with("site #") && kept.matches("site #").count() == 1, "{kept}");
}
