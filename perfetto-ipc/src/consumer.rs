//! The consumer's side: starts a session, flushes, stops and reads it.
//!
//! A call waits for its reply; the one reply that comes by itself is that of [`Consumer::enable`],
//! which says that the session has ended.
//!
//! Invariants: no call waits longer than its timeout, whatever else the service sends meanwhile;
//! while a trace is read, a packet takes no longer. It takes memory for one packet, or for a reply
//! and what is decoded of it. Of a session that has ended, no more is read than its buffers can
//! have.

use crate::config::{nested, stop_timeout};
use crate::error::Error;
use crate::frame::{Body, Frame, FrameBuffer, FrameError, MAX_FRAME, MAX_REPLY, message};
use crate::packet::{MAX_PACKET, PacketBuffer};
use crate::places::Place;
use protozero::{DecodeError, Reader};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The time limit of a call that the service answers at once.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The bytes a second that a service sends at least, of a session that has ended.
const LEAST_RATE: u64 = 1 << 20;

/// About the bytes that a name takes beside its own, also one of no characters.
const NAME_BYTES: usize = 64;

/// A connection with the service as a consumer. The session that it starts ends with it.
#[derive(Debug)]
pub struct Consumer {
    socket: UnixStream,
    input: FrameBuffer,
    last_request: u64,
    service_id: u32,
    methods: Vec<(String, u32)>,
    /// The time limit of a call that the service answers at once, and of a packet.
    timeout: Duration,
    /// The request that started the session.
    enabled: Option<u64>,
    /// The time that programs have at its end.
    stop_timeout: Duration,
    /// The session's end, with the service's reason if something was wrong.
    ended: Option<Result<(), String>>,
}

/// A session to be cloned.
#[derive(Clone, Copy, Debug)]
pub enum CloneTarget<'a> {
    /// By its `unique_session_name`.
    Name(&'a str),
    /// By its number.
    Id(u64),
}

/// What comes of a session that has ended, and its limits.
struct Rest {
    /// The session has ended.
    has_begun: bool,
    /// It was ended since `give` had returned false, which it goes on to do.
    is_asked_for: bool,
    /// The most bytes.
    most: u64,
    bytes: u64,
    /// The time for which the service was waited for.
    waited: Duration,
}

impl Rest {
    fn later(most: u64) -> Self {
        Self { has_begun: false, is_asked_for: true, most, bytes: 0, waited: Duration::ZERO }
    }

    fn now(most: u64) -> Self {
        Self { has_begun: true, is_asked_for: false, ..Self::later(most) }
    }

    /// Counts a reply. False once there are too many bytes, or the service is too slow to have an
    /// end.
    fn take(&mut self, bytes: usize, waited: Duration, timeout: Duration) -> bool {
        self.bytes += bytes as u64;
        self.waited += waited;
        let most = timeout + Duration::from_secs(self.bytes / LEAST_RATE);
        self.bytes <= self.most && self.waited <= most
    }
}

/// A reply, with more of the same to come.
type Reply = (Vec<u8>, bool);

impl Consumer {
    /// Connects to the service that listens at `place`, if it may be trusted.
    pub fn connect(place: &Place) -> Result<Self, Error> {
        let stream = protolog_files::unconnected().map_err(Error::Connection)?;
        place.connect(&stream, TIMEOUT)?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(Error::Connection)?;
        Self::over(stream)
    }

    /// Asks the service at the other end of `socket` for what it can do.
    fn over(socket: UnixStream) -> Result<Self, Error> {
        let mut consumer = Self {
            socket,
            // A method takes more memory than bytes of a frame, and there are few.
            input: FrameBuffer::with_limit(MAX_FRAME),
            last_request: 0,
            service_id: 0,
            methods: Vec::new(),
            timeout: TIMEOUT,
            enabled: None,
            stop_timeout: Duration::ZERO,
            ended: None,
        };
        consumer.bind()?;
        consumer.input.set_limit(MAX_REPLY);
        Ok(consumer)
    }

