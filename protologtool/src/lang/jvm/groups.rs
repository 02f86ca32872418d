//! The rules that a class of groups keeps, in any language of the JVM.

use crate::diagnostic::{Code, Diagnostic};
use crate::groups::{Group, Groups};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;

/// The interfaces of groups, ours and Android's.
pub(crate) const INTERFACES: [&str; 2] =
    ["dev.protolog.IProtoLogGroup", "com.android.internal.protolog.common.IProtoLogGroup"];

/// A class's canonical name, from a name in which `$` may stand before the name of a nested class.
pub(crate) fn canonical(class: &str) -> String {
    class.replace('$', ".")
}

/// The groups, if names and ids are unique; `places` are where they are declared.
pub(crate) fn unique(
    class: &str,
    groups: Vec<Group>,
    places: &[Range<usize>],
) -> Result<Groups, Diagnostic> {
    let at = |second: usize, message: String, help: &str| {
        Diagnostic::error(Code::IdClash, places[second].clone(), message).help(help)
    };
    let mut names = BTreeMap::new();
    for (second, group) in groups.iter().enumerate() {
        if names.insert(&group.full_name, second).is_some() {
            let message = format!("two groups call themselves `{}`", group.full_name);
            return Err(at(second, message, "give one of them another name"));
        }
    }
    let clash = |second: usize, names: [&str; 2], id: &dyn Display, help: &str| {
        let [first, other] = names;
        at(second, format!("`{first}` and `{other}` have the same id `{id}`"), help)
    };
    if let Some(((first, second), id)) = same_declared_id(&groups) {
        let names = [first, second].map(|at| groups[at].full_name.as_str());
        let help = "let `getId()` return another number for one of them";
        return Err(clash(second, names, &id, help));
    }
    Groups::new(class, groups).map_err(|same| {
        let names = [same.names.0.as_str(), same.names.1.as_str()];
        clash(same.positions.1, names, &same.id, "rename one of the two groups")
    })
}

/// Two groups for which `getId()` returns the same.
fn same_declared_id(groups: &[Group]) -> Option<((usize, usize), i32)> {
    let mut known = BTreeMap::new();
    groups.iter().enumerate().find_map(|(second, group)| {
        let id = group.declared_id? as i32;
        known.insert(id, second).map(|first| ((first, second), id))
    })
}
