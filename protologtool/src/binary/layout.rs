//! The stretches of notes in a file: segments of ELF, sections of PE and Mach-O.
//!
//! Invariant: each stretch is within the file, and none overlaps another one.

use super::{BinaryError, BinaryProblem};
use object::elf::{ET_REL, FileHeader32, FileHeader64, PT_NOTE};
use object::macho::{LC_CODE_SIGNATURE, MachHeader32, MachHeader64};
use object::pe::{IMAGE_DIRECTORY_ENTRY_SECURITY, ImageNtHeaders32, ImageNtHeaders64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::read::macho::{FatArch, MachHeader, MachOFatFile, Section, Segment};
use object::read::pe::{ImageNtHeaders, PeFile};
use object::{Endianness, FileKind};
use std::ops::Range;

/// The marker before a signature of the whole file, at its end: modules of the Linux kernel have
/// one.
const APPENDED: &[u8] = b"~Module signature appended~\n";
/// Sections in which tools keep a signature of the whole file.
const SIGNATURES: [&[u8]; 5] = [b".signature", b".sig", b".text_sig", b".sha256_sig", b".pgp_sig"];
/// The section of notes of PE, without what the linker takes off.
const OF_PE: &[u8] = b".plog";
/// The segment and the section of notes of Mach-O.
const OF_MACH_O: (&[u8], &[u8]) = (b"__DATA", b"__protolog");

/// The most processors that a file is for. Each could name the same part of it.
const PROCESSORS: usize = 16;

/// A binary's notes, where they stand in the file.
#[derive(Debug)]
pub(super) struct Layout {
    /// Stretches of notes, by their place in the file.
    pub(super) segments: Vec<Range<usize>>,
    pub(super) big_endian: bool,
    pub(super) signed: bool,
}

impl Layout {
    pub(super) fn of(bytes: &[u8]) -> Result<Self, BinaryError> {
        let found = match FileKind::parse(bytes) {
            Ok(FileKind::Elf32) => Self::of_elf::<FileHeader32<Endianness>>(bytes),
            Ok(FileKind::Elf64) => Self::of_elf::<FileHeader64<Endianness>>(bytes),
            Ok(FileKind::Pe32) => Self::of_pe::<ImageNtHeaders32>(bytes),
            Ok(FileKind::Pe64) => Self::of_pe::<ImageNtHeaders64>(bytes),
            Ok(FileKind::MachO32) => Self::of_mach_o::<MachHeader32<Endianness>>(bytes),
            Ok(FileKind::MachO64) => Self::of_mach_o::<MachHeader64<Endianness>>(bytes),
            Ok(FileKind::MachOFat32) => {
                Self::of_fat::<object::macho::FatArch32>(bytes, MachOFatFile::parse(bytes))
            }
            Ok(FileKind::MachOFat64) => {
                Self::of_fat::<object::macho::FatArch64>(bytes, MachOFatFile::parse(bytes))
            }
            Ok(kind) => Err(BinaryProblem::Foreign(Some(kind))),
            Err(_) => Err(BinaryProblem::Foreign(None)),
        };
        let mut found = found?;
        found.segments.sort_by_key(|segment| (segment.start, segment.end));
        found.segments.dedup();
        if found.segments.windows(2).any(|pair| pair[1].start < pair[0].end) {
            return Err(BinaryProblem::Broken("segments of its notes overlap".to_owned()).into());
        }
        Ok(found)
    }

    fn of_elf<H: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Result<Self, BinaryProblem> {
        let header = H::parse(bytes).map_err(broken)?;
        let endian = header.endian().map_err(broken)?;
        let mut segments = Vec::new();
        for segment in header.program_headers(endian, bytes).map_err(broken)? {
            if segment.p_type(endian) == PT_NOTE {
                let (start, size) = (segment.p_offset(endian), segment.p_filesz(endian));
                segments.push(within(bytes, start.into(), size.into())?);
            }
        }
        if segments.is_empty() && header.e_type(endian) == ET_REL {
            return Err(BinaryProblem::Object);
        }
        let signed = bytes.ends_with(APPENDED) || has_signature(header, endian, bytes);
        Ok(Self { segments, big_endian: endian == Endianness::Big, signed })
    }

    fn of_pe<H: ImageNtHeaders>(bytes: &[u8]) -> Result<Self, BinaryProblem> {
        let file = PeFile::<H>::parse(bytes).map_err(broken)?;
        let mut segments = Vec::new();
        for section in file.section_table().iter().filter(|it| it.raw_name() == OF_PE) {
            let (start, size) = section.pe_file_range();
            segments.push(within(bytes, start.into(), size.into())?);
        }
        let signature = file.data_directories().get(IMAGE_DIRECTORY_ENTRY_SECURITY);
        Ok(Self { segments, big_endian: false, signed: signature.is_some() })
    }

    fn of_mach_o<H: MachHeader<Endian = Endianness>>(bytes: &[u8]) -> Result<Self, BinaryProblem> {
        let header = H::parse(bytes, 0).map_err(broken)?;
        let endian = header.endian().map_err(broken)?;
        let mut commands = header.load_commands(endian, bytes, 0).map_err(broken)?;
        let (mut segments, mut signed) = (Vec::new(), false);
        while let Some(command) = commands.next().map_err(broken)? {
            signed |= command.cmd() == LC_CODE_SIGNATURE;
            let Some((segment, data)) = H::Segment::from_command(command).map_err(broken)? else {
                continue;
            };
            let sections = segment.sections(endian, data).map_err(broken)?;
            let of_notes = sections.iter().filter(|it| (it.segment_name(), it.name()) == OF_MACH_O);
            for (start, size) in of_notes
                .filter_map(|section| section.file_range(endian, section.offset(endian).into()))
            {
                segments.push(within(bytes, start, size)?);
            }
        }
        Ok(Self { segments, big_endian: endian == Endianness::Big, signed })
    }

    /// As [`Self::of_mach_o`], of a file for several processors. They differ in their notes at
    /// most by what is compiled for one alone.
    fn of_fat<F: FatArch>(
        bytes: &[u8],
        file: object::read::Result<MachOFatFile<'_, F>>,
    ) -> Result<Self, BinaryProblem> {
        let mut all = Self { segments: Vec::new(), big_endian: false, signed: false };
        let file = file.map_err(broken)?;
        if file.arches().len() > PROCESSORS {
            return Err(BinaryProblem::Broken("it is for too many processors".to_owned()));
        }
        for one in file.arches() {
            let (start, size) = one.file_range();
            let place = within(bytes, start, size)?;
            let part = &bytes[place.clone()];
            // None has others within itself.
            let found = match FileKind::parse(part) {
                Ok(FileKind::MachO32) => Self::of_mach_o::<MachHeader32<Endianness>>(part),
                Ok(FileKind::MachO64) => Self::of_mach_o::<MachHeader64<Endianness>>(part),
                _ => continue,
            }?;
            let own = found.segments.iter();
            all.segments.extend(own.map(|it| place.start + it.start..place.start + it.end));
            all.big_endian |= found.big_endian;
            all.signed |= found.signed;
        }
        Ok(all)
    }
}

fn broken(error: object::read::Error) -> BinaryProblem {
    BinaryProblem::Broken(error.to_string())
}

/// A place in the file.
fn within(bytes: &[u8], start: u64, size: u64) -> Result<Range<usize>, BinaryProblem> {
    let end = start.checked_add(size).filter(|end| *end <= bytes.len() as u64);
    let end = end.ok_or_else(|| BinaryProblem::Broken("it ends before its notes do".to_owned()))?;
    Ok(start as usize..end as usize)
}

/// Returns whether a section holds a signature. A file without section headers has none.
fn has_signature<H: FileHeader>(header: &H, endian: H::Endian, bytes: &[u8]) -> bool {
    header.sections(endian, bytes).is_ok_and(|sections| {
        sections.iter().any(|section| {
            let filled = section.sh_size(endian).into() > 0;
            let name = sections.section_name(endian, section).unwrap_or_default();
            filled && SIGNATURES.contains(&name)
        })
    })
}
