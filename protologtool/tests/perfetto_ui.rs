//! `merge --perfetto-ui`: Perfetto's own reader finds the messages where its UI looks for them.

#[path = "../../protolog-reader/tests/common/trace/mod.rs"]
mod description;

use protolog_core::schema::packet::FOR_UI;
use protolog_reader::perfetto_ui_packets;
use protolog_rt::{ProtoLogGroup, Session, d, e, w, wtf};
use protolog_testkit::{Value, temp_dir, trace_processor, trace_stats};
use protozero::Reader;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
    #[protolog(tag = "DISK")]
    Disk,
}

/// Held while a session runs: what one test logs would be in the others' sessions.
static SESSIONS: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn merge(dir: &Path, args: &[&str]) -> Output {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    tool.arg("merge").args(args).current_dir(dir).output().unwrap()
}

#[test]
fn the_table_of_logs_has_all_messages() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    for number in 0..600 {
        d!(AppLog::Net, "sent %d bytes in %.1f ms", number, f64::from(number) / 4.0);
    }
    thread::Builder::new()
        .name("flusher".into())
        .spawn(|| {
            w!(AppLog::Disk, "slow: %s", "two\nlines");
            e!(AppLog::Disk, "full");
            wtf!(AppLog::Disk, "impossible");
        })
        .unwrap()
        .join()
        .unwrap();
    session.stop().unwrap();
    let args = [
        "--perfetto-ui",
        "--counter",
        "sent %d bytes:1",
        "--counter",
        "sent:2",
        "app.pftrace",
        "-o",
        "ui.pftrace",
    ];
    let output = merge(dir.path(), &args);
    assert!(output.status.success(), "{output:?}");
    let ui = dir.path().join("ui.pftrace");
    // Once more, it is replaced.
    let again = [&args[..5], &["ui.pftrace", "-o", "again.pftrace"]].concat();
    assert!(merge(dir.path(), &again).status.success());
    let again = fs::read(dir.path().join("again.pftrace")).unwrap();
    assert!(again == fs::read(&ui).unwrap(), "{} bytes", again.len());
    // Its counters stay without being asked for, too.
    let kept = ["--perfetto-ui", "ui.pftrace", "-o", "kept.pftrace"];
    assert!(merge(dir.path(), &kept).status.success());
    assert!(fs::read(dir.path().join("kept.pftrace")).unwrap() == again);
    let queries = [
        "select p.ts, p.message, p.tag from protolog p order by p.ts, p.id",
        "select l.ts, l.msg, l.tag from android_logs l order by l.ts, l.id",
        "select l.prio, thread.name as thread, process.pid as pid from android_logs l join thread using (utid) \
         join process using (upid) where l.tag = 'DISK' order by l.ts, l.id",
        "select t.name, count(*) as n, max(c.value) as greatest from counter c join track t on t.id = c.track_id group by t.name order by t.name",
    ];
    let Some(tables) = trace_processor(&ui, &queries) else { return };
    let (messages, logs) = (&tables[0].rows, &tables[1].rows);
    assert_eq!((messages.len(), logs.len()), (603, 603));
    // trace_processor prints the arguments of ProtoLog messages by rules of its own.
    let times = |rows: &[Vec<Value>]| rows.iter().map(|row| row[0].to_string()).collect::<Vec<_>>();
    assert_eq!(times(messages), times(logs));
    assert_eq!(logs[42][1], "sent 42 bytes in 10.5 ms");
    assert_eq!(logs[600][1], "slow: two\nlines");
    assert_eq!(tables[2].texts("thread"), ["flusher"; 3]);
    let priorities: Vec<String> =
        tables[2].column("prio").iter().map(ToString::to_string).collect();
    assert_eq!(priorities, ["5", "6", "7"]);
    assert_eq!(tables[2].column("pid")[0], &Value::from(std::process::id()));
    let names = ["sent %d bytes in %.1f ms [1]", "sent %d bytes in %.1f ms [2]"];
    assert_eq!(tables[3].texts("name"), names);
    assert_eq!(tables[3].column("n"), [&Value::from(600), &Value::from(600)]);
    let greatest: Vec<f64> =
        tables[3].column("greatest").iter().map(|it| it.as_f64().unwrap()).collect();
    assert_eq!(greatest, [599.0, 149.75]);
    let stats = trace_stats(&ui).expect("it was read above");
    assert!(stats.rows.is_empty(), "{stats:?}");
}

