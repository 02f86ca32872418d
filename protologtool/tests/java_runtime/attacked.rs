//! Another user renames the directory in which a Java program listens or logs.

use super::{classes, renamed::Renamed};
use protolog_testkit::{
    Users, among_users, role, run, run_any, run_java, skip, temp_dir, tool, with_users,
};
use rustix::fs::{
    CWD, FileType, FlockOperation, Mode, RenameFlags, fcntl_lock, mknodat, renameat_with,
};
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The classes in one file, which each user may read.
fn jar() -> Option<PathBuf> {
    let jar = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_runtime.jar");
    if !among_users() {
        let mut make = Command::new(tool("jar")?);
        run(make.arg("cf").arg(&jar).arg("-C").arg(classes()?).arg("."));
    }
    Some(jar)
}

#[test]
fn a_program_removes_its_files_where_it_made_them() {
    let Some(jar) = jar() else { return };
    let test = "attacked::a_program_removes_its_files_where_it_made_them";
    with_users(test, &[&jar], |users| {
        let place = Renamed::new(users);
        let mut java = users.command(users.victim, "java");
        java.arg("-cp").arg(users.program(&jar)).arg("app.Switched");
        java.env("PROTOLOG_RUNTIME_DIR", &place.run).env("PROTOLOG_STATE", place.run.join("none"));
        let mut program = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready ");
        let names = place.swap(users);
        assert_eq!(names.len(), 2, "socket and switches");
        // It ends when nobody writes to it any more.
        drop(program.stdin.take());
        assert!(program.wait().unwrap().success());
        assert_eq!(Renamed::names(&place.other), names, "other files of these names");
        assert!(names.iter().all(|name| fs::read(place.other.join(name)).unwrap() == b"precious"));
        assert_eq!(Renamed::names(&place.moved), [""; 0]);
    });
}

/// The end of a Java program's line about the place where it listens, and that place.
fn place_of_java(users: &Users, jar: &Path, only: Option<&Path>) -> String {
    let mut java = users.command(users.victim, "java");
    java.arg("-cp").arg(users.program(jar)).arg("app.Switched");
    if let Some(only) = only {
        java.env("PROTOLOG_RUNTIME_DIR", only);
    }
    let output = run(java.env("PROTOLOG_STATE", "/none").stdin(Stdio::null()));
    output.stdout.lines().next().unwrap().to_owned()
}

#[test]
fn places_that_another_user_made_are_not_used() {
    let Some(jar) = jar() else { return };
    let test = "attacked::places_that_another_user_made_are_not_used";
    with_users(test, &[&jar], |users| {
        let tmp = std::env::temp_dir();
        let make = |path: &Path, mode, user| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            chown(path, Some(user), None).unwrap();
        };
        make(Path::new("/run/protolog"), 0o1777, 0);
        // One that the program can't even look into.
        let taken = PathBuf::from(format!("/run/protolog/{}", users.victim));
        make(&taken, 0o700, users.intruder);
        let said = place_of_java(users, &jar, None);
        let end = format!(
            "is not private to this user; listening on `{}/protolog-{}-",
            tmp.display(),
            users.victim
        );
        assert!(said.contains(&format!("`{}` {end}", taken.display())), "{said}");
        // A link that leads into a directory of the program's user.
        let (home, link) = (tmp.join("home"), tmp.join("way"));
        make(&home, 0o700, users.victim);
        run(users.command(users.intruder, "ln").arg("-s").arg(&home).arg(&link));
        let said = place_of_java(users, &jar, Some(&link.join("run")));
        let end = "way/run` is not private to this user|help: ";
        assert!(said.contains(end), "{said}");
        assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "nothing is made there");
    });
}

/// Opens the two files that it may read before they are logged to, and prints those that have
/// something of it by their names or by what it has open.
#[test]
fn role_that_reads_on() {
    let Some(directory) = role() else { return };
    let open = |name: &str| File::open(Path::new(&directory).join(name)).ok();
    let mut files: Vec<_> = ["emptied", "text"].map(|name| (name, open(name).unwrap())).into();
    println!("\nready");
    while !done().exists() {
        thread::sleep(Duration::from_millis(5));
    }
    files.extend(["emptied", "text"].iter().filter_map(|name| Some((*name, open(name)?))));
    for (name, mut file) in files {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        if bytes.windows(8).any(|part| part == b"a secret") {
            println!("stolen: {name}");
        }
    }
}

