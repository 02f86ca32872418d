//! `recover --core`, on core files of real processes that die at any moment.

mod child;
mod hostile;

use child::{ERRORS, Running, THREADS};
use protolog_reader::{Log, Rendering, Trace};
use protolog_testkit::{run_any, skip, temp_dir};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Number of core files; `cargo xtask soak` sets a higher one.
fn rounds() -> u64 {
    std::env::var("PROTOLOG_KILL_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(10)
}

fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// Runs `recover --core` in a directory: exit code, output and errors.
fn recover(dir: &Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = command.current_dir(dir).args(["recover", "--core"]).args(args).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(all).unwrap())
}

/// The numbers of each thread's messages.
fn numbers(log: &Log) -> BTreeMap<u64, Vec<u64>> {
    let mut numbers = BTreeMap::<u64, Vec<u64>>::new();
    for entry in log.entries() {
        let text = entry.values().text(Rendering::Bare);
        let mut words = text.split([' ', ':']);
        if words.next() != Some("thread") {
            continue;
        }
        let thread = words.next().unwrap().parse().unwrap();
        let number = words.nth(1).unwrap().parse().unwrap();
        numbers.entry(thread).or_default().push(number);
    }
    numbers
}

/// Checks what was recovered against the messages of each thread whose call had returned.
#[track_caller]
fn check(log: &Log, returned: [u64; THREADS], kind: &str, what: &str) {
    let (mut late, mut in_flight, mut found) = (Vec::new(), 0, 0);
    for (thread, numbers) in numbers(log) {
        let (returned, last) = (returned[thread as usize], numbers[numbers.len() - 1]);
        assert!(numbers.is_sorted_by(|a, b| a < b), "{what}: thread {thread}: {numbers:?}");
        assert!(last <= returned, "{what}: thread {thread} has {last} of {returned}");
        in_flight += u64::from(last == returned);

        // The chunk of a thread that does not run for some time is completed, and then overwritten.
        if last + 1 < returned && !matches!(kind, "sampled" | "limited") {
            late.push((thread, last, returned));
        }
        found += numbers.len() as u64;
        if kind == "pinned" {
            let errors = numbers.iter().filter(|it| *it % ERRORS == 7).count() as u64;
            let logged = returned.saturating_sub(8) / ERRORS + 1;
            assert!(
                errors == logged || errors == logged + 1,
                "{what}: {errors} of {logged} errors"
            );
        }
    }
    let lost = log.stats().lost.values().sum::<u64>();
    let passed_over = log.passed_over().iter().map(|it| it.count).sum::<u64>();
    let held_back = if kind == "sampled" { passed_over } else { lost };
    assert!(held_back > found, "{what}: {found} and {held_back}");
    let lost = lost + passed_over;
    let all = returned.iter().sum::<u64>();
    assert!(late.len() < THREADS, "{what}: threads have old messages only: {late:?}");
    assert!(found > 20, "{what}: {found}");
    assert!(
        (all + in_flight..=all + THREADS as u64).contains(&(found + lost)),
        "{what}: {found} and {lost} of {all}, {in_flight} in flight"
    );
}

#[test]
fn what_was_committed_is_in_each_core_file() {
    const TEST: &str = "what_was_committed_is_in_each_core_file";
    child::run_if_child();
    for round in 0..rounds() {
        let kind = ["ring", "pinned", "sampled", "limited"][round as usize % 4];
        let mut running = Running::start(TEST, kind, [random(), random()]);
        let moment = Duration::from_micros(random() % 5_000);
        std::thread::sleep(moment);
        let Some(core) = running.die() else {
            return skip("core files", "the kernel writes them elsewhere");
        };
        let what = format!("round {round}, {kind}, after {moment:?}");
        let dir = running.dir.path();
        let (code, text) = recover(dir, &[core.to_str().unwrap(), "-o", "crash.pftrace"]);
        assert_eq!(code, 0, "{what}: {text}");
        assert!(text.contains(&format!("process {}: ", running.child.id())), "{what}: {text}");
        let path = dir.join("crash.pftrace");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let log = Trace::open(&path).unwrap().read().unwrap();
        check(&log, running.returned(&core), kind, &what);
    }
}

