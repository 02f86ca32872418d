//! Spans of futures on tokio's threads, between which tasks move: as our reader and Perfetto's
//! trace_processor show them, against what the tasks themselves wrote down.

mod common;
#[path = "common/spans.rs"]
mod spans;

use common::{Trace, record};
use protolog_reader::{Log as Read, Rendering, spans_text};
use protolog_rt::{Builder, InSpan, Level, ProtoLogGroup, Span, i, span};
use spans::{read, slices};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[derive(ProtoLogGroup)]
enum Log {
    Task,
}

const TASKS: u64 = 24;
const STEPS: u64 = 6;

/// The threads that polled each task, poll by poll, as the task itself saw them.
type Polls = Arc<Mutex<BTreeMap<u64, Vec<std::thread::ThreadId>>>>;

/// Notes each poll of a future.
struct Noted<F> {
    task: u64,
    polls: Polls,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Noted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let thread = std::thread::current().id();
        self.polls.lock().unwrap().entry(self.task).or_default().push(thread);
        self.future.as_mut().poll(context)
    }
}

async fn step(task: u64, step: u64) {
    i!(Log::Task, "%d: in step %d", task, step);
    tokio::task::yield_now().await;
    std::thread::sleep(Duration::from_micros(200));
    i!(Log::Task, "%d: again in step %d", task, step);
}

async fn task(number: u64) {
    for at in 0..STEPS {
        i!(Log::Task, "%d: before step %d", number, at);
        step(number, at).in_span(|| span!(Level::Debug, Log::Task, "step %d", at = at)).await;
        let _plain = span!(Log::Task, "plain");
        i!(Log::Task, "%d: after step %d", number, at);
    }
}

fn run(polls: &Polls) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let spawn = |number: u64| {
            let polls = Arc::clone(polls);
            let noted = Noted { task: number, polls, future: Box::pin(task(number)) };
            tokio::spawn(noted.in_span(move || span!(Log::Task, "task %d", number = number)))
        };
        for task in (0..TASKS).map(spawn).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

#[test]
fn each_poll_is_a_slice_within_the_task_that_is_polled() {
    let polls = Polls::default();
    let recording = record(Builder::enable_all);
    run(&polls);
    let trace = recording.stop();
    let lines = slices(&trace);
    let log = read(&trace);
    let polls = polls.lock().unwrap();
    assert!(polls.values().any(|of| of.iter().collect::<HashSetOf>().len() > 1), "some task moves");
    let (mut numbers, mut all) = (BTreeSet::new(), 0);
    for (task, polled) in &*polls {
        let name = format!("0 task spans_async::Log::Task number={task}");
        assert_eq!(lines.iter().filter(|line| **line == name).count(), polled.len(), "{name}");
        let own = log
            .slices()
            .iter()
            .filter(|slice| &*slice.name == "task" && slice.args[0].value == task.to_string());
        let own: Vec<_> = own.collect();
        let number = own[0].number().expect("a number");
        assert!(own.iter().all(|slice| slice.number() == Some(number)), "one span");
        assert!(numbers.insert(number), "a number of its own");
        check_times(&own);
        let threads =
            own.iter().map(|slice| log.thread_of_slice(slice).tid).collect::<BTreeSet<_>>();
        let seen = polled.iter().collect::<HashSetOf>();
        assert_eq!(threads.len(), seen.len(), "as many threads as polled it");
        all += polled.len();
    }
    check_messages(&log);
    check_flows(&trace, all - TASKS as usize + (TASKS * STEPS) as usize);
    check_parents(&trace);
}

type HashSetOf<'a> = std::collections::HashSet<&'a std::thread::ThreadId>;

/// All slices but the first have the times of the span.
fn check_times(own: &[&protolog_reader::SpanSlice]) {
    let mut sum = 0;
    for (index, slice) in own.iter().enumerate() {
        let took = slice.duration().expect("each has ended");
        assert_eq!(slice.busy().is_some(), index > 0);
        sum += took;
        let Some((busy, age)) = slice.busy().zip(slice.age()) else { continue };
        assert!(busy <= age, "{busy} of {age}");
        // The clock is read beside the events.
        assert!(busy.abs_diff(sum as u64) < 1_000_000 * own.len() as u64, "{busy} {sum}");
    }
}

