//! Attacks on an operator: root asks programs that listen in the directories of others.

use super::{TOOL, content, directory, run_at_once, shared};
use protolog_testkit::{Output, Users, role, with_users};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All that an operator asks of programs.
pub(super) const COMMANDS: [&str; 8] = [
    "configuration groups list",
    "configuration groups status --json",
    "configuration logcat enable",
    "configuration level * debug",
    "configuration trace status",
    "configuration trace stop",
    "configuration stats",
    "top --once",
];

/// Runs the command as root, who looks at the programs of all users.
pub(super) fn operate(users: &Users, words: &str) -> Output {
    run_at_once(Command::new(users.program(Path::new(TOOL))).args(words.split(' ')))
}

/// A directory as the runtime makes it for a user whom no other one has a place for.
pub(super) fn place_of(user: u32) -> PathBuf {
    shared().join(format!("protolog-{user}-0123456789abcdef"))
}

/// Puts a link to `target` in the place of a directory.
fn swap(place: &Path, target: &Path) {
    fs::rename(place, place.with_extension("old")).unwrap();
    symlink(target, place).unwrap();
}

/// Listens in a place of one's own, and answers the first connection.
fn listen(name: &str) -> (PathBuf, UnixStream) {
    let user = fs::metadata("/proc/self").unwrap().uid();
    let place = directory(&place_of(user), 0o700);
    let listener = UnixListener::bind(place.join(name)).unwrap();
    println!("\nready");
    (place, listener.accept().unwrap().0)
}

/// A directory of root's alone, with files of these names.
fn private_files(names: &[&str]) -> PathBuf {
    let secret = directory(&shared().join("root-only"), 0o700);
    for name in names {
        let path = secret.join(name);
        fs::write(&path, [0x5a; 4096]).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }
    secret
}

/// A program that swaps its directory when it is asked, and closes the connection.
#[test]
fn role_that_swaps_its_directory_and_ends() {
    let Some(target) = role() else { return };
    let (place, connection) = listen("service.sock");
    swap(&place, Path::new(&target));
    // The request is read: to close the connection before that is an error at the other end.
    BufReader::new(connection).read_line(&mut String::new()).unwrap();
}

#[test]
fn files_with_the_names_of_a_socket_are_not_removed_elsewhere() {
    let test = "operator::files_with_the_names_of_a_socket_are_not_removed_elsewhere";
    with_users(test, &[Path::new(TOOL)], |users| {
        let secret = private_files(&["service.sock", "service.switches"]);
        let before = content(&secret);
        for words in COMMANDS {
            let attack = "operator::role_that_swaps_its_directory_and_ends";
            let attacker = users.role(users.intruder, attack, secret.to_str().unwrap());
            let output = operate(users, words);
            attacker.finish();
            assert_eq!(content(&secret), before, "{words}: {output:?}");
            let place = place_of(users.intruder);
            fs::remove_file(&place).unwrap();
            fs::remove_dir_all(place.with_extension("old")).unwrap();
        }
    });
}