/// Slices on two threads, and a thread whose first message comes before its name.
const SPANS: &str = r#"
@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000)
@1 group(1, "app::Log::Net", "Net") message(0x11, INFO, 1, "sent %d", "src/net.rs:9")
@1 track(4711, "/usr/bin/app")
@2 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, "main")
@3 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(4711, 4715, "worker")
@2 thread_track(21, 4711, 4711, "main")
@3 thread_track(23, 4711, 4715, "worker")
@2 needs ts=1000000 begin("request", "app::net", id=7, track=21)
@2 needs ts=1000000 log(0x11, 1)
@3 needs ts=1500000 begin("job", "app::job", track=23)
@2 needs ts=1000000 begin("parse", "app::net", track=21)
@2 needs ts=1000000 end(track=21)
@3 needs ts=4000000 log(0x11, 2)
@3 needs ts=1000000 end(track=23)
@2 needs ts=1000000 end(status=200, track=21)
@2 cleared thread(4711, 4711, "main")
@3 cleared thread(4711, 4715, "worker")
"#;

#[test]
fn slices_stay_on_the_one_row_of_their_thread() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    fs::write(&trace, description::trace(SPANS)).unwrap();
    let output = merge(dir.path(), &["--perfetto-ui", "app.pftrace", "-o", "ui.pftrace"]);
    assert!(output.status.success(), "{output:?}");
    let slices = "select s.ts, s.dur, s.name, s.depth, thread.tid as tid from slice s left join thread_track t on t.id = s.track_id \
                  left join thread using (utid) order by s.ts";
    let threads = "select utid, upid, tid, name from thread";
    let processes = "select upid, pid, name from process";
    let logs = "select l.msg, l.utid from android_logs l order by l.ts";
    let queries = [slices, threads, processes, logs];
    let Some(before) = trace_processor(&trace, &queries) else { return };
    let after = trace_processor(&dir.path().join("ui.pftrace"), &queries).expect("asked above");
    assert_eq!(before[0].texts("name"), ["request", "job", "parse"]);
    assert_eq!(before[0].column("tid"), [4711, 4715, 4711].map(Value::from).each_ref());
    for (before, after) in before.iter().zip(&after).take(3) {
        assert_eq!(before.to_string(), after.to_string());
    }
    let utid = |message: usize| after[3].column("utid")[message];
    let of_tid = |tid: u32| {
        let row = after[1].rows.iter().find(|row| row[2] == tid).expect("a thread");
        &row[0]
    };
    assert_eq!((utid(0), utid(1)), (of_tid(4711), of_tid(4715)));
}

/// Spans of which ends and begins were lost, with the number of spans around each.
const LOST_EDGES: &str = r#"
@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000)
@2 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, "main")
@2 thread_track(21, 4711, 4711, "main")
@2 needs ts=0 end(track=21, depth=1)
@2 needs ts=1000 begin("outer", "app", track=21, depth=0)
@2 needs ts=1000 begin("no end", "app", track=21, depth=1)
@2 needs ts=1000 begin("inner", "app", track=21, depth=1)
@2 needs ts=1000 end(track=21, depth=1)
@2 needs ts=1000 end(track=21, depth=1)
@2 needs ts=1000 end(track=21, depth=0)
@2 needs ts=1000 begin("no end", "app", track=21, depth=0)
@2 needs ts=1000 begin("nor this", "app", track=21, depth=1)
@2 needs ts=1000 begin("next", "app", track=21, depth=0)
@2 needs ts=1000 end(track=21, depth=0)
@2 needs ts=1000 begin("open", "app", track=21, depth=0)
"#;

