//! Bursts of calls as the tool makes them, which go to the service and to a file; and the CPU time
//! of each, which is printed.
//!
//! ```console
//! $ PROTOLOG_BURST=1000000 cargo test -p protolog-tool --test java_producer -- --nocapture bursts
//! ```

use crate::child::RunningChild;
use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use protolog_reader::Trace;
use std::collections::BTreeMap;
use std::{env, fs};

const ROUNDS: u64 = 3;

#[test]
fn bursts_of_processed_calls_are_recorded() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("threads=1", "logged") else { return };
    let given = env::var("PROTOLOG_BURST").ok().and_then(|it| it.parse().ok());
    let count: u64 = given.unwrap_or(20_000);
    let bursts = |child: &mut RunningChild, what: &str| {
        let figures: Vec<_> = (0..ROUNDS).map(|_| cpu_of_a_message(child, count)).collect();
        println!("{what}: ns of CPU in all, of the caller, of the writer: {figures:?}");
    };
    bursts(&mut child, "off");
    let file = service.path("own.pftrace");
    child.tell(&format!("open {}", file.display()));
    bursts(&mut child, "to a file");
    child.tell("close");
    let session = service.session(&SessionConfig { buffer_kb: 256 << 10, ..all() });
    child.tell("enabled");
    bursts(&mut child, "to the service");
    let trace = service.stop(session);
    child.end();
    assert_eq!((trace.log().entries().count() as u64, trace.lost()), (ROUNDS * count, 0));
    let own = Trace::open(&file).expect("open it").read().expect("read it");
    assert_eq!(own.entries().count() as u64, ROUNDS * count);
}

/// The CPU time of a message in nanoseconds: of all threads but the JVM's compilers, of the one
/// that logs, and of the one that writes or forwards.
fn cpu_of_a_message(child: &mut RunningChild, count: u64) -> [u64; 3] {
    let pid = child.process.id();
    let before = cpu_by_thread(pid);
    child.tell(&format!("burst {count}"));
    let mut taken = cpu_by_thread(pid);
    // They come and go.
    taken.retain(|name, _| !name.contains("Compiler"));
    for (name, nanos) in &mut taken {
        *nanos -= before.get(name).unwrap_or(&0);
    }
    let of = |names: &[&str]| names.iter().filter_map(|name| taken.get(*name)).sum::<u64>();
    let sums = [taken.values().sum(), of(&["java"]), of(&["protolog-fwd", "protolog drain"])];
    sums.map(|nanos| nanos / count)
}

/// The CPU time of each thread so far, by its name.
fn cpu_by_thread(pid: u32) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).expect("list the threads") {
        let path = task.expect("a thread").path();
        // It may have ended.
        let Ok(name) = fs::read_to_string(path.join("comm")) else { continue };
        let Ok(times) = fs::read_to_string(path.join("schedstat")) else { continue };
        let nanos: u64 = times.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        *all.entry(name.trim().to_owned()).or_default() += nanos;
    }
    all
}