#[test]
fn files_that_others_can_read_are_not_logged_to() {
    let Some(jar) = jar() else { return };
    let test = "attacked::files_that_others_can_read_are_not_logged_to";
    with_users(test, &[&jar], |users| {
        // Files of the victim, which the owner of the directory may have moved there.
        for (name, mode, owner) in
            [("theirs", 0o777, users.intruder), ("shut", 0o755, users.intruder), ("root", 0o755, 0)]
        {
            let _ = fs::remove_file(done());
            let directory = std::env::temp_dir().join(name);
            fs::create_dir(&directory).unwrap();
            for file in ["emptied", "text"].map(|file| directory.join(file)) {
                fs::write(&file, "old\n").unwrap();
                chown(&file, Some(users.victim), Some(users.victim)).unwrap();
                fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
            }
            chown(&directory, Some(owner), Some(owner)).unwrap();
            fs::set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
            let given = directory.to_str().unwrap();
            let reader = users.role(users.intruder, "attacked::role_that_reads_on", given);
            let mut java = users.command(users.victim, "java");
            let program =
                run(java.arg("-cp").arg(users.program(&jar)).arg("app.Existing").arg(given)).stdout;
            fs::write(done(), "").unwrap();
            let read = reader.finish();
            let stolen = read.iter().any(|line| line.starts_with("stolen"));
            let mode = |file: &str| {
                fs::metadata(directory.join(file)).unwrap().permissions().mode() & 0o777
            };
            let modes = (mode("emptied"), mode("text"));
            if name == "theirs" {
                assert_eq!((modes, stolen), ((0o600, 0o600), false), "{program} {read:?}");
                assert_eq!(fs::read_to_string(directory.join("text.1")).unwrap(), "old\n");
            } else if name == "shut" {
                let refused = "its mode 644 gives others permissions, and it can't be replaced";
                assert!(program.contains(refused) && !program.contains("done"), "{program}");
                assert!(!stolen, "{read:?}");
            } else {
                // Whoever may read the text file is root's choice.
                assert_eq!(modes, (0o600, 0o644), "{program}");
            }
        }
    });
}

/// Puts a pipe in the place of each segment and back, as fast as it can.
#[test]
fn role_that_swaps_pipes() {
    let Some(directory) = role() else { return };
    let pipe = Path::new(&directory).join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    println!("\nready");
    while !done().exists() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "pftrace") {
                for _ in 0..200 {
                    let _ = renameat_with(CWD, &path, CWD, &pipe, RenameFlags::EXCHANGE);
                }
            }
        }
    }
}

#[test]
fn pipes_in_the_place_of_segments_are_not_waited_for() {
    let Some(jar) = jar() else { return };
    let test = "attacked::pipes_in_the_place_of_segments_are_not_waited_for";
    with_users(test, &[&jar], |users| {
        let directory = std::env::temp_dir().join("theirs");
        fs::create_dir(&directory).unwrap();
        chown(&directory, Some(users.intruder), None).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
        let given = directory.to_str().unwrap();
        let run = || {
            let mut java = users.command(users.victim, "timeout");
            java.args(["60", "java", "-cp"]).arg(users.program(&jar));
            run_any(java.args(["app.Divided", given, "segments"]))
        };
        assert_eq!(run().code, Some(0));
        let intruder = users.role(users.intruder, "attacked::role_that_swaps_pipes", given);
        // Each of some ten segments is one in ten times a pipe between look and use.
        for _ in 0..6 {
            // It may fail: the directory is somebody else's.
            assert_ne!(run().code, Some(124), "it waits");
        }
        fs::write(done(), "").unwrap();
        intruder.finish();
    });
}