#[test]
fn edges_of_spans_that_were_lost_are_repaired_and_marked() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    fs::write(&trace, description::trace(LOST_EDGES)).unwrap();
    let output = merge(dir.path(), &["--perfetto-ui", "app.pftrace", "-o", "ui.pftrace"]);
    assert!(output.status.success(), "{output:?}");
    let slices = "select s.ts - 1000000000 as ts, s.dur, s.name, s.depth, \
                  (select group_concat(key, ' ') from args where arg_set_id = s.arg_set_id and key glob '*lost') as mark \
                  from slice s order by s.ts, s.id";
    let Some(before) = trace_processor(&trace, &[slices]) else { return };
    // It takes the end of another span for one that was lost.
    assert!(before[0].to_string().contains("2000 | 3000 | no end | 1 | null"), "{}", before[0]);
    let after = trace_processor(&dir.path().join("ui.pftrace"), &[slices]).expect("asked above");
    let rows: Vec<String> =
        after[0].rows.iter().map(|row| Value::from(row.clone()).to_string()).collect();
    assert_eq!(
        rows,
        [
            r#"[1000,5000,"outer",0,null]"#,
            r#"[2000,999,"no end",1,"debug.end_lost"]"#,
            r#"[3000,1000,"inner",1,null]"#,
            r#"[4000,1000,"(its begin was lost)",1,"debug.begin_lost"]"#,
            r#"[7000,1999,"no end",0,"debug.end_lost"]"#,
            r#"[8000,999,"nor this",1,"debug.end_lost"]"#,
            r#"[9000,1000,"next",0,null]"#,
            r#"[11000,-1,"open",0,null]"#,
        ]
    );
}

/// Spans of a program without templates: a slice has the id of its own alone. One has a name.
const STRIPPED_SPANS: &str = r#"
@1 snapshot(real=1795199221000000000, mono=1000000000, boot=1000000000)
@1 group(1, "app::Log::Net", "Net")
@1 with_names(0x11, INFO, 1, "request %s in %d", "path") message(0x12, INFO, 1, "lookup", "a.rs:2")
@2 cleared snapshot(64=1000000000, boot=1000000000, incremental=64) default_clock=64 info(4711, 4711, "main")
@2 thread_track(21, 4711, 4711, "main")
@2 needs ts=1000 begin(1="/index", 2=7, track=21, depth=0, of=0x11)
@2 needs ts=1000 begin(track=21, depth=1, of=0x12)
@2 needs ts=1000 end(track=21, depth=1)
@2 needs ts=1000 begin("own", "app", 1=3, track=21, depth=1, of=0x11)
@2 needs ts=1000 end(track=21, depth=1)
@2 needs ts=1000 begin(1=4, track=21, depth=1, of=0x13)
@2 needs ts=1000 end(track=21, depth=1)
@2 needs ts=1000 end(track=21, depth=0)
"#;

