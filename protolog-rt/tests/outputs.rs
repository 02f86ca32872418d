//! Files that a program writes, by a table that the Java runtime has, too: for each thing that may
//! be at a path, and each way to write there, the outcome. A file that is refused stays as it was.

mod common;

use common::lock_sessions;
use protolog_rt::text::RotatingFile;
use protolog_rt::{Builder, Error, Level, ProtoLogGroup, Session, i};
use protolog_testkit::{skip, temp_dir};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::any::Any;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Work,
}

const TABLE: &str = include_str!("../../protolog-core/testdata/outputs.tsv");

/// The content of files that are there.
const BEFORE: &str = "what was there before";

/// A user other than root.
const NOBODY: u32 = 65534;

fn session() -> Builder {
    Session::builder().log_from(Level::Info).buffer_size(64 << 10)
}

/// Something at a path.
struct There {
    folder: PathBuf,
    path: PathBuf,
    /// A file that must not change where the path is refused.
    precious: Option<PathBuf>,
    reader: Option<thread::JoinHandle<Vec<u8>>>,
    /// Whoever uses the file.
    used: Vec<Box<dyn Any>>,
}

impl There {
    fn new(folder: &Path, what: &str) -> Self {
        let path = folder.join("file");
        let mut there = Self {
            folder: folder.into(),
            path: path.clone(),
            precious: None,
            reader: None,
            used: Vec::new(),
        };
        match what {
            "nothing" => {}
            "an empty file" => drop(File::create_new(path).unwrap()),
            "a file" => there.precious = Some(there.add("file")),
            "a missing directory" => there.path = folder.join("none/file"),
            "a link to a file" => there.link_to_precious(),
            "a link to nothing" => symlink(folder.join("none"), path).unwrap(),
            "a link to a device" => symlink("/dev/null", path).unwrap(),
            "a directory" => fs::create_dir(path).unwrap(),
            "a socket" => there.used.push(Box::new(UnixListener::bind(path).unwrap())),
            "a pipe with a reader" => {
                mkfifo(&path);
                there.reader = Some(thread::spawn(move || fs::read(path).unwrap()));
            }
            "a pipe without a reader" => mkfifo(&path),
            "a device" => there.path = "/dev/null".into(),
            "a file of another user" => {
                there.precious = Some(there.add("file"));
                give_away(&path);
            }
            "a pipe of another user" => {
                mkfifo(&path);
                give_away(&path);
            }
            "a link of another user" => {
                share(folder);
                there.link_to_precious();
                give_away(&path);
            }
            "a file with two names" => {
                there.precious = Some(there.add("precious"));
                fs::hard_link(folder.join("precious"), path).unwrap();
            }
            "a directory by way of a link" => {
                fs::create_dir(folder.join("other")).unwrap();
                symlink("other", folder.join("way")).unwrap();
                there.path = folder.join("way/file");
            }
            "a directory by way of a link of another user" => {
                share(folder);
                fs::create_dir(folder.join("other")).unwrap();
                symlink("other", &path).unwrap();
                give_away(&path);
                there.path = path.join("file");
            }
            "the file of a stream" => {
                there.used.push(Box::new(session().file(path).start().unwrap()));
            }
            "the file of a session that keeps" => {
                there.used.push(Box::new(session().file(path).keep_first().start().unwrap()));
            }
            "the file of a text sink" => {
                there.used.push(Box::new(RotatingFile::open(path, 1000, 1).unwrap()));
            }
            "a recording in use" => {
                there.used.push(Box::new(session().record_at(path).start().unwrap()));
            }
            _ => panic!("{what}"),
        }
        there
    }

    fn add(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        fs::write(&path, BEFORE).unwrap();
        path
    }

    fn link_to_precious(&mut self) {
        self.precious = Some(self.add("precious"));
        symlink("precious", &self.path).unwrap();
    }

