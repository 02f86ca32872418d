//! The check that a stored dictionary is still that of the sources.

use super::read_dictionary;
use crate::exit::Failure;
use crate::system::System;
use similar::TextDiff;
use std::path::Path;
use viewer_config::{Dictionary, Format};

/// The difference from the dictionary in the file to `current`, as a unified difference of their JSON forms, which hold
/// all that is in any form; none if they are the same.
pub(crate) fn difference(
    path: &Path,
    current: &Dictionary,
    system: &dyn System,
) -> Result<Option<String>, Failure> {
    let kept = read_dictionary(path, system)?;
    let [kept, current] = [&kept, current]
        .map(|dictionary| String::from_utf8_lossy(&dictionary.to_bytes(Format::Json)).into_owned());
    if kept == current {
        return Ok(None);
    }
    let (name, diff) = (path.display().to_string(), TextDiff::from_lines(&kept, &current));
    Ok(Some(diff.unified_diff().header(&name, "of the sources").to_string()))
}