#[test]
fn slices_without_a_name_have_that_of_the_dictionary() {
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    fs::write(&trace, description::trace(STRIPPED_SPANS)).unwrap();
    let output = merge(dir.path(), &["--perfetto-ui", "app.pftrace", "-o", "ui.pftrace"]);
    assert!(output.status.success(), "{output:?}");
    let slices = "select s.name, s.depth, s.dur, (select group_concat(key || '=' || display_value, ' ') from \
                  (select * from args where arg_set_id = s.arg_set_id and key glob 'debug*' order by key)) as args \
                  from slice s order by s.ts";
    let rows = |trace: &Path| {
        let tables = trace_processor(trace, &[slices])?;
        let rows = tables[0].rows.iter().map(|row| Value::from(row.clone()).to_string());
        Some(rows.collect::<Vec<_>>())
    };
    let Some(before) = rows(&trace) else { return };
    assert!(before[0].starts_with("[null,0,"), "{before:?}");
    let ui = dir.path().join("ui.pftrace");
    let expected = [
        r#"["request",0,7000,"debug.2=7 debug.path=/index"]"#,
        r#"["lookup",1,1000,null]"#,
        r#"["own",1,1000,"debug.1=3"]"#,
        r#"[null,1,1000,"debug.1=4"]"#,
    ];
    assert_eq!(rows(&ui).unwrap(), expected);
    // Our reader shows the same of both, and a second merge changes nothing.
    let spans = |trace: &str| {
        let mut read = Command::new(env!("CARGO_BIN_EXE_protologtool"));
        read.args(["read-log", "--spans", trace]).current_dir(dir.path());
        String::from_utf8(read.output().unwrap().stdout).unwrap()
    };
    assert_eq!(spans("app.pftrace"), spans("ui.pftrace"));
    let output = merge(dir.path(), &["--perfetto-ui", "ui.pftrace", "-o", "again.pftrace"]);
    assert!(output.status.success(), "{output:?}");
    assert!(fs::read(&ui).unwrap() == fs::read(dir.path().join("again.pftrace")).unwrap());
}

/// A trace of a container's first process, with a span and a message.
fn of_container(name: &str, fingerprint: u64, late: u64, length: u64) -> Vec<u8> {
    let begin = 1_000_000_000 + late;
    description::trace(&format!(
        r#"
group(1, "demo::net", "Net") message(0x11, DEBUG, 1, "from %s", "net.rs:1")
@9 snapshot(real=1795199221000000000, boot=1000000000)
@9 track(1, "{name}") started(1, {fingerprint})
@1 cleared snapshot(64=0, boot={begin}, incremental=64) default_clock=64 info(1, 1, "main") string(1, "{name}")
@1 thread_track(7, 1, 1, "main")
@1 needs ts=0 begin("{name}", "demo::net", track=7)
@1 needs ts=5 log(0x11, $1)
@1 needs ts={length} end(track=7)
"#
    ))
}

