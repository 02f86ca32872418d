//! Messages of an editor, by their header and content.
//!
//! Invariant: memory is in proportion to the bytes received, not to the length in a header.

use lsp_server::Message;
use std::io::{self, BufRead, Read};

/// The most bytes of a message: documents come whole.
const MOST: u64 = 256 << 20;
/// The most bytes of a line of a header.
const MOST_OF_LINE: u64 = 4096;

/// Reads the next message; none at the end.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut size = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MOST_OF_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let malformed = || invalid(format!("malformed header {line:?}"));
        let line = line.strip_suffix("\r\n").ok_or_else(malformed)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").ok_or_else(malformed)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            size = Some(value.parse::<u64>().map_err(|_| malformed())?);
        }
    }
    let size = size.ok_or_else(|| invalid("no Content-Length".to_owned()))?;
    if size > MOST {
        return Err(invalid(format!("it has {size} bytes, and may have {MOST}")));
    }
    let mut content = Vec::new();
    if (input.take(size).read_to_end(&mut content)? as u64) < size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let message = serde_json::from_slice(&content);
    message.map(Some).map_err(|error| invalid(format!("malformed content: {error}")))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_takes_no_memory_for_what_does_not_come() {
        let error = |text: &str| read(&mut text.as_bytes()).unwrap_err().to_string();
        let huge = "Content-Length: 99999999999999\r\n\r\n";
        assert_eq!(error(huge), "it has 99999999999999 bytes, and may have 268435456");
        assert_eq!(error("Content-Length: 200000000\r\n\r\n{}"), "unexpected end of file");
        let word = "Content-Length: -1\r\n\r\n";
        assert_eq!(error(word), "malformed header \"Content-Length: -1\\r\\n\"");
        assert!(error(&"x".repeat(9000)).starts_with("malformed header \"xxx"));
        assert_eq!(error("A: b\r\n\r\n"), "no Content-Length");
        let one = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        let message = read(&mut one.as_bytes()).unwrap();
        assert!(matches!(message, Some(Message::Notification(it)) if it.method == "exit"));
        assert!(read(&mut &b""[..]).unwrap().is_none());
    }
}
