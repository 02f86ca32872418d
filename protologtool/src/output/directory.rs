//! Sources under a directory. A file that has its content already is left alone, so that its modification time stays and
//! what depends on it is not built again.

use super::{StagedFile, cant_write, content};
use crate::cli::Failure;
use crate::pipeline::Processed;
use crate::system::System;
use std::path::{Path, PathBuf};

/// Stages all files that differ from what is there.
pub(super) fn stage(
    directory: &Path,
    names: &[String],
    processed: &[Processed],
    system: &dyn System,
) -> Result<Vec<StagedFile>, Failure> {
    let mut staged = Vec::new();
    for (name, file) in names.iter().zip(processed) {
        let path = directory.join(name);
        if is_same(&path, &file.path) {
            return Err(Failure::new(format!(
                "`{}` would be overwritten by its own output",
                file.path.display()
            ))
            .help("choose another `--output-dir`"));
        }
        let bytes = content(file, system)?;
        if system.read(&path).is_ok_and(|old| old == *bytes) {
            continue;
        }
        let done = system.stage(&path, &mut |sink| sink.write_all(&bytes));
        staged.push((path.clone(), done.map_err(|error| cant_write(&path, &error))?));
    }
    Ok(staged)
}

/// Whether two paths are the same but for `.` in them.
fn is_same(a: &Path, b: &Path) -> bool {
    let parts = |path: &Path| -> PathBuf {
        path.components().filter(|part| part.as_os_str() != ".").collect()
    };
    parts(a) == parts(b)
}