/// Each message is in the spans of its own task.
fn check_messages(log: &Read) {
    let mut count = 0;
    for entry in log.entries() {
        let text = entry.values().text(Rendering::Bare);
        let (task, rest) = text.split_once(": ").expect("a task");
        let step = rest.rsplit(' ').next().expect("a step");
        let expected = match rest.split(' ').next() {
            Some("before") => format!("task{{number={task}}}"),
            Some("after") => format!("task{{number={task}}}:plain"),
            _ => format!("task{{number={task}}}:step{{at={step}}}"),
        };
        assert_eq!(spans_text(&entry.spans()), expected, "{text}");
        count += 1;
    }
    assert_eq!(count, TASKS * STEPS * 4);
}

/// Perfetto ties the slices of a span together.
fn check_flows(trace: &Trace, expected: usize) {
    let Some(flows) = trace.query("select count(*) as count from flow") else { return };
    assert_eq!(flows.texts("count"), [expected.to_string()]);
    let across = "select count(*) as count from flow join slice a on slice_out = a.id join slice b on slice_in = b.id
        join args x on x.arg_set_id = a.arg_set_id join args y on y.arg_set_id = b.arg_set_id
        where a.name = 'task' and (b.name != 'task' or x.display_value != y.display_value)";
    assert_eq!(trace.query(across).expect("flows").texts("count"), ["0"]);
}

/// In Perfetto, the parent of a step is a slice of its task, and that of a plain span, too.
fn check_parents(trace: &Trace) {
    let parents = "select a.name || ' in ' || b.name as line, count(*) as count
        from slice a join slice b on a.parent_id = b.id group by 1 order by 1";
    let Some(parents) = trace.query(parents) else { return };
    assert_eq!(parents.texts("line"), ["plain in task", "step in task"]);
    assert_eq!(parents.texts("count"), [TASKS * STEPS, 2 * TASKS * STEPS].map(|it| it.to_string()));
}

/// Polls a future that is ready after some polls.
fn poll_to_end(future: impl Future<Output = ()>) -> u32 {
    let (mut future, mut count) = (pin!(future), 0);
    loop {
        count += 1;
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return count;
        }
    }
}

#[test]
fn a_guard_over_an_await_ends_with_the_poll() {
    let recording = record(Builder::enable_all);
    let future = async {
        let _held = span!(Log::Task, "held");
        i!(Log::Task, "in both");
        tokio::task::yield_now().await;
        i!(Log::Task, "in the outer one");
    };
    assert_eq!(poll_to_end(future.in_span(|| span!(Log::Task, "outer"))), 2);
    let trace = recording.stop();
    let task = "spans_async::Log::Task";
    assert_eq!(slices(&trace), ["0 outer", "1 held", "0 outer"].map(|it| format!("{it} {task}")));
    let log = read(&trace);
    let around = log.entries().map(|entry| spans_text(&entry.spans()));
    assert_eq!(around.collect::<Vec<_>>(), ["outer:held", "outer"]);
}

#[test]
fn the_number_of_a_task_goes_to_its_own_span() {
    fn nested() -> u64 {
        let _other = span!(Log::Task, "other");
        7
    }
    let recording = record(Builder::enable_all);
    let future = async {
        tokio::task::yield_now().await;
        let _within = span!(Log::Task, "within");
    };
    poll_to_end(future.in_span(|| span!(Log::Task, "task %d", nested())));
    // Without a span: nothing is left for the next one.
    poll_to_end(async {}.in_span(Span::none));
    drop(span!(Log::Task, "after"));
    let trace = recording.stop();
    let log = read(&trace);
    let numbers = log.slices().iter().map(|slice| (&*slice.name, slice.number().is_some()));
    let expected = [("other", false), ("task", true), ("other", false), ("task", true)];
    let expected = [&expected[..], &[("within", false), ("after", false)]].concat();
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
    assert_eq!(log.slices()[1].number(), log.slices()[3].number());
}

#[test]
fn a_session_that_starts_between_polls_has_the_rest() {
    let future = async {
        i!(Log::Task, "unseen");
        tokio::task::yield_now().await;
        i!(Log::Task, "first");
        tokio::task::yield_now().await;
        i!(Log::Task, "second");
    };
    let mut future = pin!(future.in_span(|| span!(Log::Task, "task")));
    let mut poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!poll());
    let recording = record(Builder::enable_all);
    assert!(!poll() && poll());
    let trace = recording.stop();
    assert_eq!(slices(&trace), ["0 task spans_async::Log::Task"; 2]);
    let log = read(&trace);
    let times = log.slices().iter().map(|slice| slice.busy().is_some());
    assert_eq!(times.collect::<Vec<_>>(), [false, true]);
}
