//! A trace in memory as an input of `merge`.

use protolog_reader::MergeInput;
use std::io::{self, Cursor, Read};

pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl MergeInput for Input<'_> {
    fn name(&self) -> &'static str {
        "input"
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Cursor::new(self.0)))
    }
}
