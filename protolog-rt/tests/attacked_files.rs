//! Attackers of a program's files: another user has put links, pipes and files where it logs to, or
//! puts them there while it opens them.

use protolog_rt::text::{RotatingFile, set_sink};
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i, print_group};
use protolog_testkit::{Users, role, with_users};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, fcntl_lock, mknodat};
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

/// The file that tells the attacker that the victim is done.
const DONE: &str = "done";

/// The time that an attacker has for a race.
const RACE: Duration = Duration::from_millis(1500);

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// A way to write a file at a path; the reason if it is refused.
type Writer = (&'static str, fn(&Path) -> Result<(), String>);

/// Everything that opens a file for writing.
const WRITERS: [Writer; 6] = [
    ("stream", |path| run(session().file(path))),
    ("newest", |path| run(session().file(path).keep_newest())),
    ("snapshot", |path| {
        let session = session().record().start().map_err(reason)?;
        i!(Log::Work, "a secret");
        let snapshot = session.snapshot(path).map(drop).map_err(reason);
        session.stop().map_err(reason)?;
        snapshot
    }),
    ("segments", |path| {
        // Its first file has the number 1.
        run(session().file(path.with_extension("")).segment_bytes(1 << 20))
    }),
    ("recording", |path| run(session().record_at(path))),
    ("text", |path| {
        RotatingFile::open(path, 1 << 20, 1).map(drop).map_err(|error| error.to_string())
    }),
];

fn run(builder: Builder) -> Result<(), String> {
    let session = builder.start().map_err(reason)?;
    i!(Log::Work, "a secret");
    session.stop().map(drop).map_err(reason)
}

/// The error without the path.
#[allow(clippy::needless_pass_by_value)] // For `map_err`.
fn reason(error: Error) -> String {
    let text = error.to_string();
    text.rsplit_once("`: ").map_or(text.clone(), |_| {
        let rest = text.split_once("`: ").expect("a path");
        rest.1.to_owned()
    })
}

fn mkfifo(path: &Path, mode: u32) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(mode), 0).expect("make a pipe");
}

/// A path in the directory that all users share.
fn shared(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// The victim's directory, with a file that is precious.
fn home(users: &Users) -> PathBuf {
    let home = shared("victim");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("precious"), "precious").unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o700)).unwrap();
    for path in [&home, &home.join("precious")] {
        chown(path, Some(users.victim), Some(users.victim)).unwrap();
    }
    home
}

/// The program: it writes to the path in all ways, and prints the outcomes.
#[test]
fn role_that_logs_in_all_ways() {
    let Some(path) = role() else { return };
    println!("\nready");
    for (kind, write) in WRITERS {
        println!("{kind}: {:?}", write(Path::new(&path)));
    }
}

/// A reader of a pipe that everybody may write to. It prints what it got when the victim is done.
#[test]
fn role_that_reads_a_pipe() {
    let Some(path) = role() else { return };
    mkfifo(Path::new(&path), 0o666);
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let mut options = File::options();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
    let mut pipe = options.open(&path).unwrap();
    println!("\nready");
    while !shared(DONE).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let mut stolen = Vec::new();
    let _ = pipe.read_to_end(&mut stolen);
    println!("stolen: {}", stolen.len());
}

#[test]
fn files_of_others_are_not_written() {
    let test = "files_of_others_are_not_written";
    with_users(test, &[], |users| {
        let home = home(users);
        symlink(home.join("precious"), shared("link")).unwrap();
        symlink(&home, shared("way")).unwrap();
        fs::write(shared("file"), "theirs").unwrap();
        fs::set_permissions(shared("file"), Permissions::from_mode(0o666)).unwrap();
        for name in ["link", "way", "file"] {
            lchown(shared(name), Some(users.intruder), None).unwrap();
        }
        let pipe = shared("pipe");
        let reader = users.role(users.intruder, "role_that_reads_a_pipe", pipe.to_str().unwrap());
        for (name, expected) in [
            ("link", "it is a link to "),
            ("file", "it belongs to another user"),
            ("pipe", "it is a pipe of another user"),
            ("way/precious", ", on the way to it, is a link to "),
        ] {
            let path = shared(name);
            let lines =
                users.role(users.victim, "role_that_logs_in_all_ways", path.to_str().unwrap());
            let lines = lines.finish();
            for (kind, _) in WRITERS {
                let line = lines.iter().find(|line| line.starts_with(&format!("{kind}: ")));
                let line = line.unwrap_or_else(|| panic!("{kind}: {lines:?}"));
                let is_new = kind == "segments" && !name.contains('/');
                assert!(is_new || line.contains(expected), "{name}: {line}");
            }
        }
        fs::write(shared(DONE), "").unwrap();
        assert!(reader.finish().contains(&"stolen: 0".to_owned()));
        assert_eq!(fs::read(home.join("precious")).unwrap(), b"precious");
        assert_eq!(fs::read(shared("file")).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(home).unwrap().count(), 1);
    });
}

