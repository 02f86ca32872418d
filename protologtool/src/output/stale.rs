//! The check that a stored dictionary is still that of the sources.

use super::{cant_read, read_dictionary};
use crate::differences;
use crate::exit::Failure;
use crate::system::System;
use std::path::Path;
use viewer_config::{Dictionary, Format, Statements};

/// The difference from the dictionary in the file to `current`, as a unified difference of their
/// JSON forms, which hold all that is in any form; none if they are the same. Where JSON is to be
/// that of `aosp`, a file in JSON is compared byte for byte.
pub(crate) fn difference(
    path: &Path,
    current: &Dictionary,
    aosp: Option<&Statements>,
    system: &dyn System,
) -> Result<Option<String>, Failure> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let of_aosp = aosp.filter(|_| Format::of_path(path) == Some(Format::Json));
    let [kept, current] = match of_aosp.and_then(|aosp| aosp.to_bytes(Format::Json)) {
        Some(current) => {
            let kept = system.read(path).map_err(|error| cant_read(path, &error))?;
            [text(&kept), text(&current)]
        }
        None => [&read_dictionary(path, system)?, current]
            .map(|dictionary| text(&dictionary.to_bytes(Format::Json))),
    };
    if kept == current {
        return Ok(None);
    }
    let header = format!("--- {}\n+++ of the sources\n", path.display());
    let hunks = differences::unified(kept.as_bytes(), current.as_bytes());
    Ok(Some(header + &String::from_utf8_lossy(&hunks)))
}
