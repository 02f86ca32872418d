//! Dictionaries: of the messages of all files, and those that are there already.

use super::cant_read;
use crate::exit::Failure;
use crate::groups::Groups;
use crate::pipeline::Processed;
use crate::system::System;
use std::collections::BTreeSet;
use std::path::Path;
use viewer_config::{Collector, Dictionary, Group, Problems};

/// The dictionary of all messages and of the groups that they use, or of all groups where the runtime wants that. Takes
/// the messages out of `processed`.
pub(crate) fn collect(
    groups: &Groups,
    processed: &mut [Processed],
) -> Result<Dictionary, Problems> {
    let mut collector = Collector::new();
    let always = 0..groups.always_in_dictionary();
    let used = processed.iter().flat_map(|file| file.groups.iter().copied());
    let used: BTreeSet<usize> = always.chain(used).collect();
    for group in used.into_iter().map(|position| &groups.list()[position]) {
        collector.add_group(Group {
            id: group.id,
            name: group.full_name.clone(),
            tag: group.tag.clone(),
        });
    }
    for file in processed {
        for message in std::mem::take(&mut file.messages) {
            collector.add_message(message);
        }
    }
    collector.finish().map(|collected| collected.dictionary)
}

/// The dictionary in a file.
pub(crate) fn read_dictionary(path: &Path, system: &dyn System) -> Result<Dictionary, Failure> {
    let bytes = system.read(path).map_err(|error| cant_read(path, &error))?;
    match Dictionary::read(&bytes) {
        Ok(collected) => Ok(collected.dictionary),
        Err(error) => Err(Failure::new(format!("can't read `{}`: {error}", path.display()))
            .help(error.help().to_owned())),
    }
}