/// Puts a link to the victim's file, a pipe, a file of its own and nothing to the same place, one
/// after the other, as fast as it can.
#[test]
fn role_that_replaces_a_file() {
    let Some(path) = role() else { return };
    let (path, next) = (Path::new(&path), shared("next"));
    println!("\nready");
    for kind in (0..4).cycle() {
        let _ = fs::remove_file(&next);
        match kind {
            0 => mkfifo(&next, 0o666),
            1 | 3 => symlink(shared("victim/precious"), &next).unwrap(),
            _ => drop(File::create_new(&next).unwrap()),
        }
        // Where the victim's own file stands in a sticky directory, that is not permitted.
        let _ = fs::rename(&next, path);
        if kind == 3 {
            let _ = fs::remove_file(path);
        }
        if shared(DONE).exists() {
            return;
        }
    }
}

/// The program: it opens the path again and again, and prints how often it could.
#[test]
fn role_that_logs_again_and_again() {
    let Some(path) = role() else { return };
    println!("\nready");
    let path = Path::new(&path);
    let (begun, mut opened, mut refused) = (Instant::now(), 0, 0);
    while begun.elapsed() < RACE {
        // The others start threads, so there are many of these for one of them.
        for turn in 0..40 {
            let (kind, write) = WRITERS[if turn == 0 { opened % WRITERS.len() } else { 5 }];
            if kind == "segments" {
                continue;
            }
            match write(path) {
                Ok(()) => opened += 1,
                Err(_) => refused += 1,
            }
            // So that there is something to win for the attacker.
            let _ = fs::remove_file(path);
        }
    }
    println!("opened: {opened}\nrefused: {refused}");
}

#[test]
fn a_file_that_is_replaced_meanwhile_leads_nowhere() {
    let test = "a_file_that_is_replaced_meanwhile_leads_nowhere";
    with_users(test, &[], |users| {
        let home = home(users);
        let open = shared("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        for name in ["race", "open/race"] {
            let _ = fs::remove_file(shared(DONE));
            let path = shared(name).to_str().unwrap().to_owned();
            let attacker = users.role(users.intruder, "role_that_replaces_a_file", &path);
            let program = users.role(users.victim, "role_that_logs_again_and_again", &path);
            let lines = program.finish();
            fs::write(shared(DONE), "").unwrap();
            attacker.finish();
            assert_eq!(fs::read(home.join("precious")).unwrap(), b"precious", "{lines:?}");
            let count = |what: &str| {
                let found = lines.iter().find_map(|line| line.strip_prefix(what)?.parse().ok());
                found.unwrap_or(0)
            };
            let (opened, refused): (u32, u32) = (count("opened: "), count("refused: "));
            assert!(opened > 0 && refused > 0, "there was no race: {lines:?}");
        }
        assert_eq!(fs::read_dir(home).unwrap().count(), 1);
    });
}

/// A reader of files that it may read before they are logged to. It prints those that have
/// something of it by their names or by what it has open.
#[test]
fn role_that_reads_on() {
    let Some(directory) = role() else { return };
    let open = |entry: fs::DirEntry| Some((entry.file_name(), File::open(entry.path()).ok()?));
    let entries = |path: &str| fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries(&directory).filter_map(open).collect();
    let open_before = files.len();
    println!("\nready");
    while !shared(DONE).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    files.extend(entries(&directory).filter_map(open));
    for (name, mut file) in files {
        let mut bytes = Vec::new();
        let _ = file.read_to_end(&mut bytes);
        if bytes.windows(8).any(|part| part == b"a secret") {
            println!("stolen: {}", name.display());
        }
    }
    println!("open: {open_before}");
}

/// The program: it logs to files that are there, and prints the outcomes.
#[test]
fn role_that_logs_to_files_that_are_there() {
    let Some(directory) = role() else { return };
    let path = |name: &str| Path::new(&directory).join(name);
    println!("\nready");
    println!("empty: {:?}", run(session().file(path("empty"))));
    println!("emptied: {:?}", run(session().file(path("emptied")).truncate()));
    let text = RotatingFile::open(path("text"), 1 << 20, 2).map_err(|error| error.to_string());
    println!("text: {:?}", text.as_ref().map(drop));
    if let Ok(text) = text {
        set_sink(text).unwrap();
        print_group(&Log::Work, Some(Level::Info));
        i!(Log::Work, "a secret");
    }
}

