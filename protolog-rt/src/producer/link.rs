//! The connection with the service: requests out, frames in.
//!
//! Invariant: requests are sent by one thread at a time: by the one that connects, and then by the
//! one that forwards ([`super::sender`]).

use super::commands::takes_our_memory;
use super::sender::{Sender, is_closed, problem, taken_away};
use crate::sys::close_on_fork::CloseOnFork;
use crate::sys::file::{memory_file, never_shrinks};
use crate::sys::mapping::Mapping;
use crate::sys::poll::{Polled, poll};
use crate::sys::process::program;
use crate::sys::socket::receive;
use perfetto_ipc::frame::{Body, Frame, FrameBuffer, message};
use perfetto_ipc::places::Place;
use protolog_shmem::{Memory, PAGE, ServiceMemory};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The size of the memory that is shared with the service, in bytes.
pub(super) const MEMORY: usize = 2 << 20;

/// The most memory that a service gives, in bytes.
const MAX_MEMORY: usize = 32 << 20;

/// The time that the service has to accept the connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest for which a session goes on after the program has closed the descriptor.
const LOOK: Duration = Duration::from_secs(1);
/// The longest for which a connection without a session does.
const IDLE_LOOK: Duration = Duration::from_secs(5);

/// The name of the data source.
const DATA_SOURCE: &str = "android.protolog";

/// Value of `SMBScrapingMode`: the service looks into chunks that were not committed.
const SCRAPING_ENABLED: u32 = 1;

/// The way in.
#[derive(Debug)]
pub(super) struct Receiver {
    socket: Arc<CloseOnFork<UnixStream>>,
    input: FrameBuffer,
    /// The last file that came along.
    file: Option<CloseOnFork<File>>,
    /// A file may be memory that is needed. Others are closed.
    takes_file: bool,
}

/// An open connection that the service has accepted.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// The memory of this process, if the service takes it; otherwise the service gives its own.
    pub(super) memory: Option<ServiceMemory>,
    /// The request to which commands are replies.
    pub(super) commands: u64,
}

impl Link {
    /// Connects to the service that listens at `place`, and registers the data source.
    pub(super) fn connect(place: &Place) -> io::Result<Self> {
        // Listed before it is connected, which may wait, so that no forked child keeps it.
        let socket = Arc::new(CloseOnFork::new(protolog_files::unconnected)?);
        place.connect(&socket, TIMEOUT).map_err(not_connected)?;
        let sender = Sender::new(Arc::clone(&socket));
        let receiver = Receiver::new(socket);
        // A sandbox may have none; the service gives some then.
        let file = CloseOnFork::new(|| memory_file(c"protolog-perfetto", MEMORY as u64)).ok();
        // Before anybody is waited for: the program may close the descriptor meanwhile.
        let own = file.as_ref().and_then(CloseOnFork::if_open);
        let memory = own.map(|file| map(file, MEMORY)).transpose()?;
        let mut link = Self { sender, receiver, memory: None, commands: 0 };
        link.bind()?;
        if link.initialize(file.as_ref())? && memory.is_some() {
            link.memory = memory;
            link.receiver.refuse_files();
        }
        let source = message(|to| {
            // It reports its start and its stop, and clears incremental state when asked.
            to.nested(1).string(1, DATA_SOURCE).bool(2, true).bool(3, true).bool(4, true);
        });
        link.commands = link.sender.invoke("GetAsyncCommand", &[], None)?;
        link.sender.call("RegisterDataSource", &source)?;
        Ok(link)
    }

    /// A connection that is accepted already, for fuzz targets; commands are replies to `commands`.
    #[cfg(fuzzing)]
    pub(super) fn of_commands(
        socket: UnixStream,
        memory: ServiceMemory,
        commands: u64,
    ) -> io::Result<Self> {
        let socket = Arc::new(CloseOnFork::new(|| Ok(socket))?);
        const METHODS: [&str; 5] = [
            "CommitData",
            "RegisterTraceWriter",
            "UnregisterTraceWriter",
            "NotifyDataSourceStarted",
            "NotifyDataSourceStopped",
        ];
        let sender = Sender::of_methods(Arc::clone(&socket), &METHODS, commands);
        let receiver = Receiver::new(socket);
        Ok(Self { sender, receiver, memory: Some(memory), commands })
    }