/// A process that died, with its core file; none where the kernel writes them elsewhere.
fn dead(test: &str, kind: &str) -> Option<(Running, String)> {
    child::run_if_child();
    let mut running = Running::start(test, kind, [random(), random()]);
    let core = running.die();
    if core.is_none() {
        skip("core files", "the kernel writes them elsewhere");
    }
    Some((running, core?.to_str().unwrap().to_owned()))
}

fn read(path: &Path) -> Log {
    Trace::open(path).unwrap().read().unwrap()
}

#[test]
fn sessions_of_one_process_become_one_trace() {
    let Some((running, core)) = dead("sessions_of_one_process_become_one_trace", "two") else {
        return;
    };
    let dir = running.dir.path();
    let (code, text) = recover(dir, &[&core, "-o", "crash.pftrace"]);
    assert_eq!((code, text.lines().count()), (0, 2), "{text}");
    let pid = running.child.id();
    assert!(text.contains(&format!("{core}: process {pid}: 1 message of 1 thread\n")), "{text}");
    let log = read(&dir.join("crash.pftrace"));
    check(&log, running.returned(Path::new(&core)), "two", "two sessions");
    let shown: Vec<_> = log.entries().map(|it| it.values().text(Rendering::Bare)).collect();
    assert!(shown.iter().any(|text| text == "once, to both"));
}

