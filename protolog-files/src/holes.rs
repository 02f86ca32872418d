//! Files with holes: parts that were never written, which read as zeros.
//!
//! Anybody can make a file of any size that takes no space. Read in the usual way, it takes as much
//! memory as it says.
//!
//! Invariant: memory is written only where the file has data. The rest is as the system gives it
//! out: zeros that take no room.

use crate::at::FileExt;
use crate::sys;
use std::fs::File;
use std::io;

/// The size up to which nothing is gained, in bytes.
const SMALL: usize = 64 << 10;

/// Returns the bytes of a regular file from an offset on, at most so many. Where the file has
/// holes, they take address space, and no memory; nor do zeros that were written, as a copy of such
/// a file has them.
pub fn read_with_holes(file: &File, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len().saturating_sub(offset).min(most);
    let size = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // Without room, it is an error and not the end.
    Vec::<u8>::new().try_reserve_exact(size)?;
    let mut bytes = vec![0; size];
    let mut at = 0;
    while let Some((begin, end)) = next_data(file, offset, at, size) {
        let read = fill(file, &mut bytes[begin..end], offset + begin as u64)?;
        at = begin + read;
        if at < end {
            // It was cut meanwhile.
            bytes.truncate(at);
            break;
        }
    }
    Ok(bytes)
}

/// Returns where the next data is, from `at` on; none if there is none before `size`.
fn next_data(file: &File, offset: u64, at: usize, size: usize) -> Option<(usize, usize)> {
    if at >= size {
        return None;
    }
    let all = Some((at, size));
    if size <= SMALL {
        return all;
    }
    let from = offset + at as u64;
    let within = |position: u64| {
        usize::try_from(position.saturating_sub(offset)).map_or(size, |it| it.min(size))
    };
    match sys::next_data(file, from) {
        // Not every file system knows.
        Err(_) => all,
        Ok(None) => None,
        Ok(Some(begin)) => {
            let end = sys::next_hole(file, begin).map_or(size, within);
            let begin = within(begin).max(at);
            (begin < end).then_some((begin, end))
        }
    }
}

/// Reads as many bytes as there are room and file. The room has zeros, and their memory stays
/// untouched where the file has some, too.
fn fill(file: &File, room: &mut [u8], offset: u64) -> io::Result<usize> {
    let (mut filled, mut block) = (0, vec![0; room.len().min(SMALL)]);
    while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let most = rest.len().min(block.len());
        match file.read_at(&mut block[..most], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => {
                if block[..count].iter().any(|byte| *byte != 0) {
                    rest[..count].copy_from_slice(&block[..count]);
                }
                filled += count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_read_is_what_the_file_has() {
        let directory = protolog_testkit::temp_dir();
        let path = directory.path().join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        for at in [0_u64, 1 << 20, (3 << 20) + 17, (8 << 20) - 5] {
            file.write_all_at(b"data", at).unwrap();
        }
        file.set_len(9 << 20).unwrap();
        let whole = fs::read(&path).unwrap();
        for (offset, most) in
            [(0, u64::MAX), (0, 5 << 20), (2, 1 << 20), (1 << 20, 3), (9 << 20, 1), (1 << 40, 1)]
        {
            let from = usize::try_from(offset).unwrap().min(whole.len());
            let to = (from as u64).saturating_add(most).min(whole.len() as u64) as usize;
            assert!(
                read_with_holes(&file, offset, most).unwrap() == whole[from..to],
                "{offset} {most}"
            );
        }
    }

    #[test]
    fn holes_and_zeros_take_no_memory() {
        let resident = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
        };
        let directory = protolog_testkit::temp_dir();
        let path = directory.path().join("file");
        let file = File::options().read(true).write(true).create_new(true).open(path).unwrap();
        let zeros = vec![0; 1 << 20];
        for at in (0..1 << 28).step_by(1 << 20) {
            file.write_all_at(&zeros, at).unwrap();
        }
        file.write_all_at(b"data", 1 << 29).unwrap();
        file.set_len(1 << 30).unwrap();
        let before = resident();
        let bytes = read_with_holes(&file, 0, u64::MAX).unwrap();
        assert_eq!((bytes.len(), &bytes[1 << 29..][..4]), (1 << 30, &b"data"[..]));
        assert!(resident() < before + (64 << 10), "{before} {}", resident());
    }
}
