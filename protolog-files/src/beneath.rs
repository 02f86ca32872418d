//! Files that something untrusted names, such as a trace: found below a directory, or anywhere.
//!
//! A name may lead to a device that reacts to being opened, to a pipe that makes us wait, or out of
//! the directory by `..` and links. Here each component is opened as a place that nothing is read
//! from, and the entry found is looked at before it is opened for reading. Links are read and
//! followed by hand: an absolute one counts from the directory, as after `chroot`, and `..` goes to
//! the directory that was passed on the way, never above the first one. So a rename by other users
//! meanwhile leads nowhere else.
//!
//! Invariants: an opened file is a regular one; with a [`Root`], it is in the directory or in one
//! below.

use crate::refused::Kind;
use crate::sys::{self, Held, Looked};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// The kernel's own limit of links in a path.
const MAX_LINKS: u32 = 40;

/// Opens the regular file that `path` leads to, by any links. Never waits, and opens nothing
/// else.
pub fn open_regular_file(path: &Path) -> io::Result<File> {
    read(&sys::look(path)?)
}

/// The directory that files are in.
#[derive(Debug)]
pub struct Root {
    directory: Held,
}

impl Root {
    /// Opens a directory by a path that may have links itself.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { directory: sys::follow_to_directory(path)? })
    }

    /// Opens a regular file; an absolute path counts from the directory.
    pub fn open_regular_file(&self, path: &Path) -> io::Result<File> {
        read(&self.find(path)?)
    }

    /// Returns whether there is a regular file.
    pub fn has_regular_file(&self, path: &Path) -> bool {
        self.find(path).is_ok_and(|place| check(&place).is_ok())
    }

    fn find(&self, path: &Path) -> io::Result<Looked> {
        let mut rest = components(path);
        let (mut passed, mut links) = (vec![sys::hold(&self.directory)?], 0);
        while let Some(component) = rest.pop() {
            let directory = passed.last().unwrap_or(&self.directory);
            let name = match component {
                Step::Root => {
                    passed.truncate(1);
                    continue;
                }
                Step::Up => {
                    passed.truncate(passed.len().saturating_sub(1).max(1));
                    continue;
                }
                Step::To(name) => name,
            };
            let place = sys::look_at(directory, &name)?;
            match place.status().kind() {
                Kind::Link => {}
                Kind::Directory => {
                    passed.push(place.into_directory()?);
                    continue;
                }
                _ if rest.is_empty() => return Ok(place),
                _ => return Err(sys::Fault::NotDirectory.into()),
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(sys::Fault::Loop.into());
            }
            rest.extend(components(&place.target()?));
        }
        Err(sys::Fault::IsDirectory.into())
    }
}

/// A step on the way to a file.
enum Step {
    Root,
    Up,
    To(OsString),
}

/// The steps of a path, the first one last.
fn components(path: &Path) -> Vec<Step> {
    let step = |component| match component {
        Component::RootDir | Component::Prefix(_) => Some(Step::Root),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::To(OsStr::to_owned(name))),
    };
    let mut steps: Vec<Step> = path.components().filter_map(step).collect();
    steps.reverse();
    steps
}

/// An error for an entry that is no regular file.
fn check(place: &Looked) -> io::Result<()> {
    match place.status().kind() {
        Kind::File => Ok(()),
        Kind::Directory => Err(sys::Fault::IsDirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Opens a place for reading, if it is a regular file.
fn read(place: &Looked) -> io::Result<File> {
    check(place)?;
    place.open()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn text(file: io::Result<File>) -> Option<String> {
        file.and_then(io::read_to_string).ok()
    }

    #[test]
    fn nothing_leads_out_of_the_directory() {
        let temporary = protolog_testkit::temp_dir();
        let root = temporary.path().join("root");
        fs::create_dir_all(root.join("usr/lib")).unwrap();
        fs::write(temporary.path().join("secret"), "outside").unwrap();
        fs::write(root.join("usr/lib/a.so"), "a").unwrap();
        symlink("/usr/lib", root.join("lib")).unwrap();
        symlink("lib/../a.so", root.join("usr/link")).unwrap();
        symlink("../../secret", root.join("usr/out")).unwrap();
        symlink(temporary.path().join("secret"), root.join("absolute")).unwrap();
        symlink("round", root.join("round")).unwrap();
        fs::write(root.join("secret"), "inside").unwrap();
        let found = Root::open(&root).unwrap();
        for (path, expected) in [
            ("/usr/lib/a.so", Some("a")),
            ("usr/lib/a.so", Some("a")),
            ("/lib/a.so", Some("a")),
            ("lib/../lib/./a.so", Some("a")),
            ("usr/../../../secret", Some("inside")),
            ("/usr/out", Some("inside")),
            ("usr/link", None),
            ("absolute", None),
            ("round", None),
            ("usr", None),
            ("usr/lib/a.so/b", None),
            ("none", None),
            ("", None),
        ] {
            let file = found.open_regular_file(Path::new(path));
            assert_eq!(found.has_regular_file(Path::new(path)), file.is_ok(), "{path}");
            assert_eq!(text(file).as_deref(), expected, "{path}");
        }
        // The directory stays the one that was opened.
        fs::rename(&root, temporary.path().join("moved")).unwrap();
        symlink("/", &root).unwrap();
        assert_eq!(text(found.open_regular_file(Path::new("lib/a.so"))).as_deref(), Some("a"));
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let temporary = protolog_testkit::temp_dir();
        let pipe = temporary.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        symlink("/dev/zero", temporary.path().join("zero")).unwrap();
        fs::write(temporary.path().join("file"), "text").unwrap();
        symlink("file", temporary.path().join("link")).unwrap();
        for (name, is_opened) in
            [("file", true), ("link", true), ("pipe", false), ("zero", false), (".", false)]
        {
            let file = open_regular_file(&temporary.path().join(name));
            assert_eq!(file.is_ok(), is_opened, "{name}");
        }
    }
}
