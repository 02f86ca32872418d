//! Source archives: the same bytes on every machine and at every time, stored unless asked
//! otherwise.

use super::fused::Fused;
use super::{OutputEntry, cant_write};
use crate::exit::Failure;
use crate::system::{self, Staged};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// Stages an archive of all entries, in their order. `compress` is from 0, not at all, to 9.
pub(super) fn stage(
    path: &Path,
    compress: u8,
    entries: &[OutputEntry<'_>],
    system: &dyn system::System,
) -> Result<Box<dyn Staged>, Failure> {
    let mut unreadable = None;
    let staged = system.stage(path, &mut |sink| {
        let mut sink = Fused::new(sink);
        let written = write(&mut sink, compress, entries, &mut |entry| {
            entry.read(system).map_err(|failure| {
                unreadable = Some(failure);
                io::ErrorKind::Other.into()
            })
        });
        sink.finish().and(written)
    });
    staged.map_err(|error| unreadable.unwrap_or_else(|| cant_write(path, &error)))
}

/// Gives the content of an entry.
type ReadEntry<'r, 'p> = dyn FnMut(&OutputEntry<'p>) -> io::Result<Cow<'p, [u8]>> + 'r;

fn write<'p>(
    sink: &mut Fused<'_>,
    compress: u8,
    entries: &[OutputEntry<'p>],
    read: &mut ReadEntry<'_, 'p>,
) -> io::Result<()> {
    let options = options(compress)?;
    let mut archive = ZipWriter::new(sink);
    for entry in entries {
        let bytes = read(entry)?;
        archive.start_file(entry.name.as_str(), options)?;
        archive.write_all(&bytes)?;
    }
    archive.finish()?;
    Ok(())
}

/// The time is AOSP's: 2008-01-01.
fn options(compress: u8) -> io::Result<SimpleFileOptions> {
    let time = DateTime::from_date_and_time(2008, 1, 1, 0, 0, 0).map_err(io::Error::other)?;
    let options = SimpleFileOptions::default().last_modified_time(time).unix_permissions(0o644);
    // On Windows it would be another.
    let options = options.system(System::Unix);
    Ok(match compress {
        0 => options.compression_method(CompressionMethod::Stored),
        level => options
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(level.into())),
    })
}
