//! The CPU time of a message that goes to the service, beside one that goes to a file: printed, not
//! tested.
//!
//! ```console
//! $ cargo test -p protolog-tool --test java_producer -- --ignored --nocapture figures
//! ```

use crate::child::RunningChild;
use crate::service::{Service, all};
use perfetto_ipc::SessionConfig;
use std::collections::BTreeMap;
use std::fs;

const MESSAGES: u64 = 1_000_000;
const ROUNDS: usize = 3;

#[test]
#[ignore = "takes a minute, and wants a machine that does nothing else"]
fn figures() {
    let Some(service) = Service::start() else { return };
    let Some(mut child) = service.child("", "logged") else { return };
    for _ in 0..ROUNDS {
        let off = cpu_of_a_message(&mut child);
        let file = service.path("own.pftrace");
        child.tell(&format!("open {}", file.display()));
        let to_file = (0..ROUNDS).map(|_| cpu_of_a_message(&mut child)).min();
        child.tell("close");
        let session = service.session(&SessionConfig { buffer_kb: 256 << 10, ..all() });
        child.tell("enabled");
        let to_service = (0..ROUNDS).map(|_| cpu_of_a_message(&mut child)).min();
        service.stop(session);
        child.tell("disabled");
        println!("off {off:?}\nto a file {:?}\nto the service {:?}", to_file, to_service);
    }
    child.end();
}

/// The CPU time of a message in nanoseconds: of all threads but the JVM's compilers, of the one
/// that logs, and of the one that writes or forwards.
fn cpu_of_a_message(child: &mut RunningChild) -> [u64; 3] {
    let pid = child.process.id();
    let before = cpu_by_thread(pid);
    child.tell(&format!("burst {MESSAGES}"));
    let mut taken = cpu_by_thread(pid);
    for (name, nanos) in &mut taken {
        *nanos -= before.get(name).unwrap_or(&0);
    }
    taken.retain(|name, _| !name.contains("Compiler"));
    let of = |names: &[&str]| names.iter().filter_map(|name| taken.get(*name)).sum::<u64>();
    let sums = [taken.values().sum(), of(&["java"]), of(&["protolog-fwd", "protolog drain"])];
    sums.map(|nanos| nanos / MESSAGES)
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
