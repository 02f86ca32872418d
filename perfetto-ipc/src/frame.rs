//! Frames: what goes over the socket, in both directions.
//!
//! Invariant: decoding takes any bytes; unknown frames and fields are skipped, as newer services
//! may send them.

use protozero::{DecodeError, Heap, Message, Reader, Writer};
use std::fmt;

/// The most bytes of a frame, its length included: what the service takes, and sends to producers.
pub const MAX_FRAME: usize = 128 * 1024;

/// The most bytes of a frame to a consumer. The service cuts packets of producers to fit
/// [`MAX_FRAME`], but sends each of its own as one piece: statistics of a session have some 40
/// bytes of each writer that there ever was.
pub const MAX_REPLY: usize = 64 * 1024 * 1024;

/// Bytes of the length before a frame.
const LENGTH: usize = 4;

/// Fields of `IPCFrame`.
mod ipc_frame {
    pub(super) const REQUEST_ID: u32 = 2;
    pub(super) const BIND_SERVICE: u32 = 3;
    pub(super) const BIND_SERVICE_REPLY: u32 = 4;
    pub(super) const INVOKE_METHOD: u32 = 5;
    pub(super) const INVOKE_METHOD_REPLY: u32 = 6;
    pub(super) const REQUEST_ERROR: u32 = 7;
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number by which a reply names its request.
    pub request_id: u64,
    /// The rest.
    pub body: Body<'a>,
}

/// The content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Asks for the methods of a service.
    Bind {
        /// `ProducerPort` or `ConsumerPort`.
        service: &'a str,
    },
    /// The methods of a service.
    BindReply {
        /// False if there is no such service.
        success: bool,
        /// The number of the service.
        service_id: u32,
        /// Its methods.
        methods: Vec<Method<'a>>,
    },
    /// Calls a method.
    Invoke {
        /// The number of the service.
        service_id: u32,
        /// The number of the method.
        method_id: u32,
        /// The request, encoded.
        args: &'a [u8],
        /// No reply is asked for.
        drop_reply: bool,
    },
    /// Answers a call.
    InvokeReply {
        /// False if the call failed.
        success: bool,
        /// More replies to the same call follow.
        has_more: bool,
        /// The reply, encoded.
        reply: &'a [u8],
    },
    /// A request was refused as a whole.
    RequestError(&'a str),
    /// Something newer.
    Unknown,
}

/// A method of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method<'a> {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: &'a str,
}

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// A frame of so many bytes, of which there may be at most `most`.
    TooLong {
        /// The bytes that it has.
        bytes: usize,
        /// The bytes that it may have.
        most: usize,
    },
    /// Bytes that are no protobuf message of this kind.
    Malformed(DecodeError),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes, most } => {
                write!(f, "a frame of {bytes} bytes, more than {most}")
            }
            Self::Malformed(error) => write!(f, "a malformed frame: {error}"),
        }
    }
}

impl std::error::Error for FrameError {}

impl From<DecodeError> for FrameError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl<'a> Frame<'a> {
    /// Decodes the bytes of a frame, without their length.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let (mut request_id, mut body) = (0, Body::Unknown);
        for field in Reader::new(bytes) {
            let field = field?;
            match field.number {
                ipc_frame::REQUEST_ID => request_id = field.as_u64()?,
                ipc_frame::BIND_SERVICE => body = decode_bind(field.as_message()?)?,
                ipc_frame::BIND_SERVICE_REPLY => body = decode_bind_reply(field.as_message()?)?,
                ipc_frame::INVOKE_METHOD => body = decode_invoke(field.as_message()?)?,
                ipc_frame::INVOKE_METHOD_REPLY => body = decode_reply(field.as_message()?)?,
                ipc_frame::REQUEST_ERROR => body = decode_error(field.as_message()?)?,
                _ => {}
            }
        }
        Ok(Self { request_id, body })
    }

    /// Encodes the frame with its length before it.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        let bytes = message(|to| self.append(to));
        let length = bytes.len();
        let most = MAX_FRAME - LENGTH;
        if length > most {
            return Err(FrameError::TooLong { bytes: length, most });
        }
        let mut frame = (length as u32).to_le_bytes().to_vec();
        frame.extend(bytes);
        Ok(frame)
    }

    fn append(&self, to: &mut Message<'_, Heap>) {
        to.uint64(ipc_frame::REQUEST_ID, self.request_id);
        match &self.body {
            Body::Bind { service } => {
                to.nested(ipc_frame::BIND_SERVICE).string(1, service);
            }
            Body::BindReply { success, service_id, methods } => {
                let mut reply = to.nested(ipc_frame::BIND_SERVICE_REPLY);
                reply.bool(1, *success).uint32(2, *service_id);
                for method in methods {
                    reply.nested(3).uint32(1, method.id).string(2, method.name);
                }
            }
            Body::Invoke { service_id, method_id, args, drop_reply } => {
                let mut invoke = to.nested(ipc_frame::INVOKE_METHOD);
                invoke.uint32(1, *service_id).uint32(2, *method_id).bytes(3, args);
                if *drop_reply {
                    invoke.bool(4, true);
                }
            }
            Body::InvokeReply { success, has_more, reply } => {
                let mut answer = to.nested(ipc_frame::INVOKE_METHOD_REPLY);
                answer.bool(1, *success).bool(2, *has_more).bytes(3, reply);
            }
            Body::RequestError(error) => {
                to.nested(ipc_frame::REQUEST_ERROR).string(1, error);
            }
            Body::Unknown => {}
        }
    }
}

