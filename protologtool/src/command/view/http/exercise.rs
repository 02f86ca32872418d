//! A connection in memory, for tests and the fuzz target: any bytes in, in any pieces, and the
//! response.
//!
//! Invariant, which is checked here: nothing but the request that has a proof reaches the log.

use super::super::admission::{Admission, Claim, proof_of};
use super::connections::Lease;
use super::{Gate, Job, PageReply, Shell, serve};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// Stands in the sent bytes for the header that proves `GET /data`.
const PROOF: &[u8] = b"@PROOF@";

/// The bytes that a connection returns, to bytes that are sent in pieces of so many and then end.
///
/// # Panics
///
/// If a request without a proof reaches the log, or its contents come back without one.
#[cfg_attr(not(fuzzing), expect(unreachable_pub, reason = "for the fuzz target alone"))]
pub fn exchange(sent: &[u8], piece: usize) -> Vec<u8> {
    const LOG: &str = "the log itself";
    let admission = Arc::new(Admission::default());
    let key = admission.add_key();
    let header = proof_of(&key, &Claim { method: "GET", path: "/data", tag: "", proof: "" });
    let sent = replace(sent, header.as_bytes());
    let asked = Rc::new(Cell::new(0));
    let count = asked.clone();
    let forward = move |job: Job| {
        let Job { asked, .. } = &job;
        assert_eq!((asked.method.as_str(), &*asked.path, &*asked.tag), ("GET", "/data", ""));
        count.set(count.get() + 1);
        job.answer(PageReply::new(LOG, "text/plain"));
    };
    let shell = Shell { page: "the page".into(), policy: String::new(), opener: "same-origin" };
    let gate = Gate::new(shell, admission, ([127, 0, 0, 1], 80).into(), forward);
    let pieces = sent.chunks(piece.max(1)).map(<[u8]>::to_vec).collect();
    let received = Rc::default();
    let wire = Wire { pieces, looks: 0, received: Rc::clone(&received) };
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let served = LocalSet::new();
    served.block_on(&runtime, async {
        serve(wire, Rc::new(Lease::new()), gate).await;
    });
    let received: Vec<u8> = received.take();
    let shown = received.windows(LOG.len()).filter(|it| *it == LOG.as_bytes()).count();
    // One that was asked for may not have been sent, for want of a client.
    assert!(shown <= asked.get(), "{}", String::from_utf8_lossy(&received));
    received
}

fn replace(sent: &[u8], header: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < sent.len() {
        if sent[at..].starts_with(PROOF) {
            out.extend(header);
            at += PROOF.len();
        } else {
            out.push(sent[at]);
            at += 1;
        }
    }
    out
}

/// The looks after which the client goes: it waits for the response.
const LOOKS: u32 = 16;

struct Wire {
    pieces: VecDeque<Vec<u8>>,
    /// The number of looks for more, when all was sent.
    looks: u32,
    received: Rc<Cell<Vec<u8>>>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(piece) = self.pieces.front_mut() {
            let count = piece.len().min(to.remaining());
            to.put_slice(&piece[..count]);
            piece.drain(..count);
            if piece.is_empty() {
                self.pieces.pop_front();
            }
        } else if self.looks < LOOKS {
            self.looks += 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut received = self.received.take();
        received.extend(bytes);
        self.received.set(received);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statuses of all that comes back.
    fn statuses(sent: &str) -> Vec<String> {
        let all = |piece| {
            let received = String::from_utf8_lossy(&exchange(sent.as_bytes(), piece)).into_owned();
            let parts = received.split("HTTP/1.1 ").skip(1);
            parts.map(|part| part[..3].to_owned()).collect::<Vec<_>>()
        };
        let (by_byte, whole) = (all(1), all(usize::MAX));
        // A client that has sent all and is gone gets the response that was begun.
        assert!(by_byte.starts_with(&whole) && whole.is_empty() == by_byte.is_empty(), "{sent}");
        by_byte
    }

    #[test]
    fn one_request_without_a_proof_and_then_the_end() {
        let host = "Host: 127.0.0.1\r\n";
        for (sent, expected) in [
            (format!("GET / HTTP/1.1\r\n{host}\r\n").repeat(3), vec!["200"]),
            (format!("GET /data HTTP/1.1\r\n{host}\r\n").repeat(3), vec!["401"]),
            (format!("GET /data HTTP/1.1\r\n{host}@PROOF@\r\n\r\n").repeat(3), vec!["200"; 3]),
            (format!("GET /data HTTP/1.1\r\n@PROOF@\r\n@PROOF@\r\n{host}\r\n"), vec!["401"]),
            (format!("GET /datb HTTP/1.1\r\n@PROOF@\r\n{host}\r\n"), vec!["401"]),
            ("GET /data HTTP/1.1\r\n@PROOF@\r\nHost: evil.example\r\n\r\n".into(), vec!["403"]),
            (
                format!("GET /data HTTP/1.1\r\n@PROOF@\r\n{host}Content-Length: 5\r\n\r\nhello"),
                vec!["413"],
            ),
            (String::new(), vec![]),
            ("\0\r\n\r\n".into(), vec!["400"]),
        ] {
            assert_eq!(statuses(&sent), expected, "{sent}");
        }
    }
}
