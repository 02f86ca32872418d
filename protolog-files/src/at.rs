//! Reading and writing at a place of a file, by one name on every system.
//!
//! Invariant: the position of the file stays where it is. On Windows, where each such call moves
//! it, it is put back, which is seen by other threads that use the file meanwhile.

#[cfg(unix)]
pub use std::os::unix::fs::FileExt;

#[cfg(not(unix))]
pub use elsewhere::FileExt;

#[cfg(not(unix))]
mod elsewhere {
    use std::fs::File;
    use std::io;
    #[cfg(windows)]
    use std::io::{Seek as _, SeekFrom};
    #[cfg(windows)]
    use std::os::windows::fs::FileExt as _;

    /// As `std::os::unix::fs::FileExt`.
    pub trait FileExt {
        /// Reads some bytes from an offset on.
        fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

        /// Writes some bytes from an offset on.
        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

        /// Fills `bytes` from an offset on.
        fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            let mut done = 0;
            while done < bytes.len() {
                match self.read_at(&mut bytes[done..], offset + done as u64) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }

        /// Writes `bytes` from an offset on.
        fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let mut done = 0;
            while done < bytes.len() {
                match self.write_at(&bytes[done..], offset + done as u64) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }
    }

    #[cfg(windows)]
    impl FileExt for File {
        fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
            let mut file = self;
            let position = file.stream_position()?;
            let read = self.seek_read(bytes, offset);
            file.seek(SeekFrom::Start(position))?;
            read
        }

        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            let mut file = self;
            let position = file.stream_position()?;
            let written = self.seek_write(bytes, offset);
            file.seek(SeekFrom::Start(position))?;
            written
        }
    }

    #[cfg(target_os = "wasi")]
    impl FileExt for File {
        fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
            crate::sys::read_at(self, bytes, offset)
        }

        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
            crate::sys::write_at(self, bytes, offset)
        }
    }
}