/// Encodes a message that `fill` fills.
pub fn message(fill: impl FnOnce(&mut Message<'_, Heap>)) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    fill(&mut writer.message());
    // It fails for more than 256 MiB only, which no caller has.
    writer.into_vec().unwrap_or_default()
}

/// Puts frames together from bytes as they come.
#[derive(Debug)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// The frame that was returned last, which the next call removes.
    taken: usize,
    /// The most bytes of a frame, without its length.
    most: usize,
}

impl Default for FrameBuffer {
    fn default() -> Self {
        Self::with_limit(MAX_FRAME)
    }
}

impl FrameBuffer {
    /// Creates a buffer for frames of at most so many bytes. It holds what has come, not what a
    /// length promises.
    pub fn with_limit(most: usize) -> Self {
        Self { bytes: Vec::new(), taken: 0, most }
    }

    /// Takes frames of so many bytes from now on.
    pub fn set_limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Appends bytes from the socket.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns whether [`Self::next_frame`] has one.
    pub fn has_frame(&self) -> Result<bool, FrameError> {
        let Some((length, rest)) = self.bytes[self.taken..].split_first_chunk::<LENGTH>() else {
            return Ok(false);
        };
        let (bytes, most) = (u32::from_le_bytes(*length) as usize, self.most);
        if bytes > most {
            return Err(FrameError::TooLong { bytes, most });
        }
        Ok(rest.len() >= bytes)
    }

    /// Returns the next whole frame, without its length; none until more has come.
    pub fn next_frame(&mut self) -> Result<Option<&[u8]>, FrameError> {
        if !self.has_frame()? {
            return Ok(None);
        }
        self.bytes.drain(..std::mem::take(&mut self.taken));
        let Some((length, rest)) = self.bytes.split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        self.taken = LENGTH + length;
        Ok(rest.get(..length))
    }
}

