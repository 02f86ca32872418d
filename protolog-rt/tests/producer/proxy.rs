//! A proxy between a producer and the real service, which changes how the producer introduces
//! itself: so the service does what it does for producers of other kinds.

use perfetto_ipc::frame::{Body, Frame, FrameBuffer, message};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

/// A change to the introduction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// None.
    Nothing,
    /// The service is not to look into chunks that were not committed.
    NoScraping,
    /// The producer has no memory of its own.
    NoMemory,
    /// Likewise, and it asks for so many bytes.
    LittleMemory(u32),
}

impl Change {
    /// Fields that are appended to `InitializeConnectionRequest`: the last of a field counts.
    fn fields(self) -> Vec<u8> {
        message(|to| match self {
            Self::Nothing => {}
            Self::NoScraping => _ = to.uint32(4, 2),
            Self::NoMemory => _ = to.bool(6, false),
            Self::LittleMemory(size) => _ = to.uint32(2, size).bool(6, false),
        })
    }

    fn passes_files(self) -> bool {
        !matches!(self, Self::NoMemory | Self::LittleMemory(_))
    }
}

/// Starts a proxy to the service at `service`, and returns its socket. It runs until the test
/// program ends.
pub(crate) fn start(service: PathBuf, dir: &Path, change: Change) -> PathBuf {
    let socket = dir.join(format!("proxy-{change:?}"));
    let listener = UnixListener::bind(&socket).expect("listen");
    thread::spawn(move || {
        for producer in listener.incoming() {
            let (producer, service) =
                (producer.expect("a producer"), UnixStream::connect(&service));
            let service = service.expect("connect to the service");
            let (from, to) = (service.try_clone(), producer.try_clone());
            let (from, to) = (from.expect("a copy"), to.expect("a copy"));
            thread::spawn(move || relay(&from, &to));
            thread::spawn(move || introduce(&producer, &service, change));
        }
    });
    socket
}

/// Passes on everything.
fn relay(from: &UnixStream, to: &UnixStream) {
    while let Ok((bytes, file)) = receive(from) {
        if bytes.is_empty() || send(to, &bytes, file.as_ref()).is_err() {
            break;
        }
    }
    close(from, to);
}

/// Passes on the frames of a producer, the first request of which introduces it.
fn introduce(from: &UnixStream, to: &UnixStream, change: Change) {
    let (mut input, mut file) = (FrameBuffer::default(), None);
    let mut is_introduced = false;
    while let Ok((bytes, new)) = receive(from) {
        input.push(&bytes);
        file = new.or(file);
        while let Some(bytes) = input.next_frame().expect("a frame") {
            let mut frame = Frame::decode(bytes).expect("a frame");
            let Frame {
                request_id,
                body: Body::Invoke { service_id, method_id, args, drop_reply },
            } = frame
            else {
                send(to, &frame.encode().expect("a frame"), None).ok();
                continue;
            };
            let changed = [args, &change.fields()].concat();
            if !is_introduced {
                let body = Body::Invoke { service_id, method_id, args: &changed, drop_reply };
                frame = Frame { request_id, body };
            }
            let file = file.take().filter(|_| change.passes_files());
            is_introduced = true;
            send(to, &frame.encode().expect("a frame"), file.as_ref()).ok();
        }
        if bytes.is_empty() {
            break;
        }
    }
    close(from, to);
}

fn close(one: &UnixStream, other: &UnixStream) {
    for socket in [one, other] {
        // It may be closed already.
        socket.shutdown(Shutdown::Both).ok();
    }
}

fn receive(socket: &UnixStream) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut bytes = vec![0; 64 << 10];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut file = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            file = files.last();
        }
    }
    bytes.truncate(received.bytes);
    Ok((bytes, file))
}

/// Sends all bytes, and a file along with the first.
pub(crate) fn send(socket: &UnixStream, bytes: &[u8], file: Option<&OwnedFd>) -> io::Result<()> {
    let files: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
    }
    let (mut rest, flags) = (bytes, SendFlags::NOSIGNAL);
    while !rest.is_empty() {
        let sent = sendmsg(socket, &[IoSlice::new(rest)], &mut control, flags)?;
        control.clear();
        rest = &rest[sent..];
    }
    Ok(())
}