    /// The outcome of writing there.
    fn outcome(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            return if reader.join().unwrap().is_empty() { "nothing" } else { "passed" }.into();
        }
        let found = fs::symlink_metadata(&self.path).expect("a file");
        if found.file_type().is_char_device() {
            return "passed".into();
        }
        let contents = fs::read(&self.path).unwrap();
        let old = fs::read(self.folder.join("file.old"));
        let is_new = self.precious.is_none();
        let outcome = if contents.starts_with(BEFORE.as_bytes()) {
            "appended"
        } else if old.is_ok_and(|old| old == BEFORE.as_bytes()) {
            "moved"
        } else if is_new {
            "written"
        } else {
            "replaced"
        };
        outcome.into()
    }
}

fn mkfifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn give_away(path: &Path) {
    lchown(path, Some(NOBODY), None).unwrap();
}

/// Lets everybody write to a directory, as to `/tmp`.
fn share(directory: &Path) {
    fs::set_permissions(directory, Permissions::from_mode(0o1777)).unwrap();
}

/// Writes a message to the path in one of the ways that the table has. Returns the outcome, or the
/// reason why it was refused.
fn write(way: &str, there: &mut There) -> Result<String, String> {
    let path = &there.path.clone();
    let reason = |error: Error| error.to_string();
    let run = |builder: Builder| {
        let session = builder.start().map_err(reason)?;
        i!(Log::Work, "a message");
        session.stop().map(drop).map_err(reason)
    };
    match way {
        "stream" => run(session().file(path)),
        "keep" => run(session().file(path).keep_newest()),
        "snapshot" => {
            let session = session().record().start().map_err(reason)?;
            i!(Log::Work, "a message");
            let written = session.snapshot(path).map(drop).map_err(reason);
            session.stop().map_err(reason)?;
            written
        }
        "text" => {
            let file = RotatingFile::open(path, 1 << 20, 1);
            file.map(drop).map_err(|error| error.to_string())
        }
        // It goes with the session.
        "record" => {
            let session = session().record_at(path).start().map_err(reason)?;
            let outcome = there.outcome();
            session.stop().map_err(reason)?;
            return Ok(outcome);
        }
        _ => panic!("{way}"),
    }?;
    Ok(there.outcome())
}

/// Tries one cell of the table; what differs is described.
fn try_one(what: &str, way: &str, expected: &str, reason: &str) -> Option<String> {
    let dir = temp_dir();
    let mut there = There::new(dir.path(), what);
    let outcome = match write(way, &mut there) {
        Ok(outcome) => outcome,
        // In Rust's words.
        Err(error) if error.replace("is writing", "writes").contains(reason) => "refused".into(),
        Err(error) => error,
    };
    let is_as_before = |path: &PathBuf| fs::read(path).unwrap() == BEFORE.as_bytes();
    let stays = expected != "refused" || there.precious.as_ref().is_none_or(is_as_before);
    (outcome != expected || !stays)
        .then(|| format!("{way} where there is {what}: {outcome}, stays: {stays}"))
}

#[test]
fn files_are_written_as_the_table_says() {
    let _lock = lock_sessions();
    let own = temp_dir();
    let is_root = fs::metadata(own.path()).unwrap().uid() == 0;
    let mut rows = TABLE.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let ways = rows.next().unwrap()[1..6].to_vec();
    let failed: Vec<String> = thread::scope(|scope| {
        let mut trials = Vec::new();
        for row in rows {
            if !is_root && row[0].contains("another user") {
                skip(row[0], "only root can make it");
                continue;
            }
            for (way, expected) in ways.iter().zip(&row[1..6]) {
                let (what, way, reason) = (row[0], *way, row[6]);
                let expected = match *expected {
                    // Java's recording may be given a directory.
                    "beside" => "refused",
                    // No line was written to it.
                    "passed" if way == "text" && what.starts_with("a pipe") => "nothing",
                    expected => expected,
                };
                // At once, since some wait for the reader of a pipe.
                trials.push(scope.spawn(move || try_one(what, way, expected, reason)));
            }
        }
        trials.into_iter().filter_map(|trial| trial.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