#[test]
fn files_that_others_can_read_are_not_logged_to() {
    let test = "files_that_others_can_read_are_not_logged_to";
    with_users(test, &[], |users| {
        let owned_by = |name: &str, mode: u32, owner: u32| {
            let path = shared(name);
            chown(&path, Some(owner), Some(owner)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        };
        // Files of the victim, which the owner of the directory may have moved there.
        for (name, mode, owner) in
            [("theirs", 0o777, users.intruder), ("shut", 0o755, users.intruder), ("root", 0o755, 0)]
        {
            let _ = fs::remove_file(shared(DONE));
            let directory = shared(name);
            fs::create_dir(&directory).unwrap();
            for file in ["empty", "emptied", "text"] {
                let text = if file == "empty" { "" } else { "old\n" };
                fs::write(directory.join(file), text).unwrap();
                owned_by(&format!("{name}/{file}"), 0o644, users.victim);
            }
            owned_by(name, mode, owner);
            let given = directory.to_str().unwrap();
            let reader = users.role(users.intruder, "role_that_reads_on", given);
            let program =
                users.role(users.victim, "role_that_logs_to_files_that_are_there", given).finish();
            fs::write(shared(DONE), "").unwrap();
            let read = reader.finish();
            assert!(read.contains(&"open: 3".to_owned()), "{read:?}");
            let modes = ["empty", "emptied", "text"].map(|file| {
                fs::metadata(directory.join(file)).unwrap().permissions().mode() & 0o777
            });
            let stolen: Vec<_> = read.iter().filter(|line| line.starts_with("stolen")).collect();
            if name == "theirs" {
                assert_eq!(modes, [0o600; 3], "{program:?}");
                assert!(stolen.is_empty(), "{stolen:?}");
                assert_eq!(fs::read(directory.join("text.1")).unwrap(), b"old\n");
            } else if name == "shut" {
                let refused = "its mode 644 gives others permissions, and it can't be replaced";
                for file in ["empty", "emptied"] {
                    let line = format!("{file}: Err({refused:?})");
                    assert!(program.contains(&line), "{program:?}");
                }
                assert!(program.iter().any(|line| line.starts_with("text: Err")), "{program:?}");
                assert!(stolen.is_empty(), "{stolen:?}");
            } else {
                // Whoever may read the text file is root's choice.
                assert_eq!(modes, [0o600, 0o600, 0o644], "{program:?}");
            }
        }
    });
}

/// A reader that locks, in both ways, all files that it may read.
#[test]
fn role_that_locks() {
    let Some(directory) = role() else { return };
    let mut open = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let file = File::open(entry.unwrap().path()).unwrap();
        fcntl_lock(&file, FlockOperation::NonBlockingLockShared).unwrap();
        file.try_lock().unwrap();
        open.push(file);
    }
    println!("\nready");
    while !shared(DONE).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    println!("locked: {}", open.len());
}

