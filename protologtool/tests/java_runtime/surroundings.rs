//! Java programs where files can't be made or grow: no call throws, the session says what was
//! wrong, and what it had is recovered.
//!
//! Disks and `/dev/shm` are mounts of a namespace of their own, which needs root.

use super::{classes, messages};
use protolog_testkit::{Output, java, run_any, skip, temp_dir};
use std::path::Path;
use std::process::Command;

/// A folder for devices that has no `shm`; `$0` is a folder for it.
const NO_SHM: &str = "mkdir $0/dev && mount -t tmpfs none $0/dev && \
                      cp -a /dev/null /dev/zero /dev/random /dev/urandom $0/dev && \
                      ln -s /proc/self/fd $0/dev/fd && mount --bind $0/dev /dev";

/// Runs `script` with mounts that only it sees, the class path as `$CP`; none where nobody may
/// mount.
fn run_in_namespace(dir: &Path, script: &str) -> Option<Output> {
    let classes = classes()?;
    let unshare = |script: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["-m", "sh", "-c", script]).arg(dir).env("CP", classes);
        run_any(unshare.env("TOOL", env!("CARGO_BIN_EXE_protologtool")))
    };
    if unshare("mount -t tmpfs none $0").code != Some(0) {
        skip("a disk of its own", "mounting one takes root");
        return None;
    }
    Some(unshare(script))
}

/// The numbers of the messages of a trace, which must be all from 0 on, in order.
fn first_messages(trace: &Path) -> usize {
    let texts = messages(trace);
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(*text, format!("INFO Disk: {number} of a program that goes on"));
    }
    texts.len()
}

fn assert_prints(output: &Output, expected: &str) {
    assert_eq!(output.stdout, expected);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_full_disk_ends_the_session_and_its_recording_has_the_rest() {
    let dir = temp_dir();
    let script = "mkdir $0/disk && mount -t tmpfs -o size=256k none $0/disk && \
                  java -cp $CP app.Surrounded $0/disk/a.pftrace 50000 && \
                  cp $0/disk/a.pftrace $0/full.pftrace && mount -o remount,size=16m $0/disk && \
                  $TOOL recover $0/disk/a.pftrace >/dev/null && cp $0/disk/a.pftrace $0";
    let Some(output) = run_in_namespace(dir.path(), script) else { return };
    assert_prints(
        &output,
        "recording in /dev/shm\nno end: the session's file can't be used any more: No space left on device\n",
    );
    let full = incomplete(&dir.path().join("full.pftrace"));
    let all = first_messages(&dir.path().join("a.pftrace"));
    assert!(full > 0 && all > full, "{all} messages, {full} of them in the file");
}

#[test]
fn a_disk_that_has_room_again_takes_the_same_trace() {
    let dir = temp_dir();
    let script = "mkdir $0/disk && mount -t tmpfs -o size=512k none $0/disk && mount -t tmpfs none /dev/shm && \
                  head -c 300000 /dev/zero >$0/disk/filler && \
                  java -cp $CP app.Surrounded $0/disk/a.pftrace 50000 again && \
                  cp $0/disk/a.pftrace $0 && ls $0/disk";
    let Some(output) = run_in_namespace(dir.path(), script) else { return };
    let first = "recording in /dev/shm\nno end: the session's file can't be used any more: No space left on device\n";
    assert_eq!(output.stdout, format!("{first}1 0\na.1.pftrace\na.pftrace\n"), "{output:?}");
    assert_eq!(first_messages(&dir.path().join("a.pftrace")), 1);
}

/// With each number of descriptors that are free, until all succeeds: what fails leaves nothing
/// open and no file, and succeeds later.
#[test]
fn a_program_without_descriptors_keeps_nothing_of_what_it_could_not_open() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir();
    let mut java = Command::new("sh");
    java.args(["-c", "ulimit -n 150 && exec java -XX:-MaxFDLimit -cp $1 app.Few $0"]);
    let output = run_any(java.arg(dir.path().canonicalize().unwrap()).arg(classes));
    let all = ["stream", "segments", "kept", "recorded", "text", "control"];
    let failed = all.map(|name| format!("{name} failed\n")).concat();
    assert_prints(&output, &format!("{failed}left in memory: 0\n"));
}

#[test]
fn a_read_only_disk_refuses_the_session() {
    let dir = temp_dir();
    let script = "mkdir $0/disk && mount -t tmpfs -o ro none $0/disk && mount -t tmpfs none /dev/shm && \
                  java -cp $CP app.Surrounded $0/disk/a.pftrace 5000 && ls /dev/shm";
    let Some(output) = run_in_namespace(dir.path(), script) else { return };
    let path = dir.path().join("disk/a.pftrace");
    assert_prints(&output, &format!("no session: {}: Read-only file system\n", path.display()));
}

#[test]
fn without_dev_shm_a_stream_records_beside_its_trace() {
    for shm in
        [NO_SHM, "mount -t tmpfs -o size=64k none /dev/shm", "mount -t tmpfs -o ro none /dev/shm"]
    {
        let dir = temp_dir();
        let place = dir.path().display();
        let script = format!(
            "{shm} && java -cp $CP app.Surrounded $0/a.pftrace 5000 && find $0 /dev/shm -name '*.rec'; \
             java -cp $CP app.Surrounded $0/b.pftrace 10 record"
        );
        let Some(output) = run_in_namespace(dir.path(), &script) else { return };
        let printed = output.stdout.strip_prefix(&format!("recording in {place}\n5000 0\n"));
        // The file that must be there after the process can't be.
        let printed = printed.unwrap_or_else(|| panic!("{output:?}"));
        assert!(printed.starts_with("no session: "), "{shm}: {printed}");
        assert_eq!(first_messages(&dir.path().join("a.pftrace")), 5000);
    }
}

