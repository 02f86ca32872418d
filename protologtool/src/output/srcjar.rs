//! Source archives: stored, not compressed, and the same bytes on every machine and at every time.

use super::{cant_write, content};
use crate::cli::Failure;
use crate::pipeline::Processed;
use crate::system::{Staged, System};
use std::io::{self, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Stages an archive of all files, in input order.
pub(super) fn stage(
    path: &Path,
    names: &[String],
    processed: &[Processed],
    system: &dyn System,
) -> Result<Box<dyn Staged>, Failure> {
    let mut unreadable = None;
    let staged = system.stage(path, &mut |sink| {
        let mut archive = ZipWriter::new(sink);
        for (name, file) in names.iter().zip(processed) {
            let bytes = content(file, system).map_err(|failure| {
                unreadable = Some(failure);
                io::Error::from(io::ErrorKind::Other)
            })?;
            archive.start_file(name.as_str(), options()?)?;
            archive.write_all(&bytes)?;
        }
        archive.finish()?;
        Ok(())
    });
    staged.map_err(|error| unreadable.unwrap_or_else(|| cant_write(path, &error)))
}

/// The time is AOSP's: 2008-01-01.
fn options() -> io::Result<SimpleFileOptions> {
    let time = DateTime::from_date_and_time(2008, 1, 1, 0, 0, 0).map_err(io::Error::other)?;
    Ok(SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(time)
        .unix_permissions(0o644))
}
