//! Attackers of a program's files: another user has put links, pipes and files where it logs to, or
//! puts them there while it opens them.

use protolog_rt::text::RotatingFile;
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i};
use protolog_testkit::{Users, role, with_users};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, lchown, symlink};
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
