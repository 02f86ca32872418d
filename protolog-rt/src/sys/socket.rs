//! Sockets: connections that a fork can't catch half made, and a file that goes along with bytes.
//!
//! Invariant: a closed peer is an error, never a signal.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Returns a socket that is not connected yet.
pub(crate) fn unconnected() -> io::Result<UnixStream> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: takes and gives numbers.
    let fd = checked(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?;
    // SAFETY: the descriptor is new, and nobody else has it.
    Ok(unsafe { UnixStream::from_raw_fd(fd) })
}

/// Connects a socket to the one that listens on `path`, and waits until it is accepted, for at most
/// the socket's time limit for writing.
pub(crate) fn connect(socket: &UnixStream, path: &Path) -> io::Result<()> {
    // SAFETY: zeros are an address without a name.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let path = path.as_os_str().as_bytes();
    // The last byte ends the name.
    if path.len() >= address.sun_path.len() || path.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path of a socket"));
    }
    for (to, byte) in address.sun_path.iter_mut().zip(path) {
        *to = *byte as libc::c_char;
    }
    let size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is a value of ours, which has `size` bytes.
    checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size) })?;
    Ok(())
}

/// Room for the header of one descriptor, aligned as such headers are.
#[repr(C)]
struct Control(libc::cmsghdr, [u8; 16]);

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

/// Waits for bytes, as long as the socket's time limit says, and for a file that may come along; of
/// several the first. Returns the number of bytes, 0 at the end.
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
    let flags = libc::MSG_CMSG_CLOEXEC;
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
    fn a_socket_is_connected_to_a_path() {
        let dir = protolog_testkit::temp_dir_for_sockets();
        let path = dir.path().join("socket");
        let socket = unconnected().unwrap();
        assert_eq!(connect(&socket, &path).unwrap_err().kind(), io::ErrorKind::NotFound);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        connect(&socket, &path).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        assert_eq!(send(&socket, b"ab", None).unwrap(), 2);
        other.read_exact(&mut [0; 2]).unwrap();
        let long = Path::new("/").join("x".repeat(200));
        assert_eq!(connect(&socket, &long).unwrap_err().kind(), io::ErrorKind::InvalidInput);
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