    /// Starts a session with `config`, an encoded `TraceConfig`. What the service refuses of it
    /// shows in [`Self::wait_for_end`]; what it would misunderstand, [`crate::check_config`] finds.
    pub fn enable(&mut self, config: &[u8]) -> Result<(), Error> {
        let request = message(|to| {
            to.bytes(1, config);
        });
        self.stop_timeout = stop_timeout(config);
        self.enabled = Some(self.send("EnableTracing", &request)?);
        self.ended = None;
        Ok(())
    }

    /// Waits until the session has ended, for at most `limit`; false if it goes on.
    pub fn wait_for_end(&mut self, limit: Duration) -> Result<bool, Error> {
        let by = Instant::now() + limit;
        while self.ended.is_none() {
            match self.receive(by) {
                Ok(()) => {}
                Err(Error::Timeout) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        match self.ended.clone() {
            Some(Err(reason)) => Err(Error::Refused(reason)),
            _ => Ok(true),
        }
    }

    /// Has all producers commit what they have, for at most `limit`.
    pub fn flush(&mut self, limit: Duration) -> Result<(), Error> {
        let millis = limit.as_millis().try_into().unwrap_or(u32::MAX);
        // An explicit flush, by a consumer.
        let flags = 2 << 4 | 4;
        let request = message(|to| {
            to.uint32(1, millis).uint64(2, flags);
        });
        self.call("Flush", &request, limit + self.timeout).map(|_| ())
    }

    /// Returns the names of the data sources that programs offer the service now, once for each
    /// program.
    pub fn data_sources(&mut self) -> Result<Vec<String>, Error> {
        let id = self.send("QueryServiceState", &[])?;
        let by = Instant::now() + self.timeout;
        let (mut names, mut len) = (Vec::new(), 0);
        loop {
            let (reply, has_more) = self.reply_by(id, by)?;
            len += reply.len();
            if len <= MAX_REPLY {
                append_sources(&mut names, &reply).map_err(malformed)?;
            }
            let bytes = len.max(names.len() * NAME_BYTES);
            if bytes > MAX_REPLY {
                return Err(FrameError::TooLong { bytes, most: MAX_REPLY }.into());
            }
            if !has_more {
                return Ok(names);
            }
        }
    }

    /// Ends the session. Its trace can be read until the session is [freed](Self::free). False if
    /// the service did not end it within the time that programs have for that, and a while: then
    /// the end of the trace may be missing.
    pub fn disable(&mut self) -> Result<bool, Error> {
        self.call("DisableTracing", &[], self.timeout)?;
        self.wait_for_end(self.timeout.saturating_add(self.stop_timeout))
    }

    /// Takes the trace so far, and passes each packet, as a field of `Trace`, to `give`. Where as
    /// much is logged as is read, that has no end.
    pub fn read(&mut self, mut give: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Error> {
        self.read_bounded(None, |packet| give(packet).map(|()| true)).map(|_| ())
    }

    /// As [`Self::read`], until `give` returns false: then the session is ended, and the rest of it
    /// is taken as by [`Self::read_rest`]. Returns whether the trace is whole.
    pub fn read_while(
        &mut self,
        most: u64,
        give: impl FnMut(&[u8]) -> io::Result<bool>,
    ) -> Result<bool, Error> {
        self.read_bounded(Some(Rest::later(most)), give)
    }

    /// As [`Self::read`], of a session that has ended: of a service that sends more than `most`
    /// bytes, or takes longer than they need, no more is read, nor once `give` returns false.
    /// Returns whether the trace is whole; if it is not, the connection is of no use any more.
    pub fn read_rest(
        &mut self,
        most: u64,
        give: impl FnMut(&[u8]) -> io::Result<bool>,
    ) -> Result<bool, Error> {
        self.read_bounded(Some(Rest::now(most)), give)
    }

    fn read_bounded(
        &mut self,
        mut rest: Option<Rest>,
        mut give: impl FnMut(&[u8]) -> io::Result<bool>,
    ) -> Result<bool, Error> {
        let id = self.send("ReadBuffers", &[])?;
        let mut packet = PacketBuffer::with_limit(MAX_PACKET);
        let mut by = Instant::now() + self.timeout;
        loop {
            let begun = Instant::now();
            let (reply, has_more) = self.reply_by(id, by)?;
            let waited = begun.elapsed();
            let mut goes_on = true;
            for field in Reader::new(&reply) {
                let field = field.map_err(malformed)?;
                if field.number != 2 {
                    continue;
                }
                if let Some(whole) = packet.push(field.as_message().map_err(malformed)?)? {
                    goes_on &= give(&whole).map_err(Error::Output)?;
                    by = Instant::now() + self.timeout;
                }
            }
            if !has_more {
                return Ok(true);
            }
            match &mut rest {
                Some(rest) if rest.has_begun => {
                    let is_within = rest.take(reply.len(), waited, self.timeout);
                    if !is_within || !goes_on && !rest.is_asked_for {
                        return Ok(false);
                    }
                }
                Some(rest) if !goes_on => {
                    // Its reply comes among those that are read here, and nobody waits for it.
                    self.send("DisableTracing", &[])?;
                    rest.has_begun = true;
                }
                _ => {}
            }
        }
    }

    /// As [`Self::read`], to a vector.
    pub fn read_to_vec(&mut self) -> Result<Vec<u8>, Error> {
        let mut trace = Vec::new();
        self.read(|packet| {
            trace.extend_from_slice(packet);
            Ok(())
        })?;
        Ok(trace)
    }

    /// Ends the session, and gives up its trace.
    pub fn free(&mut self) -> Result<(), Error> {
        self.call("FreeBuffers", &[], self.timeout).map(|_| ())
    }

    /// Makes a copy of a session that goes on; then its trace, up to now, can be read here.
    pub fn clone_session(&mut self, which: CloneTarget<'_>) -> Result<(), Error> {
        let request = message(|to| match which {
            CloneTarget::Name(name) => {
                to.string(4, name);
            }
            CloneTarget::Id(id) => {
                to.uint64(1, id);
            }
        });
        let (reply, _) = self.call("CloneSession", &request, 2 * self.timeout)?;
        let (mut success, mut reason) = (false, String::new());
        for field in Reader::new(&reply) {
            let field = field.map_err(malformed)?;
            match field.number {
                1 => success = field.as_bool().map_err(malformed)?,
                2 => field.as_str().map_err(malformed)?.clone_into(&mut reason),
                _ => {}
            }
        }
        if success { Ok(()) } else { Err(Error::NotCloned(reason)) }
    }

    fn bind(&mut self) -> Result<(), Error> {
        let body = Body::Bind { service: "ConsumerPort" };
        self.last_request += 1;
        self.write(&Frame { request_id: self.last_request, body })?;
        let by = Instant::now() + self.timeout;
        loop {
            let frame = next_frame(&mut self.input, &mut self.socket, by)?;
            match Frame::decode(&frame)?.body {
                Body::BindReply { success: true, service_id, methods } => {
                    self.service_id = service_id;
                    self.methods = methods.iter().map(|it| (it.name.to_owned(), it.id)).collect();
                    return Ok(());
                }
                Body::BindReply { .. } | Body::RequestError(_) => {
                    return Err(Error::Missing("ConsumerPort".into()));
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, method: &str, args: &[u8], limit: Duration) -> Result<Reply, Error> {
        let id = self.send(method, args)?;
        self.reply(id, limit)
    }

    fn send(&mut self, method: &str, args: &[u8]) -> Result<u64, Error> {
        let known = self.methods.iter().find(|(name, _)| name == method);
        let method_id = known.ok_or_else(|| Error::Missing(method.to_owned()))?.1;
        self.last_request += 1;
        let request_id = self.last_request;
        let service_id = self.service_id;
        let body = Body::Invoke { service_id, method_id, args, drop_reply: false };
        self.write(&Frame { request_id, body })?;
        Ok(request_id)
    }

    fn write(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        // Nothing else that is sent can be so long.
        let bytes = frame.encode().map_err(|_| Error::Config("is longer than 128 KiB"))?;
        self.socket.write_all(&bytes).map_err(|error| {
            if is_timeout(&error) { Error::Timeout } else { Error::Connection(error) }
        })
    }

    /// Returns the next reply to a call.
    fn reply(&mut self, id: u64, limit: Duration) -> Result<Reply, Error> {
        self.reply_by(id, Instant::now() + limit)
    }

    fn reply_by(&mut self, id: u64, by: Instant) -> Result<Reply, Error> {
        loop {
            let frame = next_frame(&mut self.input, &mut self.socket, by)?;
            let frame = Frame::decode(&frame)?;
            if frame.request_id != id {
                self.note_end(&frame)?;
                continue;
            }
            match frame.body {
                Body::InvokeReply { success: true, has_more, reply } => {
                    return Ok((reply.to_vec(), has_more));
                }
                Body::RequestError(error) => return Err(Error::Refused(error.to_owned())),
                _ => return Err(Error::Refused("the call failed".into())),
            }
        }
    }

    /// Takes a frame that nobody waits for.
    fn receive(&mut self, by: Instant) -> Result<(), Error> {
        let frame = next_frame(&mut self.input, &mut self.socket, by)?;
        self.note_end(&Frame::decode(&frame)?)
    }

    fn note_end(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        if self.enabled != Some(frame.request_id) {
            return Ok(());
        }
        let mut error = String::new();
        match frame.body {
            Body::InvokeReply { success: true, reply, .. } => {
                for field in Reader::new(reply) {
                    let field = field.map_err(malformed)?;
                    if field.number == 3 {
                        field.as_str().map_err(malformed)?.clone_into(&mut error);
                    }
                }
            }
            Body::RequestError(reason) => reason.clone_into(&mut error),
            _ => "the session could not be started".clone_into(&mut error),
        }
        self.ended = Some(if error.is_empty() { Ok(()) } else { Err(error) });
        Ok(())
    }
}

impl AsFd for Consumer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Returns the next frame.
fn next_frame(
    input: &mut FrameBuffer,
    socket: &mut UnixStream,
    by: Instant,
) -> Result<Vec<u8>, Error> {
    loop {
        if let Some(frame) = input.next_frame()? {
            return Ok(frame.to_vec());
        }
        let left = by.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Timeout);
        }
        socket.set_read_timeout(Some(left)).map_err(Error::Connection)?;
        let mut bytes = [0; 16 * 1024];
        match socket.read(&mut bytes) {
            Ok(0) => return Err(Error::Closed),
            Ok(count) => input.push(&bytes[..count]),
            Err(error) if is_timeout(&error) => return Err(Error::Timeout),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Connection(error)),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Appends the names of the data sources in a `QueryServiceStateResponse`, and no more than one too
/// many.
fn append_sources(names: &mut Vec<String>, reply: &[u8]) -> Result<(), DecodeError> {
    // The state, its data sources, the descriptor of each, its name.
    nested(Reader::new(reply), 1, &mut |state| {
        nested(state, 2, &mut |source| {
            nested(source, 1, &mut |descriptor| {
                for field in descriptor {
                    let field = field?;
                    if field.number == 1 && names.len() <= MAX_REPLY / NAME_BYTES {
                        names.push(field.as_str()?.to_owned());
                    }
                }
                Ok(())
            })
        })
    })
}

fn malformed(error: DecodeError) -> Error {
    Error::Frame(error.into())
}

#[cfg(test)]
mod tests;