/// The name of this program.
fn own_name() -> String {
    let path = std::env::current_exe().unwrap();
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A program that listens in a place of its user, and has one group.
#[test]
fn role_that_has_a_group() {
    let Some(group) = role() else { return };
    let (name, id) = (own_name(), std::process::id());
    let user = fs::metadata("/proc/self").unwrap().uid();
    let listener = UnixListener::bind(directory(&place_of(user), 0o700).join("1-a.sock")).unwrap();
    println!("\nready");
    for connection in listener.incoming().map(Result::unwrap) {
        let mut out = connection.try_clone().unwrap();
        for line in BufReader::new(connection).lines().map_while(Result::ok) {
            let answer = match line.as_str() {
                "protolog 1" => format!("protolog 1 {id} {name}\n"),
                "groups" => format!("group - 0 003f0000 y {group} G\n"),
                _ => String::new(),
            };
            out.write_all(format!("{answer}ok\n").as_bytes()).unwrap();
        }
    }
}

#[test]
fn root_is_told_of_other_users_programs_and_can_leave_them_out() {
    let test = "operator::root_is_told_of_other_users_programs_and_can_leave_them_out";
    with_users(test, &[Path::new(TOOL)], |users| {
        let start = |user, group| users.role(user, "operator::role_that_has_a_group", group);
        let name = own_name();
        // Root is user 0.
        let own = start(0, "own::Net");
        let [one, other] = [(users.intruder, "theirs::Net"), (users.victim, "theirs::Disk")]
            .map(|(user, group)| start(user, group));
        let [first, second] = [users.intruder, users.victim];
        let note = format!(
            "note: 2 of 3 programs are those of other users ({first}, {second})\n\
             help: leave them out with `--own`\n"
        );
        for words in COMMANDS {
            let output = operate(users, words);
            assert_eq!((output.code, &output.stderr), (Some(0), &note), "{words}: {output:?}");
            let output = operate(users, &format!("{words} --own"));
            assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{words}: {output:?}");
            assert!(!output.stdout.contains("theirs"), "{words}: {output:?}");
        }
        let switched = operate(users, "configuration logcat enable Net").stdout;
        let whose = |id: u32, more| format!("for client {name} (pid {id}{more}) to true");
        assert!(switched.contains(&whose(own.id(), "")), "{switched}");
        let named = format!("{name} (pid {}, user {first})", one.id());
        assert!(switched.contains(&named), "{switched}");
        let lines = operate(users, "configuration groups status --json --own").stdout;
        assert!(lines.lines().count() == 1 && lines.contains("\"user\":0,"), "{lines}");
        // Who names a program of another user knows whose it is.
        let pid = other.id();
        let output = operate(users, &format!("configuration groups list --pid {pid}"));
        assert_eq!(output.stderr, "", "{output:?}");
        let output = operate(users, &format!("configuration groups list --own --pid {pid}"));
        assert!(output.code == Some(2) && output.stdout.is_empty(), "{output:?}");
    });
}

/// A program that swaps its directory when it is asked for its groups, and names a file there as
/// its memory.
#[test]
fn role_that_names_foreign_memory() {
    let Some(given) = role() else { return };
    let (target, name) = given.split_once(' ').unwrap();
    let (place, mut connection) = listen("1-a.sock");
    for line in BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok) {
        let groups =
            || (0..1024).map(|index| format!("group 0 {index} 003f0000 y a::G{index} G\n"));
        let answer = match line.as_str() {
            "protolog 1" => format!("protolog 1 {} attackers\nok\n", std::process::id()),
            "groups" => {
                if !place.is_symlink() {
                    swap(&place, Path::new(target));
                }
                groups().chain(["ok\n".to_owned()]).collect()
            }
            "pages" => "help ask otherwise\nerror no descriptors\n".to_owned(),
            "pages-file" => format!("pages-file 1 4096 {name}\nok\n"),
            _ => "ok\n".to_owned(),
        };
        if connection.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn foreign_files_are_not_mapped() {
    let test = "operator::foreign_files_are_not_mapped";
    with_users(test, &[Path::new(TOOL)], |users| {
        let secret = private_files(&["secret", "other"]);
        let before = content(&secret);
        let memory = format!("/proc/{}/fd/1", std::process::id());
        for name in ["secret", "../root-only/secret", "other", &memory, "1-a.sock"] {
            let given = format!("{} {name}", secret.display());
            let attack = "operator::role_that_names_foreign_memory";
            let attacker = users.role(users.intruder, attack, &given);
            let place = place_of(users.intruder);
            // As if the kernel let the intruder link to what is not hers.
            fs::hard_link(secret.join("other"), place.join("other")).unwrap();
            let output = operate(users, "configuration logcat enable");
            assert!(output.stdout.contains("- Done"), "switched by request: {output:?}");
            attacker.finish();
            assert_eq!(content(&secret), before, "{name}: {output:?}");
            fs::remove_file(&place).unwrap();
            fs::remove_dir_all(place.with_extension("old")).unwrap();
        }
    });
}

#[test]
fn settings_of_others_are_not_taken_over() {
    let test = "operator::settings_of_others_are_not_taken_over";
    with_users(test, &[Path::new(TOOL)], |users| {
        let state = shared().join("settings");
        let secret = private_files(&["secret"]).join("secret");
        fs::write(&secret, "a secret\n").unwrap();
        let remember = |reason: &str| {
            let mut tool = Command::new(users.program(Path::new(TOOL)));
            let words = ["configuration", "level", "Net", "debug", "--persist"];
            let output = run_at_once(tool.args(words).env("PROTOLOG_STATE", &state));
            // Once it is read, the intruder can take it away before the new one gets its name.
            let said = format!("error: can't read `{}`: {reason}\n", state.display());
            assert!(output.code == Some(2) && output.stderr.contains(&said), "{output:?}");
            assert!(!format!("{output:?}").contains("a secret"), "{output:?}");
            fs::remove_file(&state).unwrap();
        };
        fs::write(&state, "*=off\n").unwrap();
        chown(&state, Some(users.intruder), None).unwrap();
        remember("it belongs to another user");
        protolog_testkit::run(
            users.command(users.intruder, "ln").arg("-s").arg(&secret).arg(&state),
        );
        remember(&format!("it is a link to `{}`", secret.display()));
    });
}

/// Files in the place of a socket, and the warning about each.
const NO_SOCKETS: [(&str, &str); 6] = [
    ("1-pipe.sock", "it is no socket"),
    ("2-device.sock", "it is no socket"),
    ("3-directory.sock", "it is no socket"),
    ("4-link.sock", "it is no socket"),
    ("5-hard-link.sock", "the socket has another name, too"),
    ("6-given.sock", "user "),
];

#[test]
fn what_is_no_socket_is_left_alone() {
    let test = "operator::what_is_no_socket_is_left_alone";
    with_users(test, &[Path::new(TOOL)], |users| {
        let place = directory(&place_of(users.intruder), 0o700);
        let at = |name: &str| place.join(name);
        // A socket of root's, whose program would be asked in the intruder's name.
        let socket = shared().join("root.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let make = |words: &str, name: &str| {
            let mut words = words.split(' ');
            let mut command = Command::new(words.next().unwrap());
            protolog_testkit::run_any(command.arg(at(name)).args(words)).code
        };
        assert_eq!(make("mkfifo", "1-pipe.sock"), Some(0));
        // In a namespace of users there are no new devices.
        let has_device = make("mknod -m 600 c 1 5", "2-device.sock") == Some(0);
        fs::create_dir(at("3-directory.sock")).unwrap();
        symlink(&socket, at("4-link.sock")).unwrap();
        fs::hard_link(&socket, at("5-hard-link.sock")).unwrap();
        drop(UnixListener::bind(at("6-given.sock")).unwrap());
        chown(at("6-given.sock"), Some(users.victim), None).unwrap();
        chown(&place, Some(users.intruder), None).unwrap();
        let names = || {
            let entries = fs::read_dir(&place).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        };
        let before = names();
        for words in COMMANDS {
            let output = operate(users, words);
            assert_eq!(output.code, Some(2), "{words}: {output:?}");
            for (name, expected) in NO_SOCKETS {
                let said = format!("`{}`: {expected}", at(name).display());
                let is_said = output.stderr.contains(&said);
                assert!(is_said || name.starts_with('2') && !has_device, "{words}: {output:?}");
            }
            assert_eq!(names(), before, "{words}");
        }
        let asked = listener.accept().map(drop).unwrap_err();
        assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock, "nobody asked root's program");
    });
}

#[test]
fn switches_of_an_ended_program_are_looked_at_before_they_are_removed() {
    let test = "operator::switches_of_an_ended_program_are_looked_at_before_they_are_removed";
    with_users(test, &[Path::new(TOOL)], |users| {
        let secret = private_files(&["secret"]);
        let before = content(&secret);
        let place = directory(&place_of(users.intruder), 0o700);
        let at = |name: &str| place.join(name);
        let kinds = ["pipe", "directory", "link", "hard-link", "own"];
        for name in kinds {
            let socket = at(&format!("{name}.sock"));
            drop(UnixListener::bind(&socket).unwrap());
            chown(socket, Some(users.intruder), None).unwrap();
        }
        let pipe = protolog_testkit::run(Command::new("mkfifo").arg(at("pipe.switches")));
        assert_eq!(pipe.code, Some(0));
        fs::create_dir(at("directory.switches")).unwrap();
        symlink(secret.join("secret"), at("link.switches")).unwrap();
        fs::hard_link(secret.join("secret"), at("hard-link.switches")).unwrap();
        fs::write(at("own.switches"), "").unwrap();
        chown(at("own.switches"), Some(users.intruder), None).unwrap();
        chown(&place, Some(users.intruder), None).unwrap();
        let output = operate(users, "configuration groups list");
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_eq!(content(&secret), before);
        let mut left: Vec<_> = fs::read_dir(&place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let expected =
            ["directory.switches", "hard-link.switches", "link.switches", "pipe.switches"];
        assert_eq!(left, expected);
    });
}
