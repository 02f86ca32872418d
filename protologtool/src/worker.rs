//! A process that stays and runs many commands: Bazel's persistent worker, in its default protocol.
//!
//! ```text
//! protologtool transform-protolog-calls --persistent_worker
//! standard input    length (varint) WorkRequest  { arguments 1, inputs 2, request_id 3, cancel 4 }
//! standard output   length (varint) WorkResponse { exit_code 1, output 2, request_id 3 }
//! ```
//!
//! A request's arguments come behind those of the command line. Requests are answered one after the
//! other, in their order. Invariants: standard output carries responses and nothing else; every
//! request has one response; requests share no state, so that each writes the files that a process
//! of its own would.

use crate::cli::{self, Exit};
use crate::system::Captured;
use protozero::wire::encode_varint;
use protozero::{DecodeError, Heap, Reader, Writer};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufRead, Read, Write};

/// The flag that makes a process a worker.
const FLAG: &str = "--persistent_worker";

/// The fields of a `WorkRequest`; its inputs and their digests are not looked at.
mod request {
    pub(super) const ARGUMENTS: u32 = 1;
    pub(super) const REQUEST_ID: u32 = 3;
    pub(super) const CANCEL: u32 = 4;
}

/// The fields of a `WorkResponse`.
mod response {
    pub(super) const EXIT_CODE: u32 = 1;
    pub(super) const OUTPUT: u32 = 2;
    pub(super) const REQUEST_ID: u32 = 3;
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WorkRequest {
    arguments: Vec<String>,
    id: i32,
    is_cancel: bool,
}

/// An input that is no sequence of requests.
#[derive(Debug)]
enum WorkerError {
    Io(io::Error),
    Decode(DecodeError),
    /// The length of a request is no varint.
    Length,
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Decode(error) => write!(f, "{error}"),
            Self::Length => f.write_str("the length of a request is no varint"),
        }
    }
}

impl From<io::Error> for WorkerError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<DecodeError> for WorkerError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// The arguments without the flag, if it is there: those that stand before the ones of each
/// request.
pub fn arguments(args: &[OsString]) -> Option<Vec<OsString>> {
    let is_worker = args.iter().any(|arg| arg == FLAG);
    is_worker.then(|| args.iter().filter(|arg| *arg != FLAG).cloned().collect())
}

/// Answers requests until the input ends. `args` are the arguments of the process, its name first.
pub fn serve(args: &[OsString], input: &mut dyn BufRead, output: &mut dyn Write) -> Exit {
    match answer_all(args, input, output) {
        Ok(()) => Exit::Done,
        Err(error) => {
            let failure = cli::Failure::new(format!("can't read a request: {error}"))
                .help("leave `--persistent_worker` to Bazel, with its default protocol, `proto`");
            crate::system::System::print_error(&crate::system::Real, &format!("{failure}\n"));
            Exit::Failed
        }
    }
}

fn answer_all(
    args: &[OsString],
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), WorkerError> {
    while let Some(request) = read_request(input)? {
        if request.is_cancel {
            // Requests are not taken before the one before is done: there is nothing to cancel.
            continue;
        }
        let all = args.iter().cloned().chain(request.arguments.iter().map(OsString::from));
        let system = Captured::default();
        let exit = cli::run(all, &system);
        output.write_all(&response_bytes(exit, &system.into_printed(), request.id))?;
        output.flush()?;
    }
    Ok(())
}

/// The next request; none at the end of the input.
fn read_request(input: &mut dyn BufRead) -> Result<Option<WorkRequest>, WorkerError> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let length = read_varint(input)?;
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let mut read = WorkRequest::default();
    for field in Reader::new(&bytes) {
        let field = field?;
        match field.number {
            request::ARGUMENTS => read.arguments.push(field.as_str()?.to_owned()),
            request::REQUEST_ID => read.id = field.as_i32()?,
            request::CANCEL => read.is_cancel = field.as_bool()?,
            _ => {}
        }
    }
    Ok(Some(read))
}

fn read_varint(input: &mut dyn BufRead) -> Result<u64, WorkerError> {
    let mut value = 0_u64;
    for shift in (0..32).step_by(7) {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(WorkerError::Length)
}

/// A response with its length.
fn response_bytes(exit: Exit, text: &str, request: i32) -> Vec<u8> {
    let mut writer = Writer::new(Heap::new());
    let mut message = writer.message();
    message
        .int32(response::EXIT_CODE, exit as i32)
        .string(response::OUTPUT, text)
        .int32(response::REQUEST_ID, request);
    let bytes = writer.into_vec().expect("the heap takes every write, and no size is announced");
    let (length, size) = encode_varint(bytes.len() as u64);
    [&length[..size], &bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str], id: i32, is_cancel: bool) -> Vec<u8> {
        let mut writer = Writer::new(Heap::new());
        let mut message = writer.message();
        for argument in arguments {
            message.string(request::ARGUMENTS, argument);
        }
        message.bytes(2, b"\x0a\x01x").int32(request::REQUEST_ID, id);
        message.bool(request::CANCEL, is_cancel);
        let bytes = writer.into_vec().unwrap();
        let (length, size) = encode_varint(bytes.len() as u64);
        [&length[..size], &bytes].concat()
    }

    #[test]
    fn every_request_has_a_response() {
        let input = [
            request(&["--help"], 0, false),
            request(&[], 7, true),
            request(&["no_such_file.java"], 9, false),
        ];
        let mut output = Vec::new();
        let args = ["protologtool".into(), "man".into()];
        let exit = serve(&args, &mut &input.concat()[..], &mut output);
        assert_eq!(exit, Exit::Done);
        let mut rest = &output[..];
        let mut responses = Vec::new();
        while !rest.is_empty() {
            let length = read_varint(&mut rest).unwrap() as usize;
            let (mut code, mut text, mut id) = (0, String::new(), 0);
            for field in Reader::new(&rest[..length]) {
                let field = field.unwrap();
                match field.number {
                    response::EXIT_CODE => code = field.as_i32().unwrap(),
                    response::OUTPUT => text = field.as_str().unwrap().to_owned(),
                    _ => id = field.as_i32().unwrap(),
                }
            }
            responses.push((code, text, id));
            rest = &rest[length..];
        }
        let [(0, help, 0), (2, error, 9)] = &responses[..] else { panic!("{responses:?}") };
        assert!(help.contains("Usage: protologtool man"), "{help}");
        assert!(error.starts_with("error: no command `no_such_file.java`"), "{error}");
    }

    #[test]
    fn damaged_input_ends_the_worker() {
        let whole = request(&["--help"], 0, false);
        for bytes in
            [&whole[..whole.len() - 1], b"\xff\xff\xff\xff\xff\xff", b"\x02\x0a\x7f", b"\x80"]
        {
            let mut output = Vec::new();
            let args = ["protologtool".into()];
            assert_eq!(serve(&args, &mut &bytes[..], &mut output), Exit::Failed, "{bytes:?}");
            assert!(output.is_empty());
        }
    }

    #[test]
    fn the_flag_is_taken_out() {
        let args = ["protologtool", "check", "--persistent_worker"].map(OsString::from);
        assert_eq!(arguments(&args), Some(args[..2].to_vec()));
        assert_eq!(arguments(&args[..2]), None);
    }
}
