//! Services that die and return, again and again: nothing of a connection is left behind, and what
//! no service had is counted to the message. (A client of Perfetto's that did not connect again
//! lost the rest: google/perfetto#90.)

use crate::child::RunningChild;
use crate::ends::lost;
use crate::exhausting::messages;
use crate::hostile::accept_without;
use protolog_testkit::temp_dir_for_sockets;
use std::os::unix::net::UnixListener;

/// The times that the service returns: more where somebody asks for a soak.
fn rounds() -> usize {
    if std::env::var(super::SECONDS).is_ok() { 1000 } else { 50 }
}

/// Checks that a process has no more of anything than after the first rounds. Stacks of threads
/// that are over stay for the next ones, which makes a few parts of memory.
#[track_caller]
fn has_no_more(child: &RunningChild, before: [usize; 3]) {
    let [threads, files, maps] = child.resources();
    assert_eq!([threads, files], before[..2], "threads, files: {:?}", child.open_files());
    assert!(maps <= before[2] + 8, "{maps} parts of memory, {} before", before[2]);
}

/// A service that the test plays, with little memory, of which it frees nothing: what does not fit
/// stays in the process until the connection ends.
#[test]
fn losses_of_each_connection_are_counted_and_nothing_else_stays() {
    let dir = temp_dir_for_sockets();
    let socket = dir.path().join("producer");
    let listener = UnixListener::bind(&socket).expect("listen");
    let job = "count=700 threads=2 size=80 startup=65536";
    let mut child = RunningChild::start(job, &socket, &dir.path().join("logged"));
    let (mut found, mut before) = (0, [0; 3]);
    let rounds = rounds();
    for round in 0..rounds {
        let mut it = accept_without("", &listener, false);
        child.tell("connected");
        let memory = it.start_in_memory(64 << 10);
        it.wait_for("NotifyDataSourceStarted").expect("an answer");
        child.tell("log");
        drop(it);
        child.tell("disconnected");
        found += messages(&memory);
        if round == 4 {
            before = child.resources();
        }
    }
    has_no_more(&child, before);
    let (lost, logged) = (lost(&mut child), child.end().len());
    assert_eq!(logged, rounds * 1400);
    assert!(found > rounds * 100, "{found} found");
    assert_eq!(found + lost, logged, "found {found} and lost {lost}, logged");
}
