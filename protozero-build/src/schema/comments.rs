//! The comments of a file, by the path of what they stand before: field numbers and indices through
//! the descriptor.

use protozero::scalar::Int32;
use protozero::{DecodeError, Reader};
use std::collections::HashMap;

/// The comments of a file.
#[derive(Debug, Default)]
pub(super) struct Comments(HashMap<Vec<i32>, String>);

impl Comments {
    /// Reads a `SourceCodeInfo`.
    pub(super) fn read(info: Reader<'_>) -> Result<Self, DecodeError> {
        let mut comments = HashMap::new();
        for location in info {
            let location = location?;
            if location.number != 1 {
                continue;
            }
            let (mut path, mut leading, mut trailing) = (Vec::new(), "", "");
            for field in location.as_message()? {
                let field = field?;
                match field.number {
                    1 => {
                        for step in field.values::<Int32>()? {
                            path.push(step?);
                        }
                    }
                    3 => leading = field.as_str()?,
                    4 => trailing = field.as_str()?,
                    _ => {}
                }
            }
            let text = if leading.is_empty() { trailing } else { leading };
            if !text.is_empty() {
                comments.insert(path, text.to_owned());
            }
        }
        Ok(Self(comments))
    }

    /// The comment of what is at a path; empty for none.
    pub(super) fn of(&self, path: &[i32]) -> String {
        self.0.get(path).cloned().unwrap_or_default()
    }
}
