//! Sockets: bytes, and a file that goes along with them.
//!
//! Invariant: a closed peer is an error, never a signal.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::net::UnixStream;

/// Room for the header of one descriptor, aligned as such headers are.
#[repr(C)]
struct Control(libc::cmsghdr, [u8; 16]);

/// Has a received descriptor closed in other programs, where that is asked for along with it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOSE_ON_EXEC: libc::c_int = libc::MSG_CMSG_CLOEXEC;
#[cfg(target_vendor = "apple")]
const CLOSE_ON_EXEC: libc::c_int = 0;

/// Sends some of `bytes`, with a file if there is one, and never waits. Returns the number of bytes
/// sent.
pub(crate) fn send(socket: &UnixStream, bytes: &[u8], file: Option<&File>) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: zeros are an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    // SAFETY: zeros are a header of nothing. Not a literal, since musl's type has padding with a
    // name.
    let mut control = Control(unsafe { std::mem::zeroed() }, [0; 16]);
    if let Some(file) = file {
        let fd_size = size_of::<libc::c_int>() as u32;
        // SAFETY: computes a number.
        let length = unsafe { libc::CMSG_LEN(fd_size) };
        // SAFETY: computes a number.
        let space = unsafe { libc::CMSG_SPACE(fd_size) };
        control.0.cmsg_level = libc::SOL_SOCKET;
        control.0.cmsg_type = libc::SCM_RIGHTS;
        // Both are of another type in musl than in glibc and Bionic.
        control.0.cmsg_len = length as _;
        message.msg_controllen = space as _;
        control.1[..4].copy_from_slice(&file.as_raw_fd().to_ne_bytes());
        message.msg_control = (&raw mut control).cast();
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the message points to values of ours that are as large as it says and live through
    // the call, which only reads them.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Takes bytes that have come, and a file that may have come along; of several the first. Never
/// waits. Returns the number of bytes, 0 at the end.
pub(crate) fn receive(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Option<File>)> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: zeros are an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // SAFETY: zeros are a header of nothing.
    let mut control = Control(unsafe { std::mem::zeroed() }, [0; 16]);
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    // Room for one descriptor: the kernel closes others.
    // SAFETY: computes a number.
    message.msg_controllen = unsafe { libc::CMSG_LEN(size_of::<libc::c_int>() as u32) } as _;
    let flags = CLOSE_ON_EXEC | libc::MSG_DONTWAIT;
    // SAFETY: the message points to values of ours that are as large as it says and live through
    // the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    let has_file = message.msg_controllen as usize > size_of::<libc::cmsghdr>()
        && control.0.cmsg_level == libc::SOL_SOCKET
        && control.0.cmsg_type == libc::SCM_RIGHTS;
    let number = i32::from_ne_bytes([control.1[0], control.1[1], control.1[2], control.1[3]]);
    // SAFETY: the kernel has just made the descriptor for this call, and nobody else has it.
    let file = has_file.then(|| unsafe { File::from_raw_fd(number) });
    Ok((received, file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::poll::{Polled, poll};
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    #[test]
    fn sockets_know_whether_their_peer_is_closed() {
        let (one, mut other) = UnixStream::pair().unwrap();
        assert_eq!(poll(&[Polled::read(other.as_fd())], Some(0)).unwrap(), [false]);
        assert_eq!(send(&one, b"ab", None).unwrap(), 2);
        assert_eq!(poll(&[Polled::read(other.as_fd())], None).unwrap(), [true]);
        let mut two = [0; 2];
        other.read_exact(&mut two).unwrap();
        drop(other);
        assert_eq!(send(&one, b"ab", None).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_file_goes_along_with_bytes() {
        let dir = protolog_testkit::temp_dir();
        let mut file = File::create_new(dir.path().join("file")).unwrap();
        file.write_all(b"content").unwrap();
        let (one, other) = UnixStream::pair().unwrap();
        assert_eq!(send(&one, b"a", None).unwrap(), 1);
        assert_eq!(send(&one, b"bc", Some(&file)).unwrap(), 2);
        assert_eq!(send(&one, b"d", None).unwrap(), 1);
        drop(one);
        let (mut bytes, mut files) = (Vec::new(), Vec::new());
        loop {
            let mut some = [0; 16];
            let (count, file) = receive(&other, &mut some).unwrap();
            files.extend(file);
            bytes.extend_from_slice(&some[..count]);
            if count == 0 {
                break;
            }
        }
        assert_eq!((bytes.as_slice(), files.len()), (b"abcd".as_slice(), 1));
        // It is the same open file, at the same place.
        assert_eq!(files[0].stream_position().unwrap(), 7);
    }
}
