//! Outputs that may be written, and those that are refused with a reason: without another user,
//! and as root can set it up.

use protolog_files::{
    Found, Location, Output, OutputAccess, OutputKind, Refused, StagedFile, Tree,
};
use protolog_testkit::{TempDir, skip, temp_dir};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

/// A user other than root.
const NOBODY: u32 = 65534;

/// A directory for the cases: each name says the kind of file.
fn place() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let directory = temp_dir();
    let root = directory.path().to_owned();
    let at = move |name: &str| root.join(name);
    fs::write(at("file"), "content").unwrap();
    fs::write(at("two names"), "content").unwrap();
    fs::hard_link(at("two names"), at("second name")).unwrap();
    symlink("file", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    symlink("directory", at("way")).unwrap();
    mkfifo(&at("pipe"));
    UnixListener::bind(at("socket")).unwrap();
    (directory, at)
}

fn mkfifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[track_caller]
fn text<T>(result: io::Result<T>) -> String {
    result.err().expect("it is refused").to_string()
}

/// The files of a directory with their contents; none changes when an output is refused.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_is_refused_has_a_reason() {
    let (directory, at) = place();
    let before = contents(directory.path());
    for (name, expected) in [
        ("link", "it is a link to `file`"),
        ("dangling", "it is a link to `nowhere`"),
        ("two names", "it has 2 names (hard links)"),
        ("directory", "Is a directory (os error 21)"),
        ("way", "it is a link to `directory`"),
        ("directory/", "Is a directory (os error 21)"),
        ("directory/..", "Is a directory (os error 21)"),
        ("socket", "it is a socket"),
        ("pipe", "it is a pipe that no program reads"),
        ("missing/file", "No such file or directory (os error 2)"),
        ("file/file", "Not a directory (os error 20)"),
    ] {
        let all = [OutputAccess::Write, OutputAccess::Append, OutputAccess::ReadWrite];
        // The reader of the pipe is waited for.
        for access in all.into_iter().take(if name == "pipe" { 1 } else { 3 }) {
            assert_eq!(text(Output::open(&at(name), access, 0o600)), expected, "{name}");
        }
        if !matches!(name, "two names" | "pipe") {
            assert_eq!(text(Output::find(&at(name))), expected, "{name}");
        }
    }
    assert_eq!(
        text(Output::open(Path::new(""), OutputAccess::Write, 0o600)),
        "No such file or directory (os error 2)"
    );
    assert_eq!(
        text(Output::open(Path::new("/"), OutputAccess::Write, 0o600)),
        "Is a directory (os error 21)"
    );
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn what_is_allowed_is_opened_and_not_emptied() {
    let (_directory, at) = place();
    let open = |path: &Path, access| Output::open(path, access, 0o640).unwrap();
    let Output { mut file, kind, .. } = open(&at("file"), OutputAccess::Write);
    file.write_all(b"CON").unwrap();
    assert_eq!(
        (fs::read(at("file")).unwrap().as_slice(), kind),
        (&b"CONtent"[..], OutputKind::File)
    );
    open(&at("file"), OutputAccess::Append).file.write_all(b"s").unwrap();
    assert_eq!(fs::read(at("file")).unwrap(), b"CONtents");
    // An own link on the way is followed.
    let new = open(&at("way/new"), OutputAccess::ReadWrite);
    assert_eq!((new.kind, new.file.metadata().unwrap().mode() & 0o777), (OutputKind::File, 0o640));
    assert!(at("directory/new").exists());
    assert_eq!(open(Path::new("/dev/null"), OutputAccess::Append).kind, OutputKind::Stream);
    assert_eq!(open(Path::new("/dev/fd/2"), OutputAccess::Append).kind, OutputKind::Descriptor);
    assert!(matches!(Output::find(&at("two names")), Ok(Found::File(_))), "it would be replaced");
    assert!(matches!(Output::find(&at("directory/none")), Ok(Found::Missing(_))));
}