    fn bind(&mut self) -> io::Result<()> {
        self.sender.bind()?;
        let by = Instant::now() + TIMEOUT;
        let (service_id, methods) = self.receiver.find(by, |frame| match frame.body {
            Body::BindReply { success: true, service_id, methods } => {
                let owned = methods.iter().map(|it| (it.name.to_owned(), it.id)).collect();
                Some(Ok((service_id, owned)))
            }
            Body::BindReply { .. } | Body::RequestError(_) => Some(Err("has no `ProducerPort`")),
            _ => None,
        })?;
        self.sender.set_service(service_id, methods);
        Ok(())
    }

    /// Introduces this process, with the memory in `file`, if there is some. Returns whether the
    /// service takes it.
    fn initialize(&mut self, file: Option<&CloseOnFork<File>>) -> io::Result<bool> {
        let name = program();
        let file = file.and_then(CloseOnFork::if_open);
        let request = message(|to| {
            to.uint32(1, PAGE as u32).uint32(2, MEMORY as u32).string(3, &name);
            to.uint32(4, SCRAPING_ENABLED)
                .bool(6, file.is_some())
                .string(8, concat!("protolog ", env!("CARGO_PKG_VERSION")));
        });
        let id = self.sender.invoke("InitializeConnection", &request, file)?;
        let by = Instant::now() + TIMEOUT;
        self.receiver.find(by, |frame| match frame.body {
            _ if frame.request_id != id => None,
            Body::InvokeReply { success: true, reply, .. } => {
                Some(takes_our_memory(reply).map_err(|_| "sent a malformed reply"))
            }
            _ => Some(Err("refused the connection")),
        })
    }
}

impl Receiver {
    fn new(socket: Arc<CloseOnFork<UnixStream>>) -> Self {
        Self { socket, input: FrameBuffer::default(), file: None, takes_file: true }
    }

    /// Closes files from now on: there is memory.
    fn refuse_files(&mut self) {
        (self.file, self.takes_file) = (None, false);
    }

