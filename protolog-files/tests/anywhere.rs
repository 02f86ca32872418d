//! What holds on every system. This file needs the standard library alone, so it also runs on
//! Windows and WASI: docs/guides/platforms.md says how.

use protolog_files::{
    Access, Directory, FileExt, Found, Identity, Location, Output, OutputAccess, Refused,
    StagedFile, Status, Tree,
};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A new directory; of WASI, in the working directory, which it was given.
fn new_directory(test: &str) -> PathBuf {
    let base = if cfg!(target_os = "wasi") { PathBuf::from(".") } else { std::env::temp_dir() };
    let mut all = (0..1000).map(|number| base.join(format!("protolog-files-{test}-{number}")));
    all.find(|path| fs::create_dir(path).is_ok()).expect("a directory")
}

/// Makes a link to a directory. False on a system that lets nobody make one.
fn link_to_directory(target: &str, link: &Path) -> bool {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, link).unwrap();
    #[cfg(windows)]
    let _ = std::os::windows::fs::symlink_dir(target, link);
    // The standard library makes none there. One that the host has made is moved.
    #[cfg(target_os = "wasi")]
    let _ = fs::rename("link", link);
    // Wine makes what does not look like one.
    fs::read_link(link).is_ok_and(|text| text == Path::new(target))
}

#[test]
fn a_tree_is_never_left() {
    let base = new_directory("tree");
    let root = base.join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::create_dir_all(base.join("outside/b")).unwrap();
    fs::write(base.join("outside/b/file"), "outside").unwrap();
    let tree = Tree::open(&root).unwrap();
    let create = |name: &str| tree.locate_new(Path::new(name))?.create_new(0o600);
    create("a/b/file").unwrap().write_all(b"inside").unwrap();
    create("new/er/file").unwrap();
    assert_eq!(tree.read(Path::new("a/b/file")).unwrap(), b"inside");
    for name in ["../outside/b/more", "a/../../outside/b/more", "/more", ""] {
        assert!(create(name).is_err(), "{name}");
    }
    if link_to_directory("../outside", &root.join("link")) {
        for name in ["link/file", "link/b/file", "link/made/file"] {
            let name = Path::new(name);
            let errors = [tree.locate(name).unwrap_err(), tree.locate_new(name).unwrap_err()];
            for error in errors {
                assert!(
                    matches!(Refused::of(&error), Some(Refused::LinkOnTheWay { .. })),
                    "{error}"
                );
            }
        }
        tree.remove_all(Path::new("link")).unwrap();
    }
    tree.remove_all(Path::new("a")).unwrap();
    assert!(!root.join("a").exists() && !root.join("link").exists());
    assert_eq!(fs::read_to_string(base.join("outside/b/file")).unwrap(), "outside");
    assert_eq!(fs::read_dir(base.join("outside")).unwrap().count(), 1);
    drop(tree);
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn outputs_appear_whole_or_not_at_all() {
    let base = new_directory("whole");
    let path = base.join("file");
    let Found::Missing(place) = Output::find(&path).unwrap() else { panic!("nothing is there") };
    let (staged, mut file) = StagedFile::new(&place, ".part-", 0o600).unwrap();
    file.write_all(b"first").unwrap();
    assert!(!path.exists());
    drop(file);
    staged.commit(&place).unwrap();
    let (dropped, mut file) = StagedFile::new(&place, ".part-", 0o600).unwrap();
    file.write_all(b"second").unwrap();
    drop((dropped, file));
    assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    assert!(matches!(Output::find(&path).unwrap(), Found::File(_)));
    let (staged, mut file) = StagedFile::new(&place, ".part-", 0o600).unwrap();
    file.write_all(b"third").unwrap();
    drop(file);
    staged.commit(&place).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    assert_eq!(place.siblings().unwrap(), ["file"]);
    assert_eq!(place.create_new(0o600).unwrap_err().kind(), ErrorKind::AlreadyExists);
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn entries_are_those_that_were_looked_at() {
    let base = new_directory("entries");
    let directory = Directory::open(&base).unwrap();
    fs::write(base.join("one"), "one").unwrap();
    fs::write(base.join("two"), "two").unwrap();
    let one = directory.look("one").unwrap();
    assert!(one.is_regular() && one.status().len() == 3);
    assert_ne!(one.identity(), directory.look("two").unwrap().identity());
    let file = directory.open_entry("one", &one, Access::ReadWrite).unwrap();
    assert_eq!(Status::of(&file).unwrap().identity(), one.identity());
    drop(file);
    let taken = directory.rename_to_free("two", "one").unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists, "{taken}");
    fs::rename(base.join("two"), base.join("one")).unwrap();
    assert!(directory.open_entry("one", &one, Access::Read).is_err(), "another one");
    assert!(!directory.remove("one", one.identity()).unwrap());
    for name in ["", ".", "..", "a/b", "missing"] {
        assert!(directory.look(name).is_err(), "{name}");
    }
    let place = Location::of(&base.join("one")).unwrap();
    for name in ["", ".", "..", "a/b", "a/"] {
        assert!(place.sibling(name).is_err(), "{name}");
    }
    if cfg!(windows) {
        for name in ["a\\b", "one:stream", "C:one"] {
            assert!(directory.look(name).is_err() && place.sibling(name).is_err(), "{name}");
        }
    }
    let error = Output::open(&base, OutputAccess::Write, 0o600).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::IsADirectory);
    fs::remove_dir_all(base).unwrap();
}

#[test]
fn a_place_of_a_file_is_read_and_written_without_its_position() {
    let base = new_directory("place");
    let path = base.join("file");
    let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.write_all(b"0123456789").unwrap();
    file.write_all_at(b"ab", 4).unwrap();
    let mut two = [0; 2];
    file.read_exact_at(&mut two, 3).unwrap();
    assert_eq!(&two, b"3a");
    let end = file.read_exact_at(&mut two, 9).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::UnexpectedEof);
    file.write_all(b"!").unwrap();
    drop(file);
    assert_eq!(fs::read_to_string(&path).unwrap(), "0123ab6789!");
    let Output { mut file, .. } = Output::open(&path, OutputAccess::Append, 0o600).unwrap();
    file.write_all(b"?").unwrap();
    drop(file);
    assert_eq!(io::read_to_string(File::open(&path).unwrap()).unwrap(), "0123ab6789!?");
    fs::remove_dir_all(base).unwrap();
}

/// Windows keeps some names in use until their files are closed.
#[test]
fn the_name_of_an_open_file_is_free_once_it_is_removed() {
    let base = new_directory("in-use");
    let path = base.join("file");
    let place = Location::of(&path).unwrap();
    let mut files = Vec::new();
    for text in ["first", "second"] {
        let mut file = place.create_new(0o600).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        assert!(place.remove_in_use(Identity::of_file(&file).unwrap()).unwrap(), "{text}");
        assert!(!path.exists(), "{text}");
        files.push(file);
    }
    let mut bytes = [0; 5];
    files[0].write_all_at(b"FIRST", 0).unwrap();
    files[0].read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"FIRST");
    fs::write(&path, "another one's").unwrap();
    assert!(!place.remove_in_use(Identity::of_file(&files[1]).unwrap()).unwrap());
    assert!(path.exists());
    drop(files);
    fs::remove_dir_all(base).unwrap();
}
