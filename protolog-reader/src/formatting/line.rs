//! A line that is put together from short pieces, in an array of a fixed size.
//!
//! A piece is copied by a fixed number of bytes, to a place that is in the array whatever the
//! length of the line so far: nothing looks whether there is room, and no copy takes a call.
//! Whether the line has fitted is asked once, at its end.
//!
//! Invariant: a line that is longer than the array is never handed out; what the array has then
//! means nothing.

/// The most bytes of a line, a power of two.
pub(crate) const ROOM: usize = 1 << 14;

/// The size of a copy, in bytes.
pub(crate) const COPY: usize = 32;

/// The memory of lines that are made one after the other.
#[derive(Debug)]
pub(crate) struct LineRoom(Box<[u8; ROOM + COPY]>);

impl Default for LineRoom {
    fn default() -> Self {
        let bytes = vec![0; ROOM + COPY].into_boxed_slice();
        Self(bytes.try_into().expect("it has this size"))
    }
}

impl LineRoom {
    /// Begins a line.
    #[inline]
    pub(crate) fn begin(&mut self) -> Line<'_> {
        Line { bytes: &mut self.0, len: 0 }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    bytes: &'a mut [u8; ROOM + COPY],
    /// The length, also of a line that does not fit.
    len: usize,
}

impl<'a> Line<'a> {
    /// The line; none if it does not fit.
    #[inline]
    pub(crate) fn finish(self) -> Option<&'a [u8]> {
        if self.len <= ROOM { self.bytes.get(..self.len) } else { None }
    }

    /// The length so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends the first `len` bytes of a piece.
    #[inline]
    pub(crate) fn push(&mut self, piece: &[u8; COPY], len: usize) {
        self.put(piece);
        self.len += len;
    }

    /// Appends the first `len` bytes of a few.
    #[inline]
    pub(crate) fn push_few<const N: usize>(&mut self, few: [u8; N], len: usize) {
        self.put(&few);
        self.len += len;
    }

    #[inline]
    pub(crate) fn push_byte(&mut self, byte: u8) {
        self.put(&[byte]);
        self.len += 1;
    }

    /// Appends bytes of any number.
    pub(crate) fn push_slice(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(place) = self.bytes.get_mut(self.len..end) {
            place.copy_from_slice(bytes);
        }
        self.len = end;
    }

    /// Appends the first bytes of a window, which has them and the bytes after them.
    #[inline]
    pub(crate) fn push_start(&mut self, window: &[u8], len: usize) {
        match window.first_chunk() {
            Some(piece) if len <= COPY => self.push(piece, len),
            _ => self.push_slice(window.get(..len).unwrap_or(window)),
        }
    }

    /// Appends a part of the line again.
    #[inline]
    pub(crate) fn push_again(&mut self, start: usize, len: usize) {
        let mut at = 0;
        while len - at > COPY {
            let piece = self.piece(start + at);
            self.push(&piece, COPY);
            at += COPY;
        }
        let piece = self.piece(start + at);
        self.push(&piece, len - at);
    }

    /// Shortens the line by zeros at its end; another digit stands before them.
    #[inline]
    pub(crate) fn drop_zeros(&mut self) {
        while self.len > 0 && self.bytes[(self.len - 1) % ROOM] == b'0' {
            self.len -= 1;
        }
    }

    /// Pads what begins at `start`, a number, to a width: zeros follow its sign, spaces come before
    /// it.
    #[inline]
    pub(crate) fn pad(&mut self, start: usize, width: u8, are_zeros: bool) {
        let missing = usize::from(width).saturating_sub(self.len - start);
        if missing > 0 {
            self.insert(start, missing, are_zeros);
        }
    }

    fn insert(&mut self, start: usize, missing: usize, are_zeros: bool) {
        let has_sign = are_zeros && self.bytes[start % ROOM] == b'-';
        let start = start + usize::from(has_sign);
        // What is padded is shorter than a width of eight bits.
        let (mut moved, len) = ([0; 256], self.len - start);
        for at in (0..len).step_by(COPY) {
            let piece = self.piece(start + at);
            if let Some(place) = moved.get_mut(at..at + COPY) {
                place.copy_from_slice(&piece);
            }
        }
        self.len = start;
        let filler = [if are_zeros { b'0' } else { b' ' }; COPY];
        for at in (0..missing).step_by(COPY) {
            self.push(&filler, COPY.min(missing - at));
        }
        self.push_start(&moved, len);
    }

    /// The bytes from a place on, as far as they are there.
    #[inline]
    fn piece(&self, at: usize) -> [u8; COPY] {
        let mut piece = [0; COPY];
        let at = at % ROOM;
        piece.copy_from_slice(&self.bytes[at..at + COPY]);
        piece
    }

    #[inline]
    fn put<const N: usize>(&mut self, piece: &[u8; N]) {
        const { assert!(N <= COPY, "it may stand right before the end") };
        let at = self.len % ROOM;
        self.bytes[at..at + N].copy_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_stand_behind_each_other() {
        let text = "0123456789".repeat(7);
        let mut room = LineRoom::default();
        for len in 0..text.len() {
            let mut line = room.begin();
            line.push_byte(b'<');
            line.push_start(text.as_bytes(), len);
            line.push_start(&text.as_bytes()[text.len() - len..], len);
            line.push_again(1, len);
            line.push_few(*b"> ", 1);
            let end = &text[text.len() - len..];
            let expected = format!("<{}{end}{}>", &text[..len], &text[..len]);
            assert_eq!(line.finish().unwrap(), expected.as_bytes());
        }
    }

    #[test]
    fn a_line_is_whole_or_none() {
        let mut room = LineRoom::default();
        for (len, fits) in [(ROOM - 1, true), (ROOM, true), (ROOM + 1, false), (3 * ROOM, false)] {
            let text = vec![b'a'; len];
            let mut line = room.begin();
            line.push_slice(&text);
            assert_eq!(line.finish(), fits.then_some(&*text), "{len} at once");
            let mut line = room.begin();
            text.chunks(20).for_each(|part| {
                let mut piece = [b'b'; COPY];
                piece[..part.len()].copy_from_slice(part);
                line.push(&piece, part.len());
            });
            assert_eq!(line.finish(), fits.then_some(&*text), "{len} by pieces");
            let mut line = room.begin();
            line.push_slice(&text[..len / 2]);
            line.push_again(0, len - len / 2);
            line.pad(0, 255, true);
            assert_eq!(line.finish().is_some(), fits, "{len} again");
        }
    }

    #[test]
    fn padding_stands_where_it_belongs() {
        let mut room = LineRoom::default();
        for width in 0..=u8::MAX {
            for number in ["-12", "5", "-123456789012345678901234567890.1234567890123456789"] {
                for are_zeros in [false, true] {
                    let mut line = room.begin();
                    line.push_byte(b' ');
                    line.push_slice(number.as_bytes());
                    line.pad(1, width, are_zeros);
                    let width = usize::from(width);
                    let (sign, digits) = match number.strip_prefix('-') {
                        Some(digits) => ("-", digits),
                        None => ("", number),
                    };
                    let zeros = width.saturating_sub(sign.len());
                    let expected = if are_zeros {
                        format!(" {sign}{digits:0>zeros$}")
                    } else {
                        format!(" {number:>width$}")
                    };
                    let found = line.finish().unwrap();
                    assert_eq!(str::from_utf8(found), Ok(&*expected));
                }
            }
        }
    }
}