/// A user who is not root, since root may write any file.
#[test]
fn segments_that_may_not_be_written_are_segments() {
    let Some(jar) = jar() else { return };
    let test = "attacked::segments_that_may_not_be_written_are_segments";
    with_users(test, &[&jar], |users| {
        let directory = std::env::temp_dir().join("own");
        fs::create_dir(&directory).unwrap();
        chown(&directory, Some(users.victim), None).unwrap();
        let names = || {
            let entries = fs::read_dir(&directory).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let run = || {
            let mut java = users.command(users.victim, "java");
            java.arg("-cp").arg(users.program(&jar));
            run(java.args(["app.Divided", directory.to_str().unwrap(), "segments", "keep"]));
            names()
        };
        let before = run();
        // As they are archived; the first one of them is gone.
        for name in &before {
            fs::set_permissions(directory.join(name), Permissions::from_mode(0o444)).unwrap();
        }
        fs::remove_file(directory.join(&before[0])).unwrap();
        let after = run();
        assert_eq!(after.len(), before.len(), "{before:?}, {after:?}");
        assert!(after[0] > before[before.len() - 1], "{before:?}, {after:?}");
    });
}

/// A user without rights, since root may have any number of threads.
#[test]
fn a_program_without_threads_listens_once_it_has_some() {
    let Some(jar) = jar() else { return };
    let test = "attacked::a_program_without_threads_listens_once_it_has_some";
    with_users(test, &[&jar], |users| {
        let directory = std::env::temp_dir().join("own");
        fs::create_dir(&directory).unwrap();
        chown(&directory, Some(users.limited), None).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        let mut java = users.command(users.limited, "prlimit");
        // None of the machine's own threads ends meanwhile.
        java.args(["--nproc=120", "java", "-Xlog:disable", "-XX:+UseSerialGC"]);
        java.args(["-XX:-UseDynamicNumberOfCompilerThreads", "-cp"]).arg(users.program(&jar));
        java.arg("app.Threadless").arg(&directory);
        let expected =
            "no more threads\nhelp: raise the process's limits, files: 0\nlistens, files: 2\n";
        assert_eq!(run_any(&mut java).stdout, expected);
    });
}

/// A reader that locks, in both ways, the files that it may read.
#[test]
fn role_that_locks() {
    let Some(directory) = role() else { return };
    let lock = |name: &str| {
        let file = File::open(Path::new(&directory).join(name)).unwrap();
        fcntl_lock(&file, FlockOperation::NonBlockingLockShared).unwrap();
        file.try_lock().unwrap();
        file
    };
    let open = ["emptied", "text"].map(lock);
    println!("\nready");
    while !done().exists() {
        thread::sleep(Duration::from_millis(5));
    }
    println!("locked: {}", open.len());
}

#[test]
fn locks_of_readers_keep_no_program_from_starting() {
    let Some(jar) = jar() else { return };
    let test = "attacked::locks_of_readers_keep_no_program_from_starting";
    with_users(test, &[&jar], |users| {
        let directory = std::env::temp_dir().join("logs");
        fs::create_dir(&directory).unwrap();
        for file in ["emptied", "text"].map(|file| directory.join(file)) {
            fs::write(&file, "old\n").unwrap();
            chown(&file, Some(users.victim), None).unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        }
        chown(&directory, Some(users.victim), None).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        let given = directory.to_str().unwrap();
        let reader = users.role(users.intruder, "attacked::role_that_locks", given);
        let mut java = users.command(users.victim, "java");
        let program =
            run(java.arg("-cp").arg(users.program(&jar)).arg("app.Existing").arg(given)).stdout;
        fs::write(done(), "").unwrap();
        assert!(reader.finish().contains(&"locked: 2".to_owned()));
        assert_eq!(program, "emptied: done\ntext: done\n");
        assert_eq!(fs::read(directory.join("text.1")).unwrap(), b"old\n");
        assert!(fs::read(directory.join("text")).unwrap().ends_with(b"a secret\n"));
    });
}

#[test]
fn names_that_others_take_meanwhile_stay_theirs() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    for name in ["app.rec", "app.rec.old"] {
        fs::write(dir.path().join(name), "precious").unwrap();
    }
    if chown(dir.path().join("app.rec.old"), Some(65534), None).is_err() {
        return skip("files of another user", "only root can make them");
    }
    let args = [dir.path().to_str().unwrap(), "meanwhile"];
    let output = run_java(&[classes.to_path_buf()], "app.Existing", &args).unwrap();
    let lines: Vec<_> = output.stdout.lines().collect();
    assert!(
        lines[0].starts_with("segment: StopException: FileAlreadyExistsException: "),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("app.rec.old: it belongs to another user"), "{lines:?}");
    for name in ["app.0001.pftrace", "app.rec", "app.rec.old"] {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), "precious", "{name}");
    }
    // It is complete there, and the later ones have their names.
    assert!(dir.path().join("app.0001.pftrace.part").exists());
    assert!(dir.path().join("app.0002.pftrace").exists());
}

/// The files in a directory that nobody but the victim may enter. All of them are names that the
/// program uses.
const PRIVATE: [&str; 12] = [
    "app.log",
    "app.log.1",
    "app.log.2",
    "app.rec",
    "app.rec.old",
    "kept.pftrace",
    "stream.pftrace",
    "trace.0001.pftrace",
    "trace.0002.pftrace",
    "trace.0003.pftrace",
    "trace.0004.pftrace.part",
    "trace.0100.pftrace",
];

