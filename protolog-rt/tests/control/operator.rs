//! What an operator can do.

use crate::{group, listen};
use protolog_control::{Error, Program};
use protolog_core::FillPolicy;
use protolog_core::control::protocol::{Request, TraceStart};
use protolog_core::control::switch;
use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, d, i, print_group, w};
use std::path::Path;
use std::time::{Duration, Instant};

/// From this level on.
fn from(level: Level) -> u8 {
    protolog_core::control::levels_at_least(Some(level))
}

#[test]
fn groups_are_listed_with_their_state() {
    #[derive(ProtoLogGroup)]
    enum Listed {
        #[protolog(tag = "two words", log_to_text = true)]
        Printed,
        Quiet,
        #[protolog(enabled = false)]
        Out,
    }
    #[derive(ProtoLogGroup)]
    enum Unused {
        Later,
    }
    d!(Listed::Out, "never");
    if std::env::args().count() > 1000 {
        d!(Unused::Later, "never called, but in the binary");
    }
    let program = listen();
    let mut operator = program.connect();
    assert_eq!(operator.pid, std::process::id());
    assert!(operator.name.starts_with("control-"), "{}", operator.name);
    assert_eq!(group(&mut operator, "Unused::Later").page, None, "only a note so far");
    assert!(!Listed::Quiet.is_enabled(Level::Debug) && Listed::Printed.is_enabled(Level::Debug));
    let printed = group(&mut operator, "Listed::Printed");
    assert_eq!(
        (printed.name.as_str(), printed.tag.as_str()),
        ("control::Listed::Printed", "two words")
    );
    assert_eq!(
        (printed.index, printed.compiled, switch::text_levels(printed.word)),
        (0, true, 0x3f)
    );
    assert!(printed.page.is_some());
    assert!(!group(&mut operator, "Listed::Out").compiled);
}

#[test]
fn a_switch_is_a_store() {
    #[derive(ProtoLogGroup)]
    enum Switched {
        Net,
        Disk,
    }
    let program = listen();
    print_group(&Switched::Disk, None);
    assert!(!Switched::Net.is_enabled(Level::Wtf));
    let mut operator = program.connect();
    let (net, disk) =
        (group(&mut operator, "Switched::Net"), group(&mut operator, "Switched::Disk"));
    let pages = operator.pages().expect("pages");
    drop(operator);
    drop(program.server);
    // Nobody listens any more, and it works all the same.
    assert!(pages.set_text_levels(&net, from(Level::Warn)));
    assert!(Switched::Net.is_enabled(Level::Warn) && !Switched::Net.is_enabled(Level::Info));
    assert!(!Switched::Disk.is_enabled(Level::Wtf));
    assert!(pages.set_text_levels(&net, 0) && pages.set_text_levels(&disk, 0));
    assert!(!Switched::Net.is_enabled(Level::Wtf));
}

#[test]
fn an_operator_takes_levels_from_sessions_and_gives_them_back() {
    #[derive(ProtoLogGroup)]
    enum Masked {
        Net,
    }
    let program = listen();
    let path = program.dir.path().join("a.pftrace");
    let session =
        Session::builder().file(&path).group("Masked::Net", Level::Debug).start().unwrap();
    d!(Masked::Net, "one");
    let mut operator = program.connect();
    let net = group(&mut operator, "Masked::Net");
    let pages = operator.pages().expect("pages");
    assert!(pages.set_allowed_levels(&net, from(Level::Warn)));
    d!(Masked::Net, "two %d", evaluated());
    w!(Masked::Net, "three");
    let other = Session::builder().file(program.dir.path().join("b")).enable_all().start().unwrap();
    i!(Masked::Net, "four: another session changes nothing");
    other.stop().unwrap();
    assert!(pages.set_allowed_levels(&net, 0x3f));
    d!(Masked::Net, "five");
    assert!(!Masked::Net.is_enabled(Level::Verbose), "no more than the session wants");
    session.stop().unwrap();
    assert_eq!(messages(&path), ["one", "three", "five"]);
}

fn evaluated() -> i32 {
    panic!("what is switched off evaluates nothing")
}

fn messages(path: &Path) -> Vec<String> {
    let log = Trace::open(path).unwrap().read().unwrap();
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}

#[test]
fn wishes_hold_for_groups_that_come_later() {
    #[derive(ProtoLogGroup)]
    enum Late {
        Net,
        Disk,
    }
    let program = listen();
    let mut operator = program.connect();
    operator.request(&Request::Set("late::net=warn,text:error;Late::*=off")).unwrap_err();
    operator.request(&Request::Set("late::net=warn,text:error")).unwrap();
    assert!(Late::Net.is_enabled(Level::Error) && !Late::Net.is_enabled(Level::Warn));
    assert!(!Late::Disk.is_enabled(Level::Wtf));
    let word = group(&mut operator, "Late::Net").word;
    assert_eq!(switch::allowed_levels(word), from(Level::Warn));
    operator.request(&Request::Set("late::disk=text")).unwrap();
    assert!(Late::Disk.is_enabled(Level::Verbose), "and for those that are there");
}

