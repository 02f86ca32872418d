//! Attackers of outputs: another user has put links, pipes and files where the command writes, or
//! puts them there while it does.

#[path = "../../protolog-reader/tests/common/recording.rs"]
mod recording;
#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod trace;

use protolog_testkit::{Users, role, run_any, with_users};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const APP: &str = r#"
@1 group(1, "app::Log::Net", "Net") message(0x11, DEBUG, 1, "sent %d", "src/net.rs:12")
@2 cleared snapshot(64=2000000000, boot=2000000000, incremental=64) default_clock=64 info(100, 100, "main", 2)
@2 ts=1000000 log(0x11, 3)
"#;

const TOOL: &str = env!("CARGO_BIN_EXE_protologtool");

/// The file that tells the attacker that the victim has run.
const DONE: &str = "done";

/// The time that an attacker has for each race.
const RACE: Duration = Duration::from_millis(1500);

/// A path in the directory that all users share.
fn shared(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// A directory that only `owner` can enter.
fn private(name: &str, owner: u32) -> PathBuf {
    let path = shared(name);
    fs::create_dir(&path).expect("make a directory");
    fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("close it");
    chown(&path, Some(owner), Some(owner)).expect("give it away");
    path
}

/// The victim's files: inputs, and one that is precious.
struct Victim {
    home: PathBuf,
    precious: PathBuf,
}

impl Victim {
    fn new(users: &Users) -> Self {
        let home = private("victim", users.victim);
        let add = |name: &str, content: &[u8]| {
            let path = home.join(name);
            fs::write(&path, content).expect("write a file");
            chown(&path, Some(users.victim), Some(users.victim)).expect("give it away");
            path
        };
        add("app.rec", &recording::recording(APP, 0));
        add("app.pftrace", &trace::trace(APP));
        add("A.java", b"class A {}\n");
        let precious = add("precious", b"precious");
        Self { home, precious }
    }

    /// A command of the victim, with this output.
    fn command(&self, users: &Users, words: &str, output: &Path) -> Command {
        let tool = users.program(Path::new(TOOL));
        let mut command = users.command(users.victim, tool);
        command.args(words.split(' ')).arg(output).current_dir(&self.home);
        command
    }

    #[track_caller]
    fn check(&self) {
        assert_eq!(fs::read(&self.precious).expect("the file"), b"precious");
    }
}

/// All commands that write logs; those that write other outputs share their function.
const COMMANDS: [&str; 3] = ["merge app.pftrace -o", "view app.pftrace -o", "recover app.rec -o"];

#[test]
fn files_of_others_are_not_written() {
    with_users("files_of_others_are_not_written", &[Path::new(TOOL)], |users| {
        let victim = Victim::new(users);
        let at = |name: &str| shared(name);
        symlink(&victim.precious, at("link")).unwrap();
        symlink(victim.home.join("none"), at("dangling")).unwrap();
        symlink(&victim.home, at("way")).unwrap();
        fs::hard_link(&victim.precious, at("second name")).unwrap();
        fs::write(at("file"), "theirs").unwrap();
        fs::set_permissions(at("file"), Permissions::from_mode(0o666)).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for name in ["link", "dangling", "way", "file"] {
            lchown(at(name), Some(users.intruder), None).unwrap();
        }
        for (name, expected) in [
            ("link", "it is a link to `SHARED/victim/precious`"),
            ("dangling", "it is a link to `SHARED/victim/none`"),
            ("file", "it belongs to another user"),
            ("socket", "it is a socket"),
            ("way/precious", "`SHARED/way`, on the way to it, is a link to `SHARED/victim`"),
        ] {
            for words in COMMANDS {
                let run = run_any(&mut victim.command(users, words, &at(name)));
                let shown = at(name).display().to_string();
                let expected =
                    expected.replace("SHARED", shared("").to_str().unwrap().trim_end_matches('/'));
                let expected = format!("error: can't write `{shown}`: {expected}\nhelp: ");
                assert_eq!(run.code, Some(2), "{words} {name}");
                assert!(run.stderr.contains(&expected), "{words} {name}: {}", run.stderr);
            }
        }
        // One that is replaced keeps its content under its other name.
        for words in COMMANDS {
            let run = run_any(&mut victim.command(users, words, &at("second name")));
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            victim.check();
        }
        assert_eq!(fs::read(at("file")).unwrap(), b"theirs");
        assert!(!victim.home.join("none").exists());
    });
}

/// A reader of a pipe that everybody may write to. It prints the number of bytes that it got when
/// the victim is done.
#[test]
fn role_that_reads_a_pipe() {
    let Some(path) = role() else { return };
    run_any(Command::new("mkfifo").args(["-m", "666", &path]));
    let mut pipe = File::options();
    let mut pipe =
        pipe.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&path).unwrap();
    println!("\nready");
    wait_for_done();
    let mut stolen = Vec::new();
    let _ = pipe.read_to_end(&mut stolen);
    println!("stolen: {}", stolen.len());
}