#[test]
fn processes_with_one_pid_are_two_to_perfetto() {
    let _lock = lock();
    let dir = temp_dir();
    let alpha = of_container("alpha", 5, 0, 600_000_000);
    fs::write(dir.path().join("alpha"), alpha).unwrap();
    let beta = of_container("beta", 6, 300_000_000, 601_000_000);
    fs::write(dir.path().join("beta"), beta).unwrap();
    let slices = "select s.name, s.dur, s.depth, process.name as process, thread.name as thread from slice s \
                  join thread_track t on t.id = s.track_id join thread using (utid) join process using (upid) order by s.ts";
    let processes = "select name, pid % 100000 as pid from process where pid > 0 order by name";
    let logs = "select l.msg, process.name from android_logs l join thread using (utid) join process using (upid) order by l.ts";
    for args in [
        &["alpha", "beta", "-o", "merged"][..],
        &["alpha", "beta", "--perfetto-ui", "-o", "merged"],
        &["merged", "beta", "--perfetto-ui", "-o", "again"],
    ] {
        let output = merge(dir.path(), args);
        assert!(output.status.success(), "{output:?}");
        let merged = dir.path().join(args[args.len() - 1]);
        let Some(tables) = trace_processor(&merged, &[slices, processes, logs]) else { return };
        let rows = |table: usize| {
            let rows = tables[table].rows.iter();
            rows.map(|row| Value::from(row.clone()).to_string()).collect::<Vec<_>>()
        };
        let expected = [
            r#"["alpha",600000005,0,"alpha (pid 1)","main"]"#,
            r#"["beta",601000005,0,"beta (pid 1)","main"]"#,
        ];
        assert_eq!(rows(0), expected, "{args:?}");
        assert_eq!(rows(1), [r#"["alpha (pid 1)",1]"#, r#"["beta (pid 1)",1]"#], "{args:?}");
        if args.contains(&"--perfetto-ui") {
            let expected = [r#"["from alpha","alpha (pid 1)"]"#, r#"["from beta","beta (pid 1)"]"#];
            assert_eq!(rows(2), expected, "{args:?}");
        }
    }
}

/// A trace of a process whose task is polled twice; not every trace has a track of its process.
fn of_task(pid: u32, process: &str) -> Vec<u8> {
    let track = 2 * pid;
    description::trace(&format!(
        r#"
@9 snapshot(real=1795199221000000000, boot=1000000000)
@9 {process}
@1 cleared snapshot(64=0, boot=1000000000, incremental=64) default_clock=64 info({pid}, {pid}, "main")
@1 thread_track({track}, {pid}, {pid}, "main")
@1 needs ts=10 begin("task", "app", track={track}, depth=0, number=1)
@1 needs ts=10 end(track={track}, depth=0, number=1)
@1 needs ts=10 begin("task", "app", track={track}, depth=0, number=1)
@1 needs ts=10 end(track={track}, depth=0, number=1)
"#
    ))
}

/// Tracks of tasks are below those of their processes, of merged traces, too.
#[test]
fn tasks_are_tracks_of_their_processes() {
    let _lock = lock();
    let dir = temp_dir();
    for (name, pid, process) in [
        ("server", 4711, r#"track(4711, "server")"#),
        ("worker", 4712, "boot(7)"),
        ("alpha", 1, r#"track(1, "alpha") started(1, 5)"#),
        ("beta", 1, r#"track(1, "beta") started(1, 6)"#),
        ("gamma", 2, r#"process(2, "gamma") started(2, 5)"#),
        ("delta", 2, r#"process(2, "delta") started(2, 6)"#),
    ] {
        fs::write(dir.path().join(name), of_task(pid, process)).unwrap();
    }
    let tasks = "select track.name as title, slice.dur as dur, process.pid % 100000 as pid, process.name as process \
                 from slice join track on track.id = slice.track_id \
                 left join process_track on process_track.id = track.id left join process using (upid) \
                 where track.name glob 'task#*' order by process.pid % 100000, process.name";
    let processes = "select count(*) as n from process where pid > 0";
    for (traces, expected) in [
        (["server", "worker"], [r#"["task#1",30,4711,"server"]"#, r#"["task#1",30,4712,null]"#]),
        (
            ["alpha", "beta"],
            [r#"["task#1",30,1,"alpha (pid 1)"]"#, r#"["task#1",30,1,"beta (pid 1)"]"#],
        ),
        (
            ["gamma", "delta"],
            [r#"["task#1",30,2,"delta (pid 2)"]"#, r#"["task#1",30,2,"gamma (pid 2)"]"#],
        ),
    ] {
        let output = merge(dir.path(), &[&traces[..], &["--perfetto-ui", "-o", "ui"]].concat());
        assert!(output.status.success(), "{output:?}");
        let ui = dir.path().join("ui");
        let Some(tables) = trace_processor(&ui, &[tasks, processes]) else { return };
        let rows = tables[0].rows.iter().map(|row| Value::from(row.clone()).to_string());
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert_eq!(tables[1].texts("n"), ["2"], "no process is there twice");
        assert_eq!(trace_stats(&ui).expect("it was read above").to_string(), "");
    }
}

/// The bytes of the packets for the UI, in which they say so first.
fn packets_for_ui(trace: &[u8]) -> Vec<u8> {
    let (mut reader, mut from, mut found) = (Reader::new(trace), 0, Vec::new());
    while let Some(Ok(field)) = reader.next() {
        let end = reader.offset() as usize;
        let first = field.as_message().unwrap().next().map(|first| first.unwrap().number);
        if first == Some(FOR_UI) {
            found.extend_from_slice(&trace[from..end]);
        }
        from = end;
    }
    found
}

#[test]
fn a_session_adds_the_same_as_a_merge() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&trace).enable_all();
    let session = builder.append_when_complete(perfetto_ui_packets).start().unwrap();
    for number in 0..600 {
        d!(AppLog::Net, "sent %d bytes to %s", number, ["a", "b"][number % 2]);
    }
    let disk = thread::Builder::new().name("flusher".into());
    disk.spawn(|| w!(AppLog::Disk, "slow: %s", "two\nlines")).unwrap().join().unwrap();
    session.stop().unwrap();
    let whole = fs::read(&trace).unwrap();
    let added = packets_for_ui(&whole);
    assert!(added.len() > 600 && whole.ends_with(&added), "{} bytes", added.len());
    // A merge makes them anew, of the trace that was complete before.
    let before = dir.path().join("before.pftrace");
    fs::write(&before, &whole[..whole.len() - added.len()]).unwrap();
    for input in ["app.pftrace", "before.pftrace"] {
        let output = merge(dir.path(), &["--perfetto-ui", input, "-o", "ui.pftrace"]);
        assert!(output.status.success(), "{output:?}");
        let merged = fs::read(dir.path().join("ui.pftrace")).unwrap();
        assert!(packets_for_ui(&merged) == added, "{input}");
    }
    let queries = [
        "select l.ts, l.msg, l.tag, l.prio, thread.name from android_logs l left join thread using (utid) order by l.ts, l.id",
        "select p.ts, p.message, p.tag from protolog p order by p.ts, p.id",
    ];
    let Some(of_session) = trace_processor(&trace, &queries) else { return };
    let merged = trace_processor(&dir.path().join("ui.pftrace"), &queries).expect("asked above");
    assert_eq!(of_session[0].rows.len(), 601);
    for (one, other) in of_session.iter().zip(&merged) {
        assert_eq!(one.to_string(), other.to_string());
    }
    assert_eq!(of_session[0].rows[600][1], "slow: two\nlines");
    assert!(trace_stats(&trace).expect("it was read above").rows.is_empty());
}

#[test]
fn losses_are_marks_and_lines() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let builder = Session::builder().file(&trace).enable_all().report_losses(false);
    let session = builder.keep_first().buffer_size(128 << 10).start().unwrap();
    for number in 0..100_000 {
        d!(AppLog::Net, "message %d of a buffer that is too small for all", number);
    }
    session.stop().unwrap();
    assert!(
        merge(dir.path(), &["--perfetto-ui", "app.pftrace", "-o", "ui.pftrace"]).status.success()
    );
    let queries = [
        "select count(*) as n from android_logs where tag = 'LOST'",
        "select s.name from slice s join track t on t.id = s.track_id where t.name = 'lost messages'",
    ];
    let Some(tables) = trace_processor(&dir.path().join("ui.pftrace"), &queries) else { return };
    assert!(tables[0].column("n")[0].as_u64().unwrap() > 0, "{tables:?}");
    let names = tables[1].texts("name");
    assert!(
        !names.is_empty() && names.iter().all(|name| name.contains("the buffer was full")),
        "{names:?}"
    );
}

#[test]
fn a_counter_that_is_none_is_said_to_be_one() {
    let _lock = lock();
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    d!(AppLog::Net, "hello %s", "world");
    session.stop().unwrap();
    let check = |args: &[&str], code: i32, text: &str| {
        let output = merge(dir.path(), &[args, &["app.pftrace", "-o", "ui.pftrace"]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.contains(text)), (Some(code), true), "{errors}");
    };
    check(
        &["--perfetto-ui", "--counter", "hello"],
        0,
        "warning: no value for the counter `hello:1`",
    );
    check(&["--perfetto-ui", "--counter", "hello:x"], 2, "`hello:x` for `--counter`");
    check(&["--counter", "hello"], 2, "missing `--perfetto-ui`");
}
