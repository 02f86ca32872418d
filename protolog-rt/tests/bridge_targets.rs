//! Targets of the crate `log` are groups until there are too many. In a program of its own: groups
//! stay for the life of a process.
#![cfg(feature = "log")]

mod common;

use common::record;
use protolog_rt::{Builder, bridge};

/// As many targets as may be groups of their own.
const MAX_TARGETS: usize = 512;

#[test]
fn targets_are_groups_until_there_are_too_many() {
    bridge::install_log().expect("the first logger");
    let recording = record(Builder::enable_all);
    let call = |target: &str| log::info!(target: target, "called");
    call("app::net");
    (0..MAX_TARGETS).for_each(|number| call(&format!("many::t{number}")));
    call("more::than::that");
    (0..MAX_TARGETS).for_each(|number| call(&format!("crate{number}::t")));
    call("yet::another");
    call("app::net");

    let lines = recording.stop().messages();
    let groups: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(lines.len(), 2 * MAX_TARGETS + 4);
    assert_eq!((groups[0], groups[lines.len() - 1]), ("app::net", "app::net"));
    // Half of the places are for targets as they are, one of which is `app::net`.
    let own = MAX_TARGETS / 2 - 1;
    assert_eq!((groups[own], groups[own + 1]), ("many::t254", "many"));
    // The others are for their first segments, of which `many` and `more` are two.
    assert_eq!(groups[MAX_TARGETS + 1], "more");
    let crates = MAX_TARGETS / 2 - 2;
    let first = MAX_TARGETS + 2;
    assert_eq!((groups[first + crates - 1], groups[first + crates]), ("crate253", "other"));
    assert_eq!(lines[lines.len() - 2], "INFO other targets called");
}
