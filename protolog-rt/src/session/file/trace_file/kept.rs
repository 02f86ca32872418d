//! Files of sessions that keep their messages, and snapshots: they appear when they are complete.
//!
//! Invariant: until then the file has a name of its own, which goes with it if it can't be
//! completed.

use super::{TraceFile, Unnamed};
use crate::error::Error;
use crate::session::file::claim;
use crate::session::file::claim::Claim;
use crate::session::file::file_place::FilePlace;
use crate::session::file::temporary;
use protolog_files::{Found, Identity, Kind, Output};
use std::path::Path;

impl TraceFile {
    /// Returns the error that [`Self::create_on_finish`] would return, or the claim on the name. A
    /// pipe is left alone: its reader would take this for the end of the trace.
    pub(in crate::session) fn check_create_on_finish(
        place: &FilePlace,
        mode: u32,
    ) -> Result<Option<Claim>, Error> {
        let path = place.path();
        let failed = |error| Error::File { path: path.into(), error };
        if place.check().map_err(failed)? == Some(Kind::Pipe) {
            return Ok(None);
        }
        let is_named = Self::create_on_finish(place, mode, None)?.name.is_some();
        let claim = || place.location().and_then(Claim::name);
        let claim = is_named.then(claim).transpose().map_err(failed)?;
        claim.map(|claim| claim.ok_or(Error::FileInUse { path: path.into() })).transpose()
    }

    /// Creates a file that appears under its name when it is finished, and not at all if it can't
    /// be finished. It has `mode`, even if it replaces a file with another one.
    /// [`Error::FileInUse`] if a session without the claim `own` writes the file, or is going to.
    pub(in crate::session) fn create_on_finish(
        place: &FilePlace,
        mode: u32,
        own: Option<&Claim>,
    ) -> Result<Self, Error> {
        let path = place.path();
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        if Claim::is_taken(place, own) {
            return Err(Error::FileInUse { path: path.into() });
        }
        let place = match place.find().map_err(failed)? {
            Found::Missing(place) | Found::File(place) => place,
            // It is written, not replaced.
            Found::Stream(Output { file, kind, .. }) => {
                let claim = Claim::new(&file).map_err(failed)?;
                let mut new = Self::new(path, file, claim, None);
                new.start_at_position(kind).map_err(failed)?;
                return Ok(new);
            }
        };
        drop(claim::hold(&place, path)?);
        let (file, part) = temporary::create(&place, mode).map_err(failed)?;
        let temporary = path.with_file_name(part.name());
        let named = Unnamed { place: part, name: path.to_path_buf(), replaces: true };
        Ok(Self::new(&temporary, file, None, Some(named)))
    }

    /// Creates a file in the directory of `place` that appears as `path` when it is finished, if
    /// that name is free by then, and not at all if it can't be finished. What dead processes left
    /// of such files goes.
    pub(in crate::session) fn create_beside(
        place: &FilePlace,
        path: &Path,
        mode: u32,
    ) -> Result<(Self, Identity), Error> {
        let failed = |error| Error::File { path: path.to_path_buf(), error };
        let location = place.location().map_err(failed)?;
        let (file, part) = temporary::create(location, mode).map_err(failed)?;
        let identity = Identity::of_file(&file).map_err(failed)?;
        let temporary = path.with_file_name(part.name());
        let named = Unnamed { place: part, name: path.to_path_buf(), replaces: false };
        Ok((Self::new(&temporary, file, None, Some(named)), identity))
    }
}
