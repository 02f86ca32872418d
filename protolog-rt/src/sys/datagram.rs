//! Sockets of datagrams.

#[cfg(unix)]
use super::own_file::OwnFile;
#[cfg(unix)]
use super::poll::{Polled, poll};
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as _;
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;
use std::path::Path;

/// A Unix socket that sends datagrams, and never waits.
#[derive(Debug)]
pub(crate) struct Datagrams {
    #[cfg(unix)]
    socket: OwnFile<UnixDatagram>,
}

#[cfg(unix)]
impl Datagrams {
    /// A socket that is not connected.
    pub(crate) fn unbound() -> io::Result<Self> {
        Ok(Self { socket: OwnFile::new(open()?) })
    }

    /// Connects to the socket at `path`.
    pub(crate) fn connect(&self, path: &Path) -> io::Result<()> {
        self.socket.get()?.connect(path)
    }

    /// Sends a datagram to the socket at `path`, which this one was connected to. In a program that
    /// has closed this one, by one for this datagram alone: threads that log share it, and none of
    /// them waits for another one to open it again.
    pub(crate) fn send(&self, datagram: &[u8], path: &Path) -> io::Result<usize> {
        match self.socket.get() {
            Ok(socket) => socket.send(datagram),
            Err(_) => open()?.send_to(datagram, path),
        }
    }

    /// Waits until a datagram can be sent, for at most so many milliseconds.
    pub(crate) fn wait(&self, milliseconds: u32) {
        let socket = self.socket.get().ok().map(|socket| Polled::new(socket.as_fd(), false, true));
        let _ = poll(socket.as_slice(), Some(milliseconds));
    }
}

#[cfg(unix)]
fn open() -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// There are none.
#[cfg(not(unix))]
impl Datagrams {
    pub(crate) fn unbound() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn connect(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn send(&self, _: &[u8], _: &Path) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn wait(&self, _: u32) {}
}