#[test]
fn traces_are_started_and_stopped() {
    #[derive(ProtoLogGroup)]
    enum Traced {
        Net,
        Disk,
    }
    let program = listen();
    let mut operator = program.connect();
    let path = program.dir.path().join("a file.pftrace");
    let file = path.to_str().unwrap();
    let settings = "*=warn;traced::net=debug";
    let start = TraceStart { fill_policy: FillPolicy::Stream, buffer: 65536, settings, file };
    assert_eq!(
        refused(&mut operator, &Request::TraceStop),
        "no trace is being written / start one with `trace start FILE`"
    );
    assert!(operator.request(&Request::TraceStatus).unwrap().is_empty());
    operator.request(&Request::TraceStart(start)).unwrap();
    d!(Traced::Net, "net %d", 1);
    d!(Traced::Disk, "not wanted");
    w!(Traced::Disk, "disk");
    let begun = Instant::now();
    loop {
        let status = operator.request(&Request::TraceStatus).unwrap().remove(0);
        // Where the trace's thread does not get to run within a second, it is told how far it was before.
        if status.starts_with("session y stream 2 0 ") && status.ends_with(file) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{status}");
    }
    let again = refused(&mut operator, &Request::TraceStart(start));
    assert!(again.starts_with("a trace is being written to `"), "{again}");
    let stopped = operator.request(&Request::TraceStop).unwrap();
    assert!(stopped[0].starts_with("session y stream 2 0 "), "{stopped:?}");
    assert_eq!(messages(&path), ["net 1", "disk"]);
    let relative = TraceStart { file: "a.pftrace", ..start };
    assert!(
        refused(&mut operator, &Request::TraceStart(relative))
            .starts_with("`a.pftrace` is no absolute")
    );
    let kept = TraceStart { fill_policy: FillPolicy::RingBuffer, settings: "-", ..start };
    operator.request(&Request::TraceStart(kept)).unwrap();
    drop(operator);
    drop(program.server);
    assert!(!Traced::Net.is_enabled(Level::Wtf), "who stops listening ends the trace");
}

#[test]
fn stats_tell_of_all_sessions() {
    #[derive(ProtoLogGroup)]
    enum Counted {
        Net,
    }
    let program = listen();
    let mut operator = program.connect();
    let path = |name: &str| program.dir.path().join(name);
    let streams =
        Session::builder().file(path("s t")).group("Counted::Net", Level::Info).start().unwrap();
    let keeps = Session::builder()
        .file(path("k"))
        .group("Counted::Net", Level::Warn)
        .keep_newest()
        .start()
        .unwrap();
    i!(Counted::Net, "one");
    w!(Counted::Net, "two");
    streams.flush().unwrap();
    let told = operator.request(&Request::Stats).unwrap();
    let lines = |end: &str| {
        let at = told.iter().position(|line| line.ends_with(end)).expect(end);
        [told[at].as_str(), &told[at + 1], told.get(at + 2).map_or("", |line| line)]
    };
    let [session, written, next] = lines("/s t");
    assert!(session.starts_with("session n stream 2 0 "), "{told:?}");
    let so_far = streams.summary();
    let bytes = so_far.groups[0].bytes;
    assert!(bytes > 20, "{so_far:?}");
    assert_eq!(written, format!("written 2 0 {bytes} control::Counted::Net"));
    assert!(!next.starts_with("written") && !next.starts_with("lost"), "{told:?}");
    let [session, written, _] = lines("/k");
    assert!(session.starts_with("session n ring-buffer "), "{told:?}");
    assert!(written.starts_with("written 1 0 "), "{told:?}");
    assert_eq!((so_far.messages, so_far.lost()), (2, 0));
    assert_eq!(so_far.bytes, std::fs::metadata(path("s t")).unwrap().len());
    assert_eq!(streams.stop().unwrap().messages, 2);
    keeps.stop().unwrap();
}