    /// Waits for the next frame, and passes it to `take`. Now and then somebody looks whether the
    /// socket is still this one: the kernel keeps it open for who waits, and its service would not
    /// know that nothing comes any more.
    pub(super) fn next<T>(
        &mut self,
        has_session: bool,
        take: impl FnOnce(Frame<'_>) -> T,
    ) -> io::Result<T> {
        self.next_by(None, if has_session { LOOK } else { IDLE_LOOK }, take)
    }

    /// Likewise, until `by`, if there is a limit; otherwise with a look after each `look`.
    fn next_by<T>(
        &mut self,
        by: Option<Instant>,
        look: Duration,
        take: impl FnOnce(Frame<'_>) -> T,
    ) -> io::Result<T> {
        loop {
            // Asked twice, since a borrow that is returned from a loop lasts.
            if self.input.has_frame().map_err(malformed)? {
                let bytes = self.input.next_frame().map_err(malformed)?.unwrap_or_default();
                return Ok(take(Frame::decode(bytes).map_err(malformed)?));
            }
            let Some(socket) = self.socket.if_open() else { return Err(taken_away()) };
            let limit = by.map_or(Ok(look), time_until)?;
            // Waited for here and not in the read: after it the number may be another file's.
            match poll(&[Polled::read(socket.as_fd())], Some(limit.as_millis() as u32 + 1)) {
                Ok(ready) if ready.contains(&true) => {}
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => continue,
            }
            let Some(socket) = self.socket.if_open() else { return Err(taken_away()) };
            let mut bytes = [0; 16 * 1024];
            match receive(socket, &mut bytes) {
                Ok((0, _)) => return Err(problem("closed the connection")),
                Ok((count, file)) => {
                    self.input.push(&bytes[..count]);
                    if let Some(file) = file.filter(|_| self.takes_file) {
                        self.file = Some(CloseOnFork::new(|| Ok(file))?);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if is_closed(&error) => return Err(problem("closed the connection")),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the memory that came along, with pages of `page_kb` KiB.
    pub(super) fn take_memory(&mut self, page_kb: u32) -> io::Result<ServiceMemory> {
        let file = self.file.take().ok_or_else(|| problem("gives no file with its memory"))?;
        let file = file.if_open().ok_or_else(taken_away)?;
        if page_kb as usize * 1024 != PAGE {
            return Err(problem(&format!("gives memory with pages of {page_kb} KiB")));
        }
        let len = lasting_size(file)?;
        if !(PAGE..=MAX_MEMORY).contains(&len) {
            return Err(problem(&format!("gives {len} bytes of memory")));
        }
        let memory = map(file, len)?;
        self.refuse_files();
        Ok(memory)
    }

    /// Waits until `by` for a frame of which `take` makes something, and skips others.
    fn find<T>(
        &mut self,
        by: Instant,
        mut take: impl FnMut(Frame<'_>) -> Option<Result<T, &'static str>>,
    ) -> io::Result<T> {
        loop {
            // Who sends other frames without end does not answer either.
            time_until(by)?;
            if let Some(found) = self.next_by(Some(by), LOOK, &mut take)? {
                return found.map_err(problem);
            }
        }
    }
}

/// Returns the time that the service has until `by`; an error once there is none.
fn time_until(by: Instant) -> io::Result<Duration> {
    let left = by.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(problem("does not answer")) } else { Ok(left) }
}

/// Returns the size of memory that the service gives, in bytes, which it can't take away.
fn lasting_size(file: &File) -> io::Result<usize> {
    // Otherwise a write to it might end this process. Before the size is read, which may change
    // until then.
    if !never_shrinks(file) {
        return Err(problem("gives memory that it may take away"));
    }
    Ok(file.metadata()?.len() as usize)
}

fn map(file: &File, len: usize) -> io::Result<ServiceMemory> {
    Ok(ServiceMemory::new(Memory::new(Mapping::shared(file, 0, len)?)))
}

/// Why there is no connection; whoever reads it knows the socket.
fn not_connected(error: perfetto_ipc::Error) -> io::Error {
    match error {
        perfetto_ipc::Error::Connect { error, .. } => error,
        perfetto_ipc::Error::OtherUser { user, variable, .. } => {
            problem(&format!("is of user {user}; to trust it, name its socket by `{variable}`"))
        }
        other => io::Error::other(other),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn malformed(error: perfetto_ipc::frame::FrameError) -> io::Error {
    problem(&format!("sent {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    use std::thread;

    /// The service may shrink its memory until it is sealed, at any moment.
    #[test]
    fn memory_has_the_size_that_was_read() {
        const LARGE: u64 = 1 << 20;
        let (mut refused, mut taken) = (0, 0);
        for round in 0..3000 {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let file = File::from(memfd_create("service", flags).expect("a file in memory"));
            ftruncate(&file, LARGE).expect("its size");
            let size = thread::scope(|scope| {
                scope.spawn(|| {
                    (0..round % 50 * 20).for_each(|_| std::hint::spin_loop());
                    ftruncate(&file, PAGE as u64).expect("its size");
                    fcntl_add_seals(&file, SealFlags::SHRINK).expect("seal it");
                });
                loop {
                    match lasting_size(&file) {
                        Ok(size) => break size as u64,
                        Err(_) => refused += 1,
                    }
                }
            });
            taken += 1;
            assert_eq!(size, PAGE as u64, "after {taken} sizes and {refused} refusals");
        }
    }
}
