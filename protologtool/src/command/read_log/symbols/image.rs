//! Functions, files and lines of the addresses in one image: a program or library, with its debug
//! information.
//!
//! The image is in memory, and sections are parts of it. Debug information may be in further files,
//! packed beside the image (`app.dwp`) or one for each unit (`.dwo`), which are found as images
//! are. A compressed section takes its expanded size from their limit; one for which there is no
//! room counts as missing.

use super::images::Images;
use crate::system::os;
use addr2line::{Context, Frame, LookupContinuation as _, LookupResult, SplitDwarfLoad};
use gimli::{
    AbbreviationsCacheStrategy, Dwarf, DwarfPackage, EndianArcSlice, Reader as _, RunTimeEndian,
    SectionId,
};
use object::read::{CompressionFormat, File};
use object::{Object as _, ObjectSection as _};
use protolog_reader::inflated;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type SectionReader = EndianArcSlice<RunTimeEndian>;

/// See the module.
pub(super) struct Image {
    context: Context<SectionReader>,
    package: Option<DwarfPackage<SectionReader>>,
    /// Names of functions with their first addresses, which are sorted.
    symbols: Vec<(u64, String)>,
    pub(super) build_id: Vec<u8>,
}

impl Image {
    /// Reads an image, whose path is for the file beside it.
    pub(super) fn read(path: &Path, images: &Images) -> Result<Self, String> {
        let bytes = images.read(path).map_err(|error| crate::output::reason(&error))?;
        let file = File::parse(&*bytes).map_err(|error| error.to_string())?;
        let symbols = file.symbol_map();
        let symbols = symbols.symbols().iter().map(|it| (it.address(), it.name().to_owned()));
        let symbols = symbols.collect();
        let build_id = file.build_id().ok().flatten().unwrap_or_default().to_vec();
        let mut dwarf =
            dwarf(&file, &bytes, images, SectionId::name).map_err(|it| it.to_string())?;
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let context = Context::from_dwarf(dwarf).map_err(|error| error.to_string())?;
        Ok(Self { context, package: package(path, images), symbols, build_id })
    }

    /// The name of the function that has an address.
    pub(super) fn symbol(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(first, _)| *first <= address);
        self.symbols.get(after.checked_sub(1)?).map(|(_, name)| name.as_str())
    }

    /// Calls `visit` with the functions of an address, those that were inlined first. Data that
    /// can't be parsed counts as missing.
    pub(super) fn frames(
        &self,
        address: u64,
        images: &Images,
        mut visit: impl FnMut(&Frame<'_, SectionReader>),
    ) {
        let mut found = self.context.find_frames(address);
        let frames = loop {
            match found {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => {
                    found = continuation.resume(self.split(&load, images));
                }
            }
        };
        let Ok(mut frames) = frames else { return };
        while let Ok(Some(frame)) = frames.next() {
            visit(&frame);
        }
    }

    /// The debug information of a unit that has its own file.
    fn split(
        &self,
        load: &SplitDwarfLoad<SectionReader>,
        images: &Images,
    ) -> Option<Arc<Dwarf<SectionReader>>> {
        let packed = self.package.as_ref().map(|it| it.find_cu(load.dwo_id, &load.parent));
        if let Some(Ok(Some(unit))) = packed {
            return Some(Arc::new(unit));
        }
        let mut path = PathBuf::new();
        for part in [load.comp_dir.as_ref(), Some(load.path.as_ref()?)].into_iter().flatten() {
            path.push(os::from_bytes(&part.to_slice().ok()?));
        }
        let bytes = images.read(&path).ok()?;
        let file = File::parse(&*bytes).ok()?;
        let name = |id: SectionId| id.dwo_name().unwrap_or_default();
        let mut dwarf = dwarf(&file, &bytes, images, name).ok()?;
        let unit = dwarf.unit(dwarf.units().next().ok()??).ok()?;
        if unit.dwo_id != Some(load.dwo_id) {
            return None;
        }
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

/// The debug information that stands beside an image, if there is some.
fn package(path: &Path, images: &Images) -> Option<DwarfPackage<SectionReader>> {
    let mut name = path.file_name()?.to_owned();
    name.push(".dwp");
    let bytes = images.read(&path.with_file_name(name)).ok()?;
    let file = File::parse(&*bytes).ok()?;
    let load = |id: SectionId| {
        Ok::<_, gimli::Error>(section(&file, &bytes, images, id.dwo_name().unwrap_or_default()))
    };
    DwarfPackage::load(load, SectionReader::new(Arc::from([]), endian(&file))).ok()
}

fn dwarf(
    file: &File<'_>,
    bytes: &Arc<[u8]>,
    images: &Images,
    name: impl Fn(SectionId) -> &'static str,
) -> gimli::Result<Dwarf<SectionReader>> {
    Dwarf::load(|id| Ok(section(file, bytes, images, name(id))))
}

/// A section of this name; an empty one if there is none.
fn section(file: &File<'_>, bytes: &Arc<[u8]>, images: &Images, name: &str) -> SectionReader {
    let all = SectionReader::new(Arc::clone(bytes), endian(file));
    let found = file.section_by_name(name).filter(|_| !name.is_empty());
    let read = || {
        let range = found?.compressed_file_range().ok()?;
        let begin = usize::try_from(range.offset).ok()?;
        let end = begin.checked_add(usize::try_from(range.compressed_size).ok()?)?;
        let content = bytes.get(begin..end)?;
        if range.format == CompressionFormat::None {
            return Some(all.range(begin..end));
        }
        images.take(range.uncompressed_size)?;
        let inflated = inflated(content, range.uncompressed_size)?;
        Some(SectionReader::new(Arc::from(inflated), endian(file)))
    };
    read().unwrap_or_else(|| all.range(0..0))
}

fn endian(file: &File<'_>) -> RunTimeEndian {
    if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}