#[test]
fn the_reader_of_a_pipe_may_come_a_moment_late() {
    let (_directory, at) = place();
    let pipe = at("pipe");
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            thread::sleep(protolog_files::READER_TIMEOUT / 4);
            fs::read(&pipe).unwrap()
        });
        let output = Output::open(&pipe, OutputAccess::Append, 0o600).unwrap();
        assert_eq!(output.kind, OutputKind::Stream);
        let mut file = output.file;
        // More than a pipe holds: writes wait.
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
        drop(file);
        assert_eq!(reader.join().unwrap().len(), 1 << 20);
    });
    let begun = Instant::now();
    let refused = Output::open(&pipe, OutputAccess::Write, 0o600).unwrap_err();
    assert_eq!(Refused::of(&refused), Some(&Refused::NoReader));
    assert!(begun.elapsed() < 30 * protolog_files::READER_TIMEOUT);
}

#[test]
fn what_belongs_to_others_is_refused() {
    let (directory, at) = place();
    if lchown(at("file"), Some(NOBODY), None).is_err() {
        return skip("files of another user", "only root can make them");
    }
    let device = Mode::from_raw_mode(0o666);
    let made =
        mknodat(CWD, at("device"), FileType::CharacterDevice, device, rustix::fs::makedev(1, 3));
    made.unwrap();
    let disk = Mode::from_raw_mode(0o600);
    mknodat(CWD, at("disk"), FileType::BlockDevice, disk, rustix::fs::makedev(7, 200)).unwrap();
    for name in ["pipe", "device", "disk"] {
        lchown(at(name), Some(NOBODY), None).unwrap();
    }
    // Somebody reads.
    let _reader = File::options().read(true).write(true).open(at("pipe")).unwrap();
    for (name, expected) in [
        ("file", "it belongs to another user"),
        ("pipe", "it is a pipe of another user"),
        ("device", "it is a device of another user"),
        ("disk", "it is a block device"),
    ] {
        assert_eq!(text(Output::open(&at(name), OutputAccess::Write, 0o600)), expected);
        assert_eq!(text(Output::find(&at(name))), expected);
    }
    assert_eq!(fs::read(at("file")).unwrap(), b"content");
    let lock = Location::of(&at("lock")).unwrap();
    assert!(protolog_files::open_lock_file(&lock).is_ok());
    chown(directory.path(), Some(NOBODY), None).unwrap();
    let refused = text(protolog_files::open_lock_file(&lock));
    assert_eq!(refused, "its directory belongs to another user");
}

#[test]
fn links_of_others_are_not_followed_on_the_way() {
    let (directory, at) = place();
    fs::create_dir(at("theirs")).unwrap();
    symlink("../directory", at("theirs/to ours")).unwrap();
    symlink("..//theirs", at("theirs/to theirs")).unwrap();
    symlink("to ours", at("theirs/to a link")).unwrap();
    symlink("../directory", at("theirs/of root")).unwrap();
    if chown(at("theirs"), Some(NOBODY), None).is_err() {
        return skip("links of another user", "only root can make them");
    }
    for name in ["to ours", "to theirs", "to a link"] {
        lchown(at("theirs").join(name), Some(NOBODY), None).unwrap();
    }
    let open = |name: &str| Output::open(&at(name), OutputAccess::Write, 0o600);
    let shown = at("theirs/to ours");
    let shown = shown.display();
    let expected = format!("`{shown}`, on the way to it, is a link to `../directory`");
    assert_eq!(text(open("theirs/to ours/file")), expected);
    assert_eq!(text(open("theirs/to a link/file")), expected);
    assert_eq!(fs::read_dir(at("directory")).unwrap().count(), 0);
    open("theirs/to theirs/file").expect("they could have made it");
    open("theirs/of root/file").expect("root made the link");
    drop(directory);
}

#[test]
fn links_that_lead_in_a_circle_end() {
    let (_directory, at) = place();
    symlink("round/round", at("round")).unwrap();
    let error = Output::open(&at("round/file"), OutputAccess::Write, 0o600).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::LOOP.raw_os_error()));
    // The kernel's links lead where their text does not.
    let inside = File::open(at("directory")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&inside);
    fs::rename(at("directory"), at("moved")).unwrap();
    let path = format!("/proc/self/fd/{number}/file");
    Output::open(Path::new(&path), OutputAccess::Write, 0o600).unwrap();
    assert!(at("moved/file").exists());
}

