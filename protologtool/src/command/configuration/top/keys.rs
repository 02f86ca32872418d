//! Keys, as a terminal sends them.
//!
//! Invariant: pasted text is no key, in however many parts it comes.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Escape,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-C, Ctrl-D, or the end of the input.
    End,
}

/// The marks between which terminals send pasted text.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Reads keys from the bytes of the terminal.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    /// The beginning of a sequence that is not whole yet.
    held: Vec<u8>,
    is_in_paste: bool,
}

impl KeyReader {
    /// The keys in the bytes that the terminal sent at once, which more may follow without a pause.
    pub(super) fn read(&mut self, bytes: &[u8], may_follow: bool) -> Vec<Key> {
        let all = [std::mem::take(&mut self.held), bytes.to_vec()].concat();
        let (mut rest, mut keys) = (&all[..], Vec::new());
        while let Some((&first, after)) = rest.split_first() {
            if self.is_in_paste {
                rest = self.skip_paste(rest);
                continue;
            }
            if let Some(pasted) = rest.strip_prefix(PASTE_BEGINS) {
                (self.is_in_paste, rest) = (true, pasted);
                continue;
            }
            let Some(length) = length(first, after) else {
                // The rest of a sequence comes with the next bytes; Escape itself is alone.
                if rest.len() > 1 || may_follow {
                    self.held = rest.to_vec();
                    break;
                }
                keys.push(Key::Escape);
                break;
            };
            keys.extend(key(first, after));
            rest = &after[length..];
        }
        keys
    }

    /// The bytes after the paste, or the beginning of its end is held.
    fn skip_paste<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = bytes.windows(PASTE_ENDS.len()).position(|part| part == PASTE_ENDS);
        if let Some(end) = end {
            self.is_in_paste = false;
            return &bytes[end + PASTE_ENDS.len()..];
        }
        let begun = (1..PASTE_ENDS.len()).rev().find(|len| bytes.ends_with(&PASTE_ENDS[..*len]));
        self.held = bytes[bytes.len() - begun.unwrap_or(0)..].to_vec();
        &[]
    }
}

/// The key that begins with this byte; none of those that are not known.
fn key(first: u8, rest: &[u8]) -> Option<Key> {
    match (first, rest) {
        (0x1b, [b'[' | b'O', b'A', ..]) => Some(Key::Up),
        (0x1b, [b'[' | b'O', b'B', ..]) => Some(Key::Down),
        (0x1b, [b'[', b'5', b'~', ..]) => Some(Key::PageUp),
        (0x1b, [b'[', b'6', b'~', ..]) => Some(Key::PageDown),
        (3 | 4, _) => Some(Key::End),
        (26, _) => Some(Key::Suspend),
        (b' '..=b'~', _) => Some(Key::Char(char::from(first))),
        _ => None,
    }
}

/// The number of bytes after the first one that are of the same key; none if they are not all
/// there.
fn length(first: u8, rest: &[u8]) -> Option<usize> {
    match (first, rest) {
        (0x1b, [] | [b'O']) => None,
        (0x1b, [b'O', _, ..]) => Some(2),
        (0x1b, [b'[', more @ ..]) => {
            more.iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|end| end + 2)
        }
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        KeyReader::default().read(bytes, false)
    }

    #[test]
    fn keys_are_distinguished() {
        let all = [Key::Char('q'), Key::Up, Key::Down, Key::Down, Key::Suspend, Key::End];
        assert_eq!(keys(b"q\x1b[A\x1bOB\x1b[3~\x1b[B\x1a\x03"), all);
        assert_eq!(keys(b"\x1b[5~\x1b[6~\x1b[5;5~"), [Key::PageUp, Key::PageDown]);
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b["), []);
        assert_eq!(keys("\u{e4}t".as_bytes()), [Key::Char('t')]);
    }

    #[test]
    fn what_is_pasted_is_no_key_however_it_is_cut() {
        let all = b"k\x1b[200~re\x1b[Aq\x03\x1b[20y\x1b[201~j\x1b[200~t\x1b[201~\x1b[Bp";
        let expected = [Key::Char('k'), Key::Char('j'), Key::Down, Key::Char('p')];
        for first in 0..all.len() {
            for second in first..all.len() {
                let mut reader = KeyReader::default();
                let parts = [&all[..first], &all[first..second], &all[second..]];
                let read = parts.map(|part| reader.read(part, true));
                assert_eq!(read.concat(), expected, "{first} {second}");
            }
        }
    }
}