#[test]
fn locks_of_readers_keep_no_program_from_starting() {
    let test = "locks_of_readers_keep_no_program_from_starting";
    with_users(test, &[], |users| {
        let directory = shared("logs");
        fs::create_dir(&directory).unwrap();
        chown(&directory, Some(users.victim), None).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        for file in ["empty", "emptied", "text"] {
            let path = directory.join(file);
            fs::write(&path, if file == "empty" { "" } else { "old\n" }).unwrap();
            chown(&path, Some(users.victim), None).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        let given = directory.to_str().unwrap();
        let reader = users.role(users.intruder, "role_that_locks", given);
        let program = users.role(users.victim, "role_that_logs_to_files_that_are_there", given);
        let program = program.finish();
        fs::write(shared(DONE), "").unwrap();
        assert!(reader.finish().contains(&"locked: 3".to_owned()));
        for file in ["empty", "emptied", "text"] {
            assert!(program.contains(&format!("{file}: Ok(())")), "{program:?}");
        }
        assert_eq!(fs::read(directory.join("text.1")).unwrap(), b"old\n");
        assert!(fs::read(directory.join("text")).unwrap().ends_with(b"a secret\n"));
    });
}

/// The program: it goes on after the directory has been swapped.
#[test]
fn role_that_goes_on_in_its_directory() {
    let Some(directory) = role() else { return };
    let path = |name: &str| Path::new(&directory).join(name);
    set_sink(RotatingFile::open(path("app.log"), 100, 2).unwrap()).unwrap();
    print_group(&Log::Work, Some(Level::Info));
    let kept = session().file(path("kept.pftrace")).keep_newest().start().unwrap();
    let segments = session().file(path("app.pftrace")).segment_bytes(20_000).keep_segments(1);
    let segments = segments.start().unwrap();
    let streamed = session().file(path("one.pftrace")).without_recording().start().unwrap();
    println!("\nready");
    while !shared(DONE).exists() {
        thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..2000 {
        i!(Log::Work, "a secret that is long enough for lines to be rotated: %s", "x".repeat(40));
    }
    println!("streamed: {}", streamed.stop().is_ok());
    println!("kept: {}", kept.stop().is_ok());
    println!("segments: {}", segments.stop().is_ok());
}

#[test]
fn a_directory_that_is_swapped_leads_nowhere() {
    let test = "a_directory_that_is_swapped_leads_nowhere";
    with_users(test, &[], |users| {
        let home = home(users);
        let precious = ["app.log", "app.log.1", "app.0001.pftrace", "kept.pftrace", "one.pftrace"];
        for name in precious {
            fs::write(home.join(name), "precious").unwrap();
            chown(home.join(name), Some(users.victim), Some(users.victim)).unwrap();
        }
        let theirs = shared("theirs");
        let logs = theirs.join("logs");
        fs::create_dir_all(&logs).unwrap();
        chown(&theirs, Some(users.intruder), None).unwrap();
        chown(&logs, Some(users.victim), None).unwrap();
        let given = logs.to_str().unwrap();
        let program = users.role(users.victim, "role_that_goes_on_in_its_directory", given);
        // The owner of the directory above may do so. Its links are followed for users other than
        // root.
        fs::rename(&logs, theirs.join("moved")).unwrap();
        symlink(&home, &logs).unwrap();
        lchown(&logs, Some(users.intruder), None).unwrap();
        fs::write(shared(DONE), "").unwrap();
        let lines = program.finish();
        for kind in ["streamed", "kept", "segments"] {
            assert!(lines.contains(&format!("{kind}: true")), "{lines:?}");
        }
        for name in precious {
            assert_eq!(fs::read(home.join(name)).unwrap(), b"precious", "{name}");
        }
        assert_eq!(fs::read_dir(home).unwrap().count(), precious.len() + 1);
        for name in ["app.log", "app.log.1", "app.log.2", "kept.pftrace", "one.pftrace"] {
            assert!(theirs.join("moved").join(name).exists(), "{name}");
        }
    });
}

/// Creates the name of an older text file where it is free, again and again, and counts its files
/// that somebody removes.
#[test]
fn role_that_takes_a_name() {
    let Some(path) = role() else { return };
    let (mut made, mut lost) = (0, 0);
    println!("\nready");
    while !shared(DONE).exists() {
        let Ok(file) = File::create_new(&path) else { continue };
        made += 1;
        // As long as the program takes from its look at the name to its use.
        for _ in 0..20 {
            let _ = file.metadata();
        }
        if file.metadata().unwrap().nlink() == 0 {
            lost += 1;
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
    println!("made: {}\nlost: {lost}", made > 0);
}

/// The program: it rotates as fast as it can; somebody removes older files meanwhile.
#[test]
fn role_that_rotates() {
    let Some(path) = role() else { return };
    set_sink(RotatingFile::open(&path, 10, 1).unwrap()).unwrap();
    print_group(&Log::Work, Some(Level::Info));
    println!("\nready");
    let begun = Instant::now();
    while begun.elapsed() < RACE {
        i!(Log::Work, "a line");
        let older = format!("{path}.1");
        let own = fs::metadata(&older).is_ok_and(|found| found.len() > 0);
        if own {
            let _ = fs::remove_file(older);
        }
    }
}

#[test]
fn rotation_replaces_no_file_that_appears_meanwhile() {
    let test = "rotation_replaces_no_file_that_appears_meanwhile";
    with_users(test, &[], |users| {
        let open = shared("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        let path = open.join("app.log").to_str().unwrap().to_owned();
        let taker = users.role(users.intruder, "role_that_takes_a_name", &format!("{path}.1"));
        let program = users.role(users.victim, "role_that_rotates", &path);
        program.finish();
        fs::write(shared(DONE), "").unwrap();
        let lines = taker.finish();
        assert!(
            lines.contains(&"made: true".into()) && lines.contains(&"lost: 0".into()),
            "{lines:?}"
        );
    });
}