#[test]
fn stats_tell_what_each_group_lost() {
    #[derive(ProtoLogGroup)]
    enum Losing {
        Net,
        Disk,
    }
    let program = listen();
    let mut operator = program.connect();
    let file = program.dir.path().join("first").to_string_lossy().into_owned();
    let settings = "*=off;losing::net=debug;losing::disk=debug";
    let start =
        TraceStart { fill_policy: FillPolicy::Discard, buffer: 64 << 10, settings, file: &file };
    operator.request(&Request::TraceStart(start)).unwrap();
    d!(Losing::Disk, "one that is there");
    for number in 0..20_000 {
        d!(Losing::Net, "number %d", number);
    }
    let status = operator.request(&Request::TraceStatus).unwrap();
    let [_, disk, net, lost] = &status[..] else { panic!("{status:?}") };
    assert!(disk.starts_with("written 1 0 ") && disk.ends_with("Losing::Disk"), "{status:?}");
    let words: Vec<&str> = net.split(' ').collect();
    let [written, net_lost] = [1, 2].map(|at| words[at].parse::<u64>().unwrap());
    assert!(written > 100 && written + net_lost == 20_000, "{status:?}");
    assert_eq!(*lost, format!("lost {net_lost} buffer_full control::Losing::Net"));
    assert_eq!(operator.request(&Request::TraceStop).unwrap()[2..], status[2..]);
}

#[test]
fn stats_tell_what_was_overwritten() {
    #[derive(ProtoLogGroup)]
    enum Overwriting {
        Net,
    }
    let program = listen();
    let mut operator = program.connect();
    let file = program.dir.path().join("newest").to_string_lossy().into_owned();
    let settings = "*=off;overwriting::net=debug";
    let start =
        TraceStart { fill_policy: FillPolicy::RingBuffer, buffer: 64 << 10, settings, file: &file };
    operator.request(&Request::TraceStart(start)).unwrap();
    for number in 0..20_000 {
        d!(Overwriting::Net, "number %d", number);
    }
    let status = operator.request(&Request::TraceStatus).unwrap();
    let number = |line: &str, at: usize| line.split(' ').nth(at).unwrap().parse::<u64>().unwrap();
    let check = |told: &[String]| {
        let [session, unknown, lost, net] = told else { panic!("{told:?}") };
        let (kept, gone) = (number(session, 3), number(session, 4));
        assert_eq!(*unknown, format!("written 0 {gone} 0 "));
        assert_eq!(*lost, format!("lost {gone} overwritten "));
        assert_eq!((number(net, 1), number(net, 2)), (kept, 0));
        assert!(net.ends_with(" control::Overwriting::Net") && kept > 100, "{told:?}");
        (kept, gone)
    };
    let (kept, gone) = check(&status);
    let (written, overwritten) = check(&operator.request(&Request::TraceStop).unwrap());
    assert_eq!((written + overwritten, written), (20_000, kept));
    // What the last chunk of the thread has overwritten is not told before it is full.
    assert!(gone <= overwritten && overwritten - gone < 500, "{gone} {overwritten}");
    assert_eq!(messages(Path::new(&file)).len() as u64, written);
}

fn refused(operator: &mut Program, request: &Request<'_>) -> String {
    match operator.request(request) {
        Err(Error::Refused { message, help }) => format!("{message} / {help}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_bits_in_the_pages_do_no_harm() {
    #[derive(ProtoLogGroup)]
    enum Harmed {
        Net,
        #[protolog(enabled = false)]
        Out,
    }
    let program = listen();
    let path = program.dir.path().join("a.pftrace");
    // The text side is kept out of it: it would print.
    let quiet = !(switch::ALL_LEVELS << switch::TEXT_SHIFT);
    let session = Session::builder().file(&path).group("Harmed::Net", Level::Info).start().unwrap();
    i!(Harmed::Net, "first");
    d!(Harmed::Out, "out");
    let mut operator = program.connect();
    let (net, out) = (group(&mut operator, "Harmed::Net"), group(&mut operator, "Harmed::Out"));
    let pages = operator.pages().unwrap();
    let rounds = 20_000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut bits = 0x9e37_79b9_u32;
            for _ in 0..rounds {
                bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                for word in [&net, &out] {
                    pages
                        .word(word)
                        .unwrap()
                        .store(bits & quiet, std::sync::atomic::Ordering::Relaxed);
                }
            }
        });
        scope.spawn(|| {
            for number in 0..rounds {
                i!(Harmed::Net, "number %d", number);
                d!(Harmed::Out, "out");
            }
        });
        for number in 0..20 {
            let path = program.dir.path().join(format!("{number}.pftrace"));
            Session::builder().file(path).enable_all().start().unwrap().stop().unwrap();
        }
    });
    for word in [&net, &out] {
        pages.word(word).unwrap().store(0, std::sync::atomic::Ordering::Relaxed);
    }
    pages.set_allowed_levels(&net, 0x3f);
    let summary = session.stop().unwrap();
    let messages = messages(&path);
    assert_eq!(messages.len() as u64, summary.messages);
    assert_eq!(messages[0], "first");
    assert!(messages[1..].iter().all(|message| message.starts_with("number ")));
}