fn decode_bind(fields: Reader<'_>) -> Result<Body<'_>, DecodeError> {
    let mut service = "";
    for field in fields {
        let field = field?;
        if field.number == 1 {
            service = field.as_str()?;
        }
    }
    Ok(Body::Bind { service })
}

fn decode_bind_reply(fields: Reader<'_>) -> Result<Body<'_>, DecodeError> {
    let (mut success, mut service_id, mut methods) = (false, 0, Vec::new());
    for field in fields {
        let field = field?;
        match field.number {
            1 => success = field.as_bool()?,
            2 => service_id = field.as_u32()?,
            3 => {
                let mut method = Method { id: 0, name: "" };
                for field in field.as_message()? {
                    let field = field?;
                    match field.number {
                        1 => method.id = field.as_u32()?,
                        2 => method.name = field.as_str()?,
                        _ => {}
                    }
                }
                methods.push(method);
            }
            _ => {}
        }
    }
    Ok(Body::BindReply { success, service_id, methods })
}

fn decode_invoke(fields: Reader<'_>) -> Result<Body<'_>, DecodeError> {
    let (mut service_id, mut method_id, mut args, mut drop_reply) = (0, 0, &[][..], false);
    for field in fields {
        let field = field?;
        match field.number {
            1 => service_id = field.as_u32()?,
            2 => method_id = field.as_u32()?,
            3 => args = field.as_bytes()?,
            4 => drop_reply = field.as_bool()?,
            _ => {}
        }
    }
    Ok(Body::Invoke { service_id, method_id, args, drop_reply })
}

fn decode_reply(fields: Reader<'_>) -> Result<Body<'_>, DecodeError> {
    let (mut success, mut has_more, mut reply) = (false, false, &[][..]);
    for field in fields {
        let field = field?;
        match field.number {
            1 => success = field.as_bool()?,
            2 => has_more = field.as_bool()?,
            3 => reply = field.as_bytes()?,
            _ => {}
        }
    }
    Ok(Body::InvokeReply { success, has_more, reply })
}

fn decode_error(fields: Reader<'_>) -> Result<Body<'_>, DecodeError> {
    let mut error = "";
    for field in fields {
        let field = field?;
        if field.number == 1 {
            error = field.as_str()?;
        }
    }
    Ok(Body::RequestError(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> Vec<Frame<'static>> {
        let bodies = [
            Body::Bind { service: "ProducerPort" },
            Body::BindReply {
                success: true,
                service_id: 3,
                methods: vec![Method { id: 1, name: "Sync" }, Method { id: 2, name: "" }],
            },
            Body::Invoke { service_id: 3, method_id: 2, args: b"ab", drop_reply: true },
            Body::Invoke { service_id: 3, method_id: 2, args: b"", drop_reply: false },
            Body::InvokeReply { success: true, has_more: true, reply: b"x" },
            Body::RequestError("no such service"),
            Body::Unknown,
        ];
        bodies.into_iter().zip(1..).map(|(body, request_id)| Frame { request_id, body }).collect()
    }

    #[test]
    fn frames_come_back_however_they_are_cut() {
        let bytes: Vec<u8> = all().iter().flat_map(|frame| frame.encode().unwrap()).collect();
        for step in [1, 2, 3, 7, bytes.len()] {
            let (mut buffer, mut count) = (FrameBuffer::default(), 0);
            for part in bytes.chunks(step) {
                buffer.push(part);
                while let Some(frame) = buffer.next_frame().unwrap() {
                    assert_eq!(Frame::decode(frame).unwrap(), all()[count], "step {step}");
                    count += 1;
                }
            }
            assert_eq!(count, all().len());
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused() {
        let mut buffer = FrameBuffer::default();
        buffer.push(&(MAX_FRAME as u32 + 1).to_le_bytes());
        let (bytes, most) = (MAX_FRAME + 1, MAX_FRAME);
        assert_eq!(buffer.next_frame(), Err(FrameError::TooLong { bytes, most }));
        let mut buffer = FrameBuffer::with_limit(bytes);
        buffer.push(&(bytes as u32).to_le_bytes());
        buffer.push(&vec![7; bytes]);
        assert_eq!(buffer.next_frame(), Ok(Some(&vec![7; bytes][..])));
        let args = vec![0; MAX_FRAME];
        let body = Body::Invoke { service_id: 1, method_id: 1, args: &args, drop_reply: false };
        assert!(matches!(Frame { request_id: 1, body }.encode(), Err(FrameError::TooLong { .. })));
    }

    /// A frame with these bytes in it.
    fn frame() -> impl Strategy<Value = (u64, Vec<u8>)> {
        (any::<u64>(), prop::collection::vec(any::<u8>(), 0..300))
    }

    fn reply((request_id, reply): &(u64, Vec<u8>)) -> Frame<'_> {
        let body = Body::InvokeReply { success: true, has_more: false, reply };
        Frame { request_id: *request_id, body }
    }

    proptest! {
        #[test]
        fn any_frames_come_back_however_they_are_cut(
            frames in prop::collection::vec(frame(), 0..12),
            cuts in prop::collection::vec(1_usize..400, 1..12),
        ) {
            let bytes: Vec<u8> =
                frames.iter().flat_map(|it| reply(it).encode().expect("a frame")).collect();
            let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
            let (mut buffer, mut found) = (FrameBuffer::default(), 0);
            while !rest.is_empty() {
                let (part, after) = rest.split_at(rest.len().min(*cuts.next().expect("a cut")));
                buffer.push(part);
                rest = after;
                while let Some(frame) = buffer.next_frame().expect("no error") {
                    prop_assert_eq!(Frame::decode(frame), Ok(reply(&frames[found])));
                    found += 1;
                }
            }
            prop_assert_eq!(found, frames.len());
            prop_assert_eq!(buffer.next_frame(), Ok(None));
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Frame::decode(&bytes);
            let mut buffer = FrameBuffer::default();
            buffer.push(&bytes);
            while let Ok(Some(frame)) = buffer.next_frame() {
                let _ = Frame::decode(frame);
            }
        }
    }
}
