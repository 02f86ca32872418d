//! The real file system and environment.

use super::{Fill, Staged, System};
use std::fs::{self, Permissions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The machine this process runs on.
#[derive(Debug, Default)]
pub struct Real;

impl System for Real {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn read_input(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn stage(&self, path: &Path, fill: &mut Fill<'_>) -> io::Result<Box<dyn Staged>> {
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(directory)?;
        // In the same directory, so that the move is a rename; with the permissions of any new file.
        let file = tempfile::Builder::new()
            .prefix(".protologtool-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory)?;
        let (file, temporary) = file.into_parts();
        let mut sink = BufWriter::new(file);
        fill(&mut sink)?;
        sink.flush()?;
        Ok(Box::new(StagedFile { temporary, path: path.to_path_buf() }))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn errors_to_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    fn output_to_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }

    // A reader that went away (`| head`) is no failure of ours.
    fn print(&self, text: &str) {
        let _ = io::stdout().lock().write_all(text.as_bytes());
    }

    fn write_output(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    fn print_error(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

struct StagedFile {
    temporary: TempPath,
    path: PathBuf,
}

impl Staged for StagedFile {
    fn commit(self: Box<Self>) -> io::Result<()> {
        self.temporary.persist(&self.path).map_err(|error| error.error)
    }
}