/// The file has what was written, the core file the rest.
#[test]
fn a_stream_without_a_recording_is_completed_once() {
    const TEST: &str = "a_stream_without_a_recording_is_completed_once";
    let Some((running, core)) = dead(TEST, "stream") else { return };
    let dir = running.dir.path();
    let before = fs::read(dir.join("out.pftrace")).unwrap();
    let (code, text) = recover(dir, &[&core, "-o", "crash.pftrace"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(fs::read(dir.join("out.pftrace")).unwrap(), before, "it stays as it is");
    let log = read(&dir.join("crash.pftrace"));
    let returned = running.returned(Path::new(&core));
    let mut found = 0;
    for (thread, numbers) in numbers(&log) {
        let returned = returned[thread as usize];
        assert!(numbers.is_sorted_by(|a, b| a < b), "thread {thread}: a message comes twice");
        assert!(numbers[numbers.len() - 1] <= returned);
        found += numbers.len() as u64;
    }
    let lost = log.stats().lost.values().sum::<u64>();
    let all = returned.iter().sum::<u64>();
    assert!((all..=all + THREADS as u64).contains(&(found + lost)), "{found} and {lost} of {all}");
    // Without it, what is in the buffer.
    fs::remove_file(dir.join("out.pftrace")).unwrap();
    let (code, text) = recover(dir, &[&core, "-o", "rest.pftrace"]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("out.pftrace` of its session is not there"), "{text}");
}

#[test]
fn a_core_file_that_is_cut_off_is_recovered_as_far_as_it_goes() {
    const TEST: &str = "a_core_file_that_is_cut_off_is_recovered_as_far_as_it_goes";
    let Some((running, core)) = dead(TEST, "ring") else { return };
    let dir = running.dir.path();
    let bytes = fs::read(&core).unwrap();
    let header = memchr::memmem::find_iter(&bytes, b"protorec");
    let header = header.filter(|at| at % 4096 == 0).last().unwrap();
    let (mut codes, mut parts) = (Vec::new(), 0);
    for end in [4096, header, header + 100, header + 40_000, header + 80_000, bytes.len()] {
        fs::write(dir.join("cut"), &bytes[..end]).unwrap();
        let (code, text) = recover(dir, &["cut", "-o", &format!("{end}.pftrace")]);
        assert_eq!(dir.join(format!("{end}.pftrace")).exists(), code != 2, "{text}");
        match code {
            2 => assert!(text.contains("is cut off") || text.contains("cut off before"), "{text}"),
            3 => {
                assert!(text.contains("bytes of its buffers are not in the core file"), "{text}");
                assert!(!text.contains("overwritten"), "{text}");
                parts += read(&dir.join(format!("{end}.pftrace"))).entries().count();
            }
            _ => assert_eq!(text.lines().count(), 1, "{text}"),
        }
        codes.push(code);
    }
    assert_eq!((codes[0], codes[1], codes[5]), (2, 2, 0), "{codes:?}");
    assert!(codes.contains(&3), "{codes:?}");
    // Where the ring comes before the header, it is whole.
    let whole = read(&dir.join(format!("{}.pftrace", bytes.len()))).entries().count();
    assert!(whole > 200 && parts < 4 * whole, "{parts} of {whole}");
}

#[test]
fn a_session_that_records_is_recovered_by_its_recording() {
    const TEST: &str = "a_session_that_records_is_recovered_by_its_recording";
    for kind in ["recording", "ended"] {
        let Some((running, core)) = dead(TEST, kind) else { return };
        let (code, text) = recover(running.dir.path(), &[&core, "-o", "crash.pftrace"]);
        let recording = running.dir.path().join("protolog-app.rec");
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(&format!("in the recording `{}`", recording.display())), "{text}");
        assert!(!running.dir.path().join("crash.pftrace").exists());
    }
}

#[test]
fn gdb_writes_core_files_of_processes_that_go_on() {
    const TEST: &str = "gdb_writes_core_files_of_processes_that_go_on";
    child::run_if_child();
    if Command::new("gcore").output().is_err() {
        return skip("gcore", "gdb is not installed");
    }
    let mut running = Running::start(TEST, "pinned", [random(), random()]);
    let (dir, pid) = (running.dir.path().to_owned(), running.child.id().to_string());
    run_any(Command::new("gcore").current_dir(&dir).args(["-o", "dump", &pid]));
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let core = dir.join(format!("dump.{pid}"));
    if !core.exists() {
        return skip("gcore", "it may not trace processes here");
    }
    let (code, text) = recover(&dir, &[core.to_str().unwrap(), "-o", "crash.pftrace"]);
    assert_eq!(code, 0, "{text}");
    check(&read(&dir.join("crash.pftrace")), running.returned(&core), "pinned", "gcore");
}

#[test]
fn other_files_are_refused() {
    let dir = temp_dir();
    let own = fs::read("/proc/self/exe").unwrap();
    let with = |at: usize, byte: u8| {
        let mut bytes = own[..64].to_vec();
        bytes[at] = byte;
        bytes
    };
    for (bytes, expected) in [
        (&b"words\n"[..], "`core` is no core file"),
        (&[], "`core` is no core file"),
        (b"\x28\xb5\x2f\xfd....", "decompress it with `zstd -d` first"),
        (b"\x1f\x8b....", "decompress it with `gzip -d` first"),
        (&own, "a program or a library, and no core file"),
        (&with(4, 1), "not 64-bit little-endian"),
        (&with(16, 4), "cut off before its memory begins"),
        (&own[..20], "`core` is no core file"),
    ] {
        fs::write(dir.path().join("core"), bytes).unwrap();
        let (code, text) = recover(dir.path(), &["core", "-o", "out"]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(expected), "{expected} in {text}");
        assert!(!dir.path().join("out").exists());
    }
    assert_eq!(recover(dir.path(), &["core"]).0, 2, "it needs an output");
    assert_eq!(recover(dir.path(), &["missing", "-o", "out"]).0, 2);
    // Without the flag.
    fs::write(dir.path().join("core"), with(16, 4)).unwrap();
    for args in [&["recover", "core"][..], &["recover", "core", "-o", "out"]] {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        let output = run_any(tool.current_dir(dir.path()).args(args));
        assert_eq!(output.code, Some(2), "{}", output.stderr);
        assert!(
            output.stderr.contains("`protologtool recover --core core -o"),
            "{}",
            output.stderr
        );
    }
}

/// The number of parts does not fit the header then, and stands in the first section.
#[test]
fn a_process_with_many_mappings_is_recovered() {
    const TEST: &str = "a_process_with_many_mappings_is_recovered";
    let Some((running, core)) = dead(TEST, "ring") else { return };
    let dir = running.dir.path();
    let mut bytes = fs::read(&core).unwrap();
    let (end, mut section) = (bytes.len() as u64, [0; 64]);
    section[44..46].copy_from_slice(&bytes[56..58]);
    bytes.extend(section);
    bytes[40..48].copy_from_slice(&end.to_le_bytes());
    bytes[56..62].copy_from_slice(&[0xff, 0xff, 64, 0, 1, 0]);
    fs::write(dir.join("many"), &bytes).unwrap();
    for (name, out) in [(core.as_str(), "one"), ("many", "other")] {
        let (code, text) = recover(dir, &[name, "-o", out]);
        assert_eq!(code, 0, "{text}");
    }
    assert_eq!(fs::read(dir.join("one")).unwrap(), fs::read(dir.join("other")).unwrap());
}
