//! Names of groups that match none of any program.

use super::process::ProcessName;
use super::programs::Programs;
use crate::suggest::{did_you_mean_group, list, name_forms};
use crate::system::System;
use protolog_control::Program;
use std::collections::BTreeSet;

/// The most programs that are named.
const NAMED: usize = 3;

/// Says that no group has these names, and which ones there are; that is an error of the run.
pub(super) fn report(
    programs: &mut Programs,
    missing: &[&str],
    names: &BTreeSet<&str>,
    system: &dyn System,
) {
    if missing.is_empty() {
        return;
    }
    programs.failed = true;
    let place = place(programs);
    let names = name_forms(names.iter().copied());
    for name in missing {
        let close = did_you_mean_group(name, &names);
        system.print_error(&format!("error: no group is named `{name}`{place}{close}\n"));
    }
    system.print_error(&list(&names, "of them"));
}

/// The names of the groups of all programs.
pub(super) fn names(programs: &mut Programs, system: &dyn System) -> BTreeSet<String> {
    let groups = programs.each(Program::groups, system).into_iter();
    groups.flat_map(|(.., groups)| groups).map(|group| group.name).collect()
}

/// The programs that were looked at, as the end of a sentence.
fn place(programs: &Programs) -> String {
    match programs.all.as_slice() {
        [] => String::new(),
        few if few.len() <= NAMED => {
            let name = |program: &Program| ProcessName::of(program).to_string();
            format!(" in {}", few.iter().map(name).collect::<Vec<_>>().join(", "))
        }
        many => format!(" in any of {} programs", many.len()),
    }
}
