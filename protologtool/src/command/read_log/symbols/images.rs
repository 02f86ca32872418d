//! The programs and libraries that a trace names, as files of this machine or below a directory.
//!
//! The writer of the trace chose their paths. So nothing but regular files is opened, without
//! waiting and within a limit of bytes for all of them; and as root, who may read everything, only
//! below a directory that the operator names. The same goes for files that an image names: those
//! with its split debug information.
//!
//! Invariant: no memory beyond the limit is taken for the size that a file claims.

use crate::exit::Failure;
use crate::output::reason;
use crate::system::os;
use protolog_files::{Root, open_regular_file};
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The bytes of all images.
const MOST: u64 = 1 << 30;

/// See the module.
pub(super) struct Images {
    root: Option<Root>,
    left: Cell<u64>,
}

impl Images {
    /// Images below this directory; of this machine if there is none.
    ///
    /// # Errors
    ///
    /// If the directory can't be opened, or there is none and this is root.
    pub(super) fn new(root: Option<&Path>) -> Result<Self, Failure> {
        let left = Cell::new(MOST);
        let Some(path) = root else {
            if os::is_root() {
                let message = "can't open the programs and libraries that a trace names as root";
                return Err(Failure::new(message).help(
                    "name the directory that they are in by `--symbolize-root`, such as `/`, or run it as another user",
                ));
            }
            return Ok(Self { root: None, left });
        };
        let root = Root::open(path).map_err(|error| {
            let (shown, reason) = (path.display(), reason(&error));
            Failure::new(format!("can't open `{shown}`: {reason}"))
                .help("give the directory in which the programs and libraries are")
        })?;
        Ok(Self { root: Some(root), left })
    }

    #[cfg(test)]
    pub(super) fn of_this_machine() -> Self {
        Self { root: None, left: Cell::new(MOST) }
    }

    /// The bytes of the image at a path that a trace or another image says.
    pub(super) fn read(&self, path: &Path) -> io::Result<Arc<[u8]>> {
        let file = match &self.root {
            Some(root) => root.open_regular_file(path)?,
            None => open_regular_file(path)?,
        };
        let size = file.metadata()?.len();
        self.take(size).ok_or_else(|| {
            let limit = format!("it is too large: {MOST} bytes is the limit for all");
            io::Error::new(io::ErrorKind::FileTooLarge, limit)
        })?;
        // Filled in place: a vector would be copied.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size as usize).collect();
        if let Some(bytes) = Arc::get_mut(&mut bytes) {
            (&file).read_exact(bytes)?;
        }
        Ok(bytes)
    }

    /// Takes bytes from the limit; none if there are fewer left.
    pub(super) fn take(&self, bytes: u64) -> Option<()> {
        self.left.set(self.left.get().checked_sub(bytes)?);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn all_images_share_one_limit() {
        let dir = tempfile::tempdir().unwrap();
        let large = dir.path().join("large");
        // It has no blocks.
        fs::File::create(&large).unwrap().set_len(MOST + 1).unwrap();
        fs::write(dir.path().join("a"), "12345").unwrap();
        symlink("/dev/zero", dir.path().join("zero")).unwrap();
        let images = Images { left: Cell::new(9), ..Images::of_this_machine() };
        let read = |name: &str| images.read(&dir.path().join(name)).ok().map(|it| it.len());
        assert_eq!(
            [read("large"), read("zero"), read("a"), read("a")],
            [None, None, Some(5), None]
        );
    }
}
