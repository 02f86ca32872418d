//! From the messages of all files to dictionaries.

use super::cant_write;
use crate::cli::Failure;
use crate::groups::Groups;
use crate::pipeline::Processed;
use crate::system::{Staged, System};
use std::collections::BTreeSet;
use std::path::Path;
use viewer_config::{Collector, Dictionary, Format, Group, Problems};

/// The dictionary of all messages and of the groups that they use, or of all groups where Android reads it. Takes the messages out of `processed`.
pub(super) fn collect(
    groups: &Groups,
    processed: &mut [Processed],
) -> Result<Dictionary, Problems> {
    let mut collector = Collector::new();
    let used: BTreeSet<usize> = if groups.all_in_dictionary() {
        (0..groups.list().len()).collect()
    } else {
        processed.iter().flat_map(|file| file.groups.iter().copied()).collect()
    };
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

/// Stages the dictionary in the format that the file's name says.
pub(super) fn stage(
    path: &Path,
    dictionary: &Dictionary,
    system: &dyn System,
) -> Result<Box<dyn Staged>, Failure> {
    let Some(format) = Format::of_path(path) else {
        return Err(Failure::new(format!("`{}` is no name of a dictionary", path.display()))
            .help("let it end with `.pb`, `.json` or `.json.gz`"));
    };
    let bytes = dictionary.to_bytes(format);
    system.stage(path, &mut |sink| sink.write_all(&bytes)).map_err(|error| cant_write(path, &error))
}