/// The directory in which the intruder may rename what it likes.
fn intruders(name: &str) -> PathBuf {
    std::env::temp_dir().join("intruders").join(name)
}

/// The file that tells the intruder that the program is done.
fn done() -> PathBuf {
    std::env::temp_dir().join("done")
}

/// Puts a link to the victim's directory `private` into the place of the one with its logs, or
/// another directory of the victim's, as often as it can. Prints how often.
#[test]
fn role_that_swaps_a_directory() {
    let Some(private) = role() else { return };
    let [logs, aside, other] = ["logs", "aside", "other"].map(intruders);
    println!("\nready");
    let mut turn = 0_u64;
    while !done().exists() {
        // Between no time at all, and enough for the program to do all that belongs together.
        let pause =
            || thread::sleep(Duration::from_micros([0, 50, 300, 3000][turn as usize / 4 % 4]));
        pause();
        fs::rename(&logs, &aside).unwrap();
        if turn.is_multiple_of(2) || !other.exists() {
            symlink(&private, &logs).unwrap();
            pause();
            fs::remove_file(&logs).unwrap();
        } else {
            fs::rename(&other, &logs).unwrap();
            pause();
            fs::rename(&logs, &other).unwrap();
        }
        fs::rename(&aside, &logs).unwrap();
        turn += 1;
    }
    println!("{turn}");
}

/// Makes a directory of `user`, which nobody else may enter, with these files.
fn private_directory(path: &Path, user: u32, files: &[&str]) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    for name in files {
        fs::write(path.join(name), "precious").unwrap();
        chown(path.join(name), Some(user), Some(user)).unwrap();
    }
    chown(path, Some(user), Some(user)).unwrap();
}

/// Runs the program as `user`, while the intruder swaps its directory.
fn rotate_while_swapped(users: &Users, jar: &Path, user: u32, how: &str) {
    let home = std::env::temp_dir().join("home");
    fs::create_dir(&home).unwrap();
    fs::create_dir(intruders("")).unwrap();
    chown(intruders(""), Some(users.intruder), Some(users.intruder)).unwrap();
    let private = home.join("private");
    let mut precious = vec![private.clone()];
    private_directory(&private, user, &PRIVATE);
    private_directory(&intruders("logs"), user, &[]);
    if how == "kept" {
        // It is no link: only who had the directory open before can tell.
        private_directory(&intruders("other"), user, &PRIVATE);
        precious.push(intruders("other"));
    }
    let mut java = users.command(user, "java");
    java.arg("-cp").arg(users.program(jar)).arg("app.Rotating").arg(intruders("logs")).arg(how);
    let mut program = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let role = "attacked::role_that_swaps_a_directory";
    let intruder = users.role(users.intruder, role, private.to_str().unwrap());
    drop(program.stdin.take());
    assert_eq!(lines.next().unwrap().unwrap(), "done");
    assert!(program.wait().unwrap().success());
    fs::write(done(), "").unwrap();
    let swaps = intruder.finish();
    assert!(
        swaps.iter().any(|line| line.parse::<u32>().is_ok_and(|swaps| swaps > 500)),
        "{swaps:?}"
    );
    for directory in precious {
        assert_eq!(Renamed::names(&directory), PRIVATE, "{}", directory.display());
        for name in PRIVATE {
            assert_eq!(fs::read_to_string(directory.join(name)).unwrap(), "precious", "{name}");
        }
    }
    // Else nothing was rotated.
    let logs = Renamed::names(&intruders("logs"));
    assert!(logs.iter().any(|name| name == "app.log.2"), "{logs:?}");
    fs::remove_file(done()).unwrap();
    fs::remove_dir_all(home).unwrap();
    fs::remove_dir_all(intruders("")).unwrap();
}

#[test]
fn a_directory_that_is_swapped_leads_nowhere() {
    let Some(jar) = jar() else { return };
    let test = "attacked::a_directory_that_is_swapped_leads_nowhere";
    with_users(test, &[&jar], |users| {
        rotate_while_swapped(users, &jar, users.victim, "kept");
        rotate_while_swapped(users, &jar, 0, "kept");
        // A link of the intruder's is followed for another user: whose directory it is in, may put
        // another one there.
        rotate_while_swapped(users, &jar, 0, "anew");
    });
}
