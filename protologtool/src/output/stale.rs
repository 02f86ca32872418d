//! Whether a dictionary that was kept is still the one of the sources.

use super::cant_read;
use crate::cli::Failure;
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
    let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
    let kept = Dictionary::read(&bytes).map_err(|error| {
        Failure::new(format!("can't read `{}`: {error}", path.display()))
            .help(error.help().to_owned())
    })?;
    let [kept, current] = [&kept.dictionary, current]
        .map(|dictionary| String::from_utf8_lossy(&dictionary.to_bytes(Format::Json)).into_owned());
    if kept == current {
        return Ok(None);
    }
    let (name, diff) = (path.display().to_string(), TextDiff::from_lines(&kept, &current));
    Ok(Some(diff.unified_diff().header(&name, "of the sources").to_string()))
}
