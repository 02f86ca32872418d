//! Tasks on tokio's threads: Perfetto's trace_processor shows each on a track of its own, beside
//! its polls on the tracks of the threads. Tasks of `in_span`, and of `tracing`'s `#[instrument]`
//! and `Instrument`.

#![cfg(feature = "tracing")]

mod common;

use common::{Trace, record};
use protolog_reader::for_perfetto_ui;
use protolog_rt::{Builder, InSpan, ProtoLogGroup, bridge, span};
use protolog_testkit::{Table, trace_processor, trace_stats};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use tracing::{Instrument, instrument};
use tracing_subscriber::layer::SubscriberExt;

#[derive(ProtoLogGroup)]
enum Log {
    Task,
}

const TASKS: u64 = 12;

async fn pause() {
    tokio::task::yield_now().await;
    std::thread::sleep(std::time::Duration::from_micros(200));
}

async fn task() {
    for at in 0..3 {
        pause().in_span(|| span!(Log::Task, "step %d", at = at)).await;
    }
    // Neither is within the other.
    tokio::join!(
        pause().in_span(|| span!(Log::Task, "left")),
        pause().in_span(|| span!(Log::Task, "right"))
    );
    pause().await;
}

#[instrument]
async fn step(at: u64) {
    pause().await;
}

#[instrument(name = "task")]
async fn traced_task(number: u64) {
    for at in 0..3 {
        step(at).await;
    }
    tokio::join!(
        pause().instrument(tracing::info_span!("left")),
        pause().instrument(tracing::info_span!("right"))
    );
    pause().await;
}

fn run<F: Future<Output = ()> + Send + 'static>(task: impl Fn(u64) -> F) -> Trace {
    let recording = record(Builder::enable_all);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        for task in (0..TASKS).map(|number| tokio::spawn(task(number))).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
    drop(runtime);
    recording.stop()
}

/// The tracks of tasks, as trace_processor shows those that `merge --perfetto-ui` and
/// `view --perfetto` add.
fn tracks_of(trace: &Trace) -> Option<Table> {
    let bytes = std::fs::read(&trace.path).unwrap();
    let (with_tracks, _) = for_perfetto_ui(bytes.clone(), &[], 64).unwrap();
    let path = trace.path.with_extension("ui");
    std::fs::write(&path, &with_tracks).unwrap();
    let slices = |bytes: Vec<u8>| {
        protolog_reader::Trace::from_bytes(bytes).with_slices().read().unwrap().slices().len()
    };
    assert_eq!(slices(with_tracks), slices(bytes), "our reader has those of threads alone");
    let sql = "select track.id || '' as track, track.name as title, slice.depth || ' ' || slice.name || ' in '
            || ifnull(parent.name, '-') as line, slice.dur as dur, process.pid as pid
        from slice join track on slice.track_id = track.id left join slice parent on slice.parent_id = parent.id
        left join process_track on process_track.id = track.id left join process using (upid)
        where track.name glob 'task#*' order by track.id, slice.ts, slice.depth";
    let table = trace_processor(&path, &[sql])?.remove(0);
    assert_eq!(trace_stats(&path).unwrap().to_string(), "", "counters of trace_processor");
    let own = std::process::id().to_string();
    assert!(table.texts("pid").iter().all(|pid| *pid == own), "tracks of the process: {table}");
    Some(table)
}

fn check(trace: &Trace) {
    let Some(table) = tracks_of(trace) else { return };
    let [tracks, titles, lines, durations] =
        ["track", "title", "line", "dur"].map(|column| table.texts(column));
    assert!(durations.iter().all(|ns| ns.parse::<i64>().unwrap() > 0), "each has ended");
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if at == 0 || tracks[at] != tracks[at - 1] {
            let (name, number) = titles[at].split_once(" number=").expect("a task");
            assert!(name.starts_with("task#"), "{name}");
            found.push((number.parse::<u64>().unwrap(), Vec::new()));
        }
        found.last_mut().unwrap().1.push(line.as_str());
    }
    found.sort();
    let step = "1 step in task";
    let task = vec!["0 task in -", step, step, step, "1 left in task"];
    let expected =
        (0..TASKS).flat_map(|number| [(number, vec!["0 right in -"]), (number, task.clone())]);
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn a_task_of_ours_has_a_track() {
    check(&run(|number| task().in_span(move || span!(Log::Task, "task %d", number = number))));
}

#[test]
fn a_task_of_tracing_has_a_track() {
    let registry = tracing_subscriber::registry().with(bridge::tracing_layer());
    tracing::subscriber::set_global_default(registry).unwrap();
    check(&run(traced_task));
}

fn poll(future: Pin<&mut impl Future<Output = ()>>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// A task that is dropped while it waits ends with its last poll, and a span that outlives the one
/// in which it began ends neither that nor anything later.
#[test]
fn a_task_ends_with_its_last_poll() {
    async fn pauses() {
        pause().await;
        pause().await;
    }
    let recording = record(Builder::enable_all);
    let name = |number: u64| move || span!(Log::Task, "task %d", number = number);
    {
        let mut cancelled = pin!(pauses().in_span(name(0)));
        assert!(!poll(cancelled.as_mut()) && !poll(cancelled.as_mut()));
    }
    let mut inner = Box::pin(pauses().in_span(|| span!(Log::Task, "inner")));
    {
        let outer = async {
            assert!(!poll(inner.as_mut()));
            pause().await;
        };
        let mut outer = pin!(outer.in_span(name(1)));
        assert!(!poll(outer.as_mut()) && poll(outer.as_mut()));
    }
    assert!(!poll(inner.as_mut()) && poll(inner.as_mut()));
    let mut later = pin!(pauses().in_span(name(2)));
    assert!(!poll(later.as_mut()) && !poll(later.as_mut()) && poll(later.as_mut()));
    let trace = recording.stop();
    let Some(table) = tracks_of(&trace) else { return };
    let ended = table.texts("dur").iter().all(|ns| ns.parse::<i64>().unwrap() > 0);
    assert!(ended, "each has ended");
    let lines = table.texts("title").into_iter().zip(table.texts("line"));
    let lines = lines.map(|(title, line)| format!("{}: {line}", &title[title.len() - 1..]));
    let expected = ["0: 0 task in -", "1: 0 task in -", "1: 0 inner in -", "2: 0 task in -"];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}
