//! Dictionaries: of the messages of all files, and those that are there already.
//!
//! Invariant: a group's id does not depend on the number of threads, nor on which outputs a run
//! writes.

use super::cant_read;
use crate::exit::Failure;
use crate::groups::Groups;
use crate::pipeline::Processed;
use crate::system::System;
use std::path::Path;
use viewer_config::{Collector, Dictionary, Group, Problems, Statements};

/// The dictionary of all messages and of the groups that they use, or of all groups where the
/// runtime wants that. Takes the messages out of `processed`.
pub(crate) fn collect(
    groups: &Groups,
    processed: &mut [Processed],
) -> Result<Dictionary, Problems> {
    let mut collector = Collector::new();
    // AOSP's tool leaves groups out that are compiled out, so the others are counted first.
    let used = || processed.iter().flat_map(|file| file.groups.iter().copied());
    let (enabled, disabled): (Vec<_>, Vec<_>) =
        used().partition(|position| groups.list()[*position].enabled);
    for (position, id) in groups.in_dictionary(&[enabled, disabled].concat()) {
        let group = &groups.list()[position];
        let (name, tag) = (group.full_name.clone(), group.tag.clone());
        collector.add_group(Group { id, name, tag });
    }
    for file in processed {
        for message in std::mem::take(&mut file.messages) {
            collector.add_message(message);
        }
    }
    collector.finish().map(|collected| collected.dictionary)
}

/// The messages as AOSP's tool of Android 15 lists them: those of groups that are compiled in, in
/// the order of the inputs. Their groups are those in use, or all.
pub(crate) fn statements(groups: &Groups, all_groups: bool, processed: &[Processed]) -> Statements {
    let mut statements = Statements::default();
    for group in groups.list().iter().filter(|_| all_groups) {
        statements.add_group(&group.full_name, &group.tag);
    }
    for message in processed.iter().flat_map(|file| &file.messages) {
        let of = groups.list().iter().find(|group| *group.full_name == *message.group);
        if let Some(group) = of.filter(|group| group.enabled) {
            statements.add_group(&group.full_name, &group.tag);
            statements.add_message(message.clone());
        }
    }
    statements
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
