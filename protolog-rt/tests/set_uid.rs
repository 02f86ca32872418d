//! A program with more rights than its caller: the caller can't make it read files, or print what
//! is in them. The test runs a copy of itself that is set-user-id, as another user.

use protolog_rt::{Init, Level, ProtoLogGroup};
use protolog_testkit::{skip, temp_dir};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// A user other than root.
const NOBODY: u32 = 65534;
const CONFIG: &str = "PROTOLOG_SET_UID_CONFIG";

/// True where the kernel says that this program has more rights than its caller.
fn is_secure() -> bool {
    let [key, value] = [0, 8].map(|at| {
        move |entry: &[u8]| u64::from_ne_bytes(entry[at..at + 8].try_into().expect("eight bytes"))
    });
    let vector = fs::read("/proc/self/auxv").expect("the auxiliary vector");
    vector.chunks_exact(16).any(|entry| key(entry) == 23 && value(entry) != 0)
}

/// The program: it prints the errors of `init`, and whether messages of its group are printed.
fn program(config: &Path) {
    println!("\nsecure: {}", is_secure());
    let result = Init::new().control(false).config_file(config).start();
    println!("enabled: {}", Log::Net.is_enabled(Level::Debug));
    match result {
        Ok(()) => println!("done"),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn a_set_user_id_program_reads_no_files_for_its_caller() {
    const TEST: &str = "a_set_user_id_program_reads_no_files_for_its_caller";
    if let Some(config) = std::env::var_os(CONFIG) {
        return program(Path::new(&config));
    }
    let dir = temp_dir();
    let path = |name: &str| dir.path().join(name);
    let allow = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    allow(dir.path(), 0o755).expect("chmod");
    fs::copy(std::env::current_exe().expect("the test itself"), path("program")).expect("copy");
    allow(&path("program"), 0o4755).expect("chmod");
    for (name, text) in [("state", "password hunter2\n"), ("config", "# a\npassword swordfish\n")] {
        fs::write(path(name), text).expect("write");
        allow(&path(name), 0o600).expect("chmod");
    }
    let run = |user: Option<u32>| {
        let mut program = Command::new(path("program"));
        program.args(["--exact", TEST, "--nocapture"]).current_dir("/");
        program.env("PROTOLOG", "net=text;=opensesame").env("PROTOLOG_STATE", path("state"));
        program.env(CONFIG, path("config"));
        if let Some(user) = user {
            program.uid(user).gid(user);
        }
        let said = |output: Output| [output.stdout, output.stderr].concat();
        program.output().map(|output| String::from_utf8_lossy(&said(output)).into_owned())
    };
    // Its own user's variables and files are those of everybody else.
    let own = run(None).expect("run the program");
    for expected in ["secure: false", "enabled: true", "hunter2", "swordfish", "opensesame"] {
        assert!(own.contains(expected), "{expected}: {own}");
    }
    let other = match run(Some(NOBODY)) {
        Ok(output) if output.contains("secure: true") => output,
        Ok(output) => return skip("a set-user-id program", &format!("it is none here: {output}")),
        Err(error) => return skip("a set-user-id program", &format!("no other user: {error}")),
    };
    for secret in ["hunter2", "password", "swordfish", "opensesame"] {
        assert!(!other.contains(secret), "{other}");
    }
    assert!(other.contains("enabled: false"), "{other}");
    assert!(other.contains("config: line 2: missing `=`\nhelp: "), "{other}");
    assert!(!other.contains("/state:"), "{other}");
}
