//! Enums of one name. Groups are known by crate, enum and variant, so two enums of one name in two
//! modules of a crate share the groups whose variants have one name: in traces, and for anyone who
//! switches groups by name.
//!
//! That may be meant. Where they are declared differently it is not: traces have one of the tags.
//! `protologtool` refuses such enums; here, where each is compiled without the other, a line on
//! standard error says so once.

use super::GroupInfo;
use super::group::GroupSet;
use crate::text_queue;

/// Reports a group of `set` that one of the `others` declares differently.
pub(super) fn report(set: &GroupSet, others: impl Iterator<Item = &'static GroupSet>) {
    if !set.is_derived() {
        return;
    }
    let clashes = |other: &'static GroupSet| find(set.groups(), other.groups());
    if let Some((group, other)) = others.filter(|other| other.is_derived()).find_map(clashes) {
        let text = format!(
            "protolog: the group `{}` is declared twice, {} and {}: traces have one of them\n\
             help: rename one of the enums, since groups are known by crate, enum and variant\n",
            group.name,
            other.declaration(),
            group.declaration(),
        );
        text_queue::write_line(text.as_bytes());
    }
}

/// Returns the first of `groups` that is among `others` and declared differently, and that one.
fn find<'a>(
    groups: &'a [GroupInfo],
    others: &'a [GroupInfo],
) -> Option<(&'a GroupInfo, &'a GroupInfo)> {
    // Mostly the enums have different names, which the first variants tell.
    let enum_of = |groups: &'a [GroupInfo]| {
        groups.first().and_then(|group| Some(group.name.rsplit_once("::")?.0))
    };
    if enum_of(groups) != enum_of(others) {
        return None;
    }
    let twin = |group: &'a GroupInfo| {
        let same = others.iter().find(|other| other.name == group.name)?;
        (same.declaration() != group.declaration()).then_some((group, same))
    };
    groups.iter().find_map(twin)
}
