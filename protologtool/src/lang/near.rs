//! The names of groups that are much like a name that is none.

use crate::groups::Groups;

/// The help for a group name that does not exist.
pub(crate) fn suggestion(groups: &Groups, name: &str) -> String {
    match nearest(groups, name) {
        Some(known) => format!("use `{known}`"),
        None if groups.of_class().len() > 8 => format!("add it to `{}`", groups.class()),
        _ => {
            let names = groups.of_class().iter().map(|group| format!("`{}`", group.name));
            format!("use one of {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The group whose name is so much like `name` that it may be meant.
pub(crate) fn nearest<'g>(groups: &'g Groups, name: &str) -> Option<&'g str> {
    let names = groups.names_of_class();
    let (distance, known) = names.map(|known| (distance(name, known), known)).min()?;
    (distance <= known.len().div_ceil(3)).then_some(known)
}

/// Returns whether one of `names` alone differs from `name` by one character, and all others by
/// three or more.
pub(crate) fn is_alone<'g>(names: impl Iterator<Item = &'g str>, name: &str) -> bool {
    let mut distances: Vec<usize> = names.map(|known| distance(name, known)).collect();
    distances.sort_unstable();
    matches!(distances[..], [0 | 1]) || matches!(distances[..], [0 | 1, second, ..] if second > 2)
}

/// Number of single-character changes between two names.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