#[test]
fn staged_files_are_whole_or_not_there() {
    let (directory, at) = place();
    let names = || fs::read_dir(directory.path()).unwrap().count();
    let before = names();
    for named in [false, true] {
        let make = |location: &Location| {
            if named {
                StagedFile::named(location, ".new-", 0o600).unwrap()
            } else {
                StagedFile::new(location, ".new-", 0o600).unwrap()
            }
        };
        for name in ["file", "second name", "link"] {
            let location = Location::of(&at(name)).unwrap();
            drop(make(&location));
            assert_eq!(names(), before, "dropped");
            let (staged, mut file) = make(&location);
            file.write_all(name.as_bytes()).unwrap();
            staged.commit(&location).unwrap();
            assert_eq!((fs::read(at(name)).unwrap(), names()), (name.as_bytes().into(), before));
        }
        assert_eq!(fs::read(at("two names")).unwrap(), b"content");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_file(), "the link was replaced");
        fs::remove_file(at("link")).unwrap();
        symlink("file", at("link")).unwrap();
    }
}

#[test]
fn nothing_leaves_a_tree() {
    let (directory, at) = place();
    let outside = temp_dir();
    fs::create_dir(outside.path().join("inner")).unwrap();
    fs::write(outside.path().join("inner/file"), "precious").unwrap();
    let tree = Tree::open(&at("directory")).unwrap();
    symlink(outside.path(), at("directory/out")).unwrap();
    symlink(outside.path().join("inner/file"), at("directory/file")).unwrap();
    let shown = outside.path().display();
    let refused = format!("`out`, on the way to it, is a link to `{shown}`");
    let name = Path::new("out/inner/file");
    assert_eq!(text(tree.locate(name)), refused);
    assert_eq!(text(tree.locate_new(name)), refused);
    assert_eq!(text(tree.read(name)), refused);
    assert_eq!(text(tree.remove_all(name)), refused);
    assert_eq!(text(tree.remove_if_empty(name)), refused);
    assert_eq!(text(tree.read(Path::new("file"))), format!("it is a link to `{shown}/inner/file`"));
    let made = tree.locate_new(Path::new("a/b/c")).unwrap();
    made.create_new(0o600).unwrap();
    tree.remove_if_empty(Path::new("a")).unwrap();
    assert!(at("directory/a/b/c").exists());
    symlink(outside.path(), at("directory/a/b/out")).unwrap();
    tree.remove_all(Path::new("a")).unwrap();
    tree.remove_all(Path::new("out")).unwrap();
    tree.remove_all(Path::new("none/at/all")).unwrap();
    assert!(!at("directory/a").exists() && fs::symlink_metadata(at("directory/out")).is_err());
    assert_eq!(fs::read(outside.path().join("inner/file")).unwrap(), b"precious");
    // The root itself: a link is named, unless the path says that it is to be followed.
    assert_eq!(text(Tree::open(&at("way"))), "it is a link to `directory`");
    assert_eq!(text(Tree::create(&at("way/"))), "it is a link to `directory`");
    Tree::open(&at("way/.")).unwrap();
    assert_eq!(text(Tree::create(&at("file"))), "Not a directory (os error 20)");
    Tree::create(&at("new/tree")).unwrap().locate_new(Path::new("x/y")).unwrap();
    assert!(at("new/tree/x").is_dir());
    drop(directory);
}

#[test]
fn lock_files_are_nobody_elses() {
    let (_directory, at) = place();
    let open = |name: &str| protolog_files::open_lock_file(&Location::of(&at(name)).unwrap());
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o644)).unwrap();
    for name in ["file", "new lock"] {
        open(name).unwrap();
        assert_eq!(fs::metadata(at(name)).unwrap().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read(at("file")).unwrap(), b"content");
    assert_eq!(text(open("link")), "it is a link to `file`");
    assert_eq!(text(open("two names")), "it has 2 names (hard links)");
}

#[test]
fn read_only_files_and_other_names_are_not_changed_in_place() {
    let (_directory, at) = place();
    let check = |name: &str| Location::of(&at(name)).unwrap().open_to_change();
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(text(check("file")), "it is read-only");
    fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
    check("file").unwrap();
    assert_eq!(text(check("two names")), "it has 2 names (hard links)");
    assert_eq!(text(check("link")), "it is a link to `file`");
}
