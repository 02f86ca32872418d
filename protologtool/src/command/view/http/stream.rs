//! A connection's bytes, for hyper: those of tokio's stream, with progress reported to the lease.

use super::connections::Lease;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are read at once: a request has a few hundred.
const AT_ONCE: usize = 4096;

pub(super) struct Stream<S> {
    inner: S,
    lease: Rc<Lease>,
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, lease: Rc<Lease>) -> Self {
        Self { inner, lease }
    }
}

impl<S: AsyncRead + Unpin> Read for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut to: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // By way of the stack: to read into the cursor itself takes unsafe code.
        let mut bytes = [0; AT_ONCE];
        let most = to.remaining().min(AT_ONCE);
        let mut read = ReadBuf::new(&mut bytes[..most]);
        ready!(Pin::new(&mut self.inner).poll_read(cx, &mut read))?;
        to.put_slice(read.filled());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.lease.note_written(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, parts))?;
        self.lease.note_written(written);
        Poll::Ready(Ok(written))
    }

    /// Otherwise hyper copies the bytes to write into a buffer of its own.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
