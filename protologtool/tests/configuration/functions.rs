//! Calls that are chosen by their function: the program says their lines, the sources the function.

use super::{Program, shell};
use protolog_testkit::temp_dir_for_sockets;
use std::path::Path;

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
