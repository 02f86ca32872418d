//! Files of wishes: read when the program starts and, where it asked for it, again when they change.
//!
//! A file that is changed is read anew as a whole; what it wishes no more goes back to what others wish, or else to what the
//! group itself says. A file that is gone wishes nothing; one that can't be read changes nothing. What is wrong in it is passed
//! over, and told to operators.

use crate::level::{self, PatternSetting, SettingSource};
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::file::watch;
use protolog_core::control::setting::{GroupSetting, Settings};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The most bytes of a file of wishes.
const MOST: u64 = 1 << 20;

/// A file of wishes that is looked after.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    file: Option<PathBuf>,
    watched: Option<CloseOnFork<File>>,
}

impl Wishes {
    /// Looks after `file`, which need not be there yet; its directory must.
    pub(crate) fn watch(file: PathBuf) -> io::Result<Self> {
        let directory = match file.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let watched = CloseOnFork::new(|| watch(directory))?;
        Ok(Self { file: Some(file), watched: Some(watched) })
    }

    /// What tells of changes.
    pub(super) fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.watched.as_ref().map(|watched| watched.as_fd())
    }

    /// Reads the file again, and gives what is wrong with it.
    pub(super) fn look_again(&mut self) -> Vec<String> {
        // What changed in the directory does not matter; it is forgotten.
        let mut events = [0; 4096];
        while self.watched.as_mut().is_some_and(|file| matches!(file.read(&mut events), Ok(1..))) {}
        self.file.as_deref().map_or(Vec::new(), |file| match read_file(file) {
            Ok(text) => fulfil(
                &text.unwrap_or_default(),
                &file.display().to_string(),
                SettingSource::ConfigFile,
            ),
            Err(error) => vec![error],
        })
    }
}

/// What a file holds; none where there is none. An error says what is wrong with it.
pub(crate) fn read_file(path: &Path) -> Result<Option<String>, String> {
    let read = || -> io::Result<String> {
        let mut text = String::new();
        let size = File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
        if size as u64 > MOST { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
    };
    match read() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("can't read `{}`: {error}", path.display())),
    }
}

/// Fulfils the wishes of a text that comes from `origin`, as far as they are for this program; those of the configuration file
/// take the place of those that it had before. What is wrong with others, each with what to do about it.
pub(crate) fn fulfil(text: &str, origin: &str, source: SettingSource) -> Vec<String> {
    let (mut wishes, mut problems) = (Vec::new(), Vec::new());
    let own = program();
    for item in Settings::new(text) {
        match item {
            Ok(GroupSetting { program, group, setting }) => {
                if program.is_none_or(|program| program == own) {
                    wishes.push(PatternSetting { pattern: group.into(), setting, source });
                }
            }
            Err(error) => problems.push(format!("{origin}: {error}\nhelp: {}", error.help())),
        }
    }
    match source {
        SettingSource::ConfigFile => level::replace_config_file_settings(wishes),
        SettingSource::Other => level::apply_settings(wishes),
    }
    problems
}

/// The name of the program's executable.
pub(super) fn program() -> String {
    let path = std::env::current_exe().ok().or_else(|| std::env::args_os().next().map(Into::into));
    let name = path.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "unknown".into(), |name| name.to_string_lossy().into_owned())
}
