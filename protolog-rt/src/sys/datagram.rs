//! Sockets of datagrams.

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
    socket: UnixDatagram,
}

#[cfg(unix)]
impl Datagrams {
    /// A socket that is not connected.
    pub(crate) fn unbound() -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    /// Connects to the socket at `path`.
    pub(crate) fn connect(&self, path: &Path) -> io::Result<()> {
        self.socket.connect(path)
    }

    /// Sends a datagram.
    pub(crate) fn send(&self, datagram: &[u8]) -> io::Result<usize> {
        self.socket.send(datagram)
    }

    /// Waits until a datagram can be sent, for at most so many milliseconds.
    pub(crate) fn wait(&self, milliseconds: u32) {
        let _ = poll(&[Polled::new(self.socket.as_fd(), false, true)], Some(milliseconds));
    }
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

    pub(crate) fn send(&self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn wait(&self, _: u32) {}
}