fn wait_for_done() {
    while !shared(DONE).exists() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pipes_of_others_get_nothing() {
    with_users("pipes_of_others_get_nothing", &[Path::new(TOOL)], |users| {
        let victim = Victim::new(users);
        let pipe = shared("pipe");
        let reader = users.role(users.intruder, "role_that_reads_a_pipe", pipe.to_str().unwrap());
        for words in COMMANDS {
            let run = run_any(&mut victim.command(users, words, &pipe));
            assert_eq!(run.code, Some(2), "{words}: {}", run.stderr);
            assert!(
                run.stderr.contains("pipe`: it is a pipe of another user\n"),
                "{words}: {}",
                run.stderr
            );
        }
        fs::write(shared(DONE), "").unwrap();
        assert!(reader.finish().contains(&"stolen: 0".to_owned()));
    });
}

/// Puts a pipe, a link to the victim's file and a file of its own to the same place, one after the
/// other, as fast as it can.
#[test]
fn role_that_replaces_an_output() {
    let Some(path) = role() else { return };
    let path = Path::new(&path);
    let next = shared(&format!("next-{}", std::process::id()));
    let precious = shared("victim/precious");
    println!("\nready");
    while !shared(DONE).exists() {
        for kind in 0..4 {
            let _ = fs::remove_file(&next);
            let _reader = match kind {
                0 => rustix::fs::mknodat(CWD, &next, FileType::Fifo, Mode::from_raw_mode(0o666), 0)
                    .ok()
                    .and_then(|()| File::options().read(true).write(true).open(&next).ok()),
                1 | 3 => symlink(&precious, &next).err().map(|error| panic!("{error}")),
                _ => File::create_new(&next).ok(),
            };
            // Where the victim's own file stands in a sticky directory, that is not permitted.
            let _ = fs::rename(&next, path);
            if kind == 3 {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[test]
fn an_output_that_is_replaced_meanwhile_leads_nowhere() {
    let test = "an_output_that_is_replaced_meanwhile_leads_nowhere";
    with_users(test, &[Path::new(TOOL)], |users| {
        let victim = Victim::new(users);
        let open = private("open", users.victim);
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        for (name, is_sticky) in [("race", true), ("open/race", false)] {
            let name = shared(name);
            let _ = fs::remove_file(shared(DONE));
            let attacker =
                users.role(users.intruder, "role_that_replaces_an_output", name.to_str().unwrap());
            let (begun, mut runs) = (Instant::now(), 0);
            while begun.elapsed() < RACE {
                let words = COMMANDS[runs % COMMANDS.len()];
                let run = run_any(&mut victim.command(users, words, &name));
                assert!(matches!(run.code, Some(0 | 2)), "{:?} {}", run.code, run.stderr);
                victim.check();
                if is_sticky {
                    let _ = fs::remove_file(&name);
                }
                runs += 1;
            }
            fs::write(shared(DONE), "").unwrap();
            attacker.finish();
            assert!(runs > COMMANDS.len(), "it hung: {runs}");
        }
        assert_eq!(fs::read_dir(&victim.home).unwrap().count(), 4, "nothing was added");
    });
}

#[test]
fn root_leaves_its_files_alone_in_the_home_of_another_user() {
    let test = "root_leaves_its_files_alone_in_the_home_of_another_user";
    with_users(test, &[Path::new(TOOL)], |users| {
        let (home, root) = (private("home", users.intruder), private("root", 0));
        let state = home.join(".local/state/protolog");
        let give = |path: &Path| lchown(path, Some(users.intruder), None).unwrap();
        let make = |path: &Path| {
            fs::create_dir_all(path).unwrap();
            path.ancestors().take_while(|above| **above != home).for_each(give);
        };
        fs::write(root.join("precious"), "precious").unwrap();
        fs::create_dir(root.join("directory")).unwrap();
        let run = |expected: &str| {
            for words in ["level Net --persist debug", "logcat enable --persist Net"] {
                let mut command = Command::new(users.program(Path::new(TOOL)));
                command.arg("configuration").args(words.split(' ')).env("HOME", &home);
                let run = run_any(command.env("PROTOLOG_RUNTIME_DIR", home.join("none")));
                assert_eq!(run.code, Some(2), "{}", run.stderr);
                assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
                assert_eq!(fs::read(root.join("precious")).unwrap(), b"precious");
                assert_eq!(fs::read_dir(root.join("directory")).unwrap().count(), 0);
            }
        };
        make(&state);
        symlink(root.join("precious"), state.join("settings.lock")).unwrap();
        give(&state.join("settings.lock"));
        let refused =
            "settings.lock`: its directory belongs to another user\nhelp: run with the home";
        run(refused);
        // Nor does root make a directory there, which its owner could not use.
        for missing in [&*state, state.parent().unwrap(), &home.join(".local")] {
            fs::remove_dir_all(missing).unwrap();
            run(refused);
            assert!(!missing.exists(), "{}", missing.display());
        }
        make(state.parent().unwrap());
        symlink(root.join("directory"), &state).unwrap();
        give(&state);
        run(".local/state/protolog`, on the way to it, is a link to `");
    });
}