/// Traces and recordings of two boots of a machine: each is read alone, and no tool puts the two in
/// one order.
#[test]
fn traces_of_another_boot_are_not_merged() {
    const OTHER: &str = "01234567-89ab-cdef-0123-456789abcdef";
    let dir = temp_dir();
    let boot_id = "/proc/sys/kernel/random/boot_id";
    let script = format!(
        "java -cp $CP app.Surrounded $0/now.pftrace 10 && echo {OTHER} >$0/id && mount --bind $0/id {boot_id} && \
         java -cp $CP app.Surrounded $0/other.pftrace 10 && java -cp $CP app.Surrounded $0/more.pftrace 10 && \
         java -cp $CP app.Surrounded $0/left.rec 10 recording && mount --bind /dev/null {boot_id} && \
         java -cp $CP app.Surrounded $0/unknown.pftrace 10"
    );
    let Some(output) = run_in_namespace(dir.path(), &script) else { return };
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let path = |name: &str| dir.path().join(name);
    let merge = |one: &Path, other: &Path| {
        let mut merge = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        run_any(merge.arg("merge").arg("-o").arg(path("all.pftrace")).args([one, other]))
    };
    // In its recording the id has a place of its own.
    let recorded = std::fs::read(path("left.rec")).unwrap();
    let id = u128::from_str_radix(&OTHER.replace('-', ""), 16).unwrap();
    assert_eq!(recorded[72..88], id.to_be_bytes());
    let mut recover = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let recovered = path("recovered.pftrace");
    let output = run_any(recover.arg("recover").arg(path("left.rec")).arg("-o").arg(&recovered));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let now = path("now.pftrace");
    for other in [path("other.pftrace"), recovered] {
        assert_eq!(first_messages(&other), 10, "it is read alone");
        let output = merge(&now, &other);
        assert_eq!(output.code, Some(0), "by the wall clock: {}", output.stderr);
        assert_eq!(messages(&path("all.pftrace")).len(), 20);
        assert_eq!(merge(&other, &path("more.pftrace")).code, Some(0), "of the same boot");
    }
    assert_eq!(merge(&now, &path("unknown.pftrace")).code, Some(0), "of one that has no id");
}

/// A program in a time namespace has the machine's clocks in its trace, as in Rust.
#[test]
fn traces_of_a_time_namespace_are_in_order_among_others() {
    let dir = temp_dir();
    let script = "inside='unshare --time --boottime 100000 --monotonic 200000 --fork'; \
                  $inside true || exit 9; \
                  java -cp $CP app.Surrounded $0/a.pftrace 1 && \
                  $inside java -cp $CP app.Surrounded $0/b.pftrace 2 && \
                  java -cp $CP app.Surrounded $0/c.pftrace 3 && \
                  $TOOL read-log --columns message $0/a.pftrace $0/b.pftrace $0/c.pftrace >$0/read";
    let Some(output) = run_in_namespace(dir.path(), script) else { return };
    if output.code == Some(9) {
        skip("time namespaces", "unshare can't make any");
        return;
    }
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let read = std::fs::read_to_string(dir.path().join("read")).expect("the lines");
    let numbers: Vec<_> = read.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(numbers, ["0", "0", "1", "0", "1", "2"]);
}

/// No file may grow beyond a limit: none has room for a buffer.
#[test]
fn where_no_file_may_be_large_the_trace_is_all_there_is() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let script = "ulimit -f 200; exec java -cp $1 app.Surrounded $0/a.pftrace 50000";
    let mut sh = Command::new("sh");
    let output = run_any(sh.args(["-c", script]).arg(dir.path()).arg(classes));
    assert_prints(
        &output,
        "recording in memory\nno end: the session's file can't be used any more: File too large\n",
    );
    assert!(incomplete(&dir.path().join("a.pftrace")) > 1000);
}

/// A JDK of few modules, as `jlink` makes them: sockets have no peers.
#[test]
fn without_the_module_of_peers_nobody_listens_and_all_else_works() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut java = java().expect("java");
    java.args(["--limit-modules", "java.base", "-cp"]).arg(classes).arg("app.Deaf");
    let output = run_any(java.arg(dir.path()));
    let refused = "can't listen without the module `jdk.net`, which says who asks\n\
                   help: start java with `--add-modules jdk.net`\n";
    assert_eq!(output.stdout, refused.repeat(2));
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), "WARN Net: recorded\n"));
    assert_eq!(messages(&dir.path().join("a.pftrace")), ["WARN Net: recorded"]);
}

/// The lines of `read-log` for a trace that is not complete.
fn incomplete(trace: &Path) -> usize {
    let mut read = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let output = run_any(read.args(["read-log", "--columns", "message"]).arg(trace));
    assert!(output.stderr.contains(" has no end"), "{}", output.stderr);
    output.stdout.lines().count()
}
