//! The operations of an operator.

use crate::{group, listen};
use protolog_control::{Error, Program};
use protolog_core::FillPolicy;
use protolog_core::control::protocol::{Reply, Request, TraceStart};
use protolog_core::control::switch;
use protolog_reader::{Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, d, i, print_group, w};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

/// The levels from `level` on, as bits.
fn at_least(level: Level) -> u8 {
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
    assert_eq!(group(&mut operator, "Unused::Later").page, None, "only a call-site note so far");
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
fn switching_a_group_is_a_store_to_shared_memory() {
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
    // The switches work without the server.
    assert!(pages.set_text_levels(&net, at_least(Level::Warn)));
    assert!(Switched::Net.is_enabled(Level::Warn) && !Switched::Net.is_enabled(Level::Info));
    assert!(!Switched::Disk.is_enabled(Level::Wtf));
    assert!(pages.set_text_levels(&net, 0) && pages.set_text_levels(&disk, 0));
    assert!(!Switched::Net.is_enabled(Level::Wtf));
}

#[test]
fn an_operator_without_descriptors_maps_the_memory_by_its_name() {
    #[derive(ProtoLogGroup)]
    enum Named {
        Net,
    }
    let program = listen();
    assert!(!Named::Net.is_enabled(Level::Wtf));
    let mut operator = program.connect();
    let net = group(&mut operator, "Named::Net");
    let pages = operator.pages_file().expect("pages by name");
    assert!(pages.set_text_levels(&net, at_least(Level::Warn)));
    assert!(Named::Net.is_enabled(Level::Warn) && !Named::Net.is_enabled(Level::Info));
    let session = Session::builder().file(program.dir.path().join("a")).enable_all();
    let session = session.start().unwrap();
    assert!(Named::Net.is_enabled(Level::Debug));
    assert!(pages.set_text_levels(&net, 0) && pages.set_allowed_levels(&net, 0));
    assert!(!Named::Net.is_enabled(Level::Wtf), "no session may record it");
    assert!(pages.set_allowed_levels(&net, 0x3f));
    session.stop().unwrap();
    // It is the memory of `pages`, private and sealed, and no file of it is in a directory.
    let same = operator.pages().expect("pages").word(&net).unwrap().as_ptr() as usize;
    assert_ne!(same, pages.word(&net).unwrap().as_ptr() as usize, "two mappings");
    let reply = operator.request(&Request::PagesFile).unwrap().remove(0);
    let Some(Reply::PagesFile { name, .. }) = Reply::parse(&reply) else { panic!("{reply}") };
    assert_eq!(std::fs::metadata(name).unwrap().mode() & 0o7777, 0o600);
    assert!(std::fs::File::options().write(true).open(name).unwrap().set_len(0).is_err());
    let files = std::fs::read_dir(program.server.path().parent().unwrap()).unwrap();
    assert_eq!(files.count(), 1, "the socket");
}

#[test]
fn an_operator_masks_levels_of_sessions_and_restores_them() {
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
    assert!(pages.set_allowed_levels(&net, at_least(Level::Warn)));
    d!(Masked::Net, "two %d", must_not_be_evaluated());
    w!(Masked::Net, "three");
    let other = Session::builder().file(program.dir.path().join("b")).enable_all().start().unwrap();
    i!(Masked::Net, "four: another session changes nothing");
    other.stop().unwrap();
    assert!(pages.set_allowed_levels(&net, 0x3f));
    d!(Masked::Net, "five");
    assert!(!Masked::Net.is_enabled(Level::Verbose), "no more than the session enables");
    session.stop().unwrap();
    assert_eq!(messages(&path), ["one", "three", "five"]);
}

fn must_not_be_evaluated() -> i32 {
    panic!("a disabled call evaluates no argument")
}

fn messages(path: &Path) -> Vec<String> {
    let log = Trace::open(path).unwrap().read().unwrap();
    log.entries().map(|entry| entry.values().text(Rendering::Bare)).collect()
}

/// Wrong input is quoted, however long it is, and the reply has its end.
#[test]
fn long_mistakes_are_refused_in_time() {
    let program = listen();
    let mut operator = program.connect();
    for letter in ["x", "ß"] {
        let long = letter.repeat(8180 / letter.len());
        let refused = refused(&mut operator, &Request::Set(&long));
        assert!(refused.starts_with("missing `=` in `"), "{refused}");
        assert!(refused.contains(&letter.repeat(4000)), "{refused}");
    }
    assert!(operator.groups().is_ok());
}

#[test]
fn settings_apply_to_groups_registered_later() {
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
    assert_eq!(switch::allowed_levels(word), at_least(Level::Warn));
    operator.request(&Request::Set("late::disk=text")).unwrap();
    assert!(Late::Disk.is_enabled(Level::Verbose), "also to registered groups");
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
    d!(Traced::Disk, "disabled");
    w!(Traced::Disk, "disk");
    let begun = Instant::now();
    loop {
        let status = operator.request(&Request::TraceStatus).unwrap().remove(0);
        // If the trace's thread is not scheduled within a second, the status is an older one.
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
    let pipe = program.dir.path().join("pipe");
    let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: the name is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    for fill_policy in [FillPolicy::Stream, FillPolicy::RingBuffer] {
        let to_pipe = TraceStart { fill_policy, file: pipe.to_str().unwrap(), ..start };
        let refused = refused(&mut operator, &Request::TraceStart(to_pipe));
        assert!(refused.contains("is a pipe / name a file"), "{refused}");
    }
    let ring = TraceStart { fill_policy: FillPolicy::RingBuffer, settings: "-", ..start };
    operator.request(&Request::TraceStart(ring)).unwrap();
    drop(operator);
    drop(program.server);
    assert!(!Traced::Net.is_enabled(Level::Wtf), "the trace ends with the server");
}

#[test]
fn a_trace_whose_name_somebody_has_taken_gets_another_one() {
    #[derive(ProtoLogGroup)]
    enum Taken {
        Net,
    }
    let program = listen();
    let mut operator = program.connect();
    let path = program.dir.path().join("taken.pftrace");
    let file = path.to_str().unwrap();
    for fill_policy in [FillPolicy::RingBuffer, FillPolicy::Discard] {
        let settings = "*=off;taken::net=debug";
        let start = TraceStart { fill_policy, buffer: 65536, settings, file };
        operator.request(&Request::TraceStart(start)).unwrap();
        d!(Taken::Net, "kept");
        // As another user can where anybody may make files.
        symlink("nowhere", &path).unwrap();
        let stopped = operator.request(&Request::TraceStop).unwrap();
        let other = stopped[0].rsplit(' ').next().unwrap();
        let begin = path.with_file_name("taken.run-");
        assert!(other.starts_with(begin.to_str().unwrap()), "{stopped:?}");
        assert_eq!(messages(Path::new(other)), ["kept"]);
        assert!(path.is_symlink(), "it is somebody else's");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn nothing_is_written_beside_a_device() {
    let program = listen();
    let mut operator = program.connect();
    let (fill_policy, settings) = (FillPolicy::RingBuffer, "-");
    let start = TraceStart { fill_policy, buffer: 65536, settings, file: "/dev/full" };
    operator.request(&Request::TraceStart(start)).unwrap();
    let refused = operator.request(&Request::TraceStop).unwrap_err();
    assert!(refused.to_string().contains("no space left"), "{refused}");
    let beside = std::fs::read_dir("/dev").unwrap().map(|entry| entry.unwrap().file_name());
    let beside: Vec<_> =
        beside.filter(|name| name.to_string_lossy().starts_with("full.")).collect();
    assert!(beside.is_empty(), "{beside:?}");
    // Another one can be started.
    assert!(operator.request(&Request::TraceStatus).unwrap().is_empty());
}

#[test]
fn stats_list_all_sessions() {
    #[derive(ProtoLogGroup)]
    enum Counted {
        Net,
    }
    let program = listen();
    let mut operator = program.connect();
    let path = |name: &str| program.dir.path().join(name);
    let stream =
        Session::builder().file(path("s t")).group("Counted::Net", Level::Info).start().unwrap();
    let ring = Session::builder()
        .file(path("k"))
        .group("Counted::Net", Level::Warn)
        .keep_newest()
        .start()
        .unwrap();
    i!(Counted::Net, "one");
    w!(Counted::Net, "two");
    stream.flush().unwrap();
    let stats = operator.request(&Request::Stats).unwrap();
    let lines = |end: &str| {
        let at = stats.iter().position(|line| line.ends_with(end)).expect(end);
        [stats[at].as_str(), &stats[at + 1], stats.get(at + 2).map_or("", |line| line)]
    };
    let [session, written, next] = lines("/s t");
    assert!(session.starts_with("session n stream 2 0 "), "{stats:?}");
    let so_far = stream.summary();
    let bytes = so_far.groups[0].bytes;
    assert!(bytes > 20, "{so_far:?}");
    assert_eq!(written, format!("written 2 0 {bytes} control::Counted::Net"));
    assert!(!next.starts_with("written") && !next.starts_with("lost"), "{stats:?}");
    let [session, written, _] = lines("/k");
    assert!(session.starts_with("session n ring-buffer "), "{stats:?}");
    assert!(written.starts_with("written 1 0 "), "{stats:?}");
    assert_eq!((so_far.messages, so_far.lost()), (2, 0));
    assert_eq!(so_far.bytes, std::fs::metadata(path("s t")).unwrap().len());
    assert_eq!(stream.stop().unwrap().messages, 2);
    ring.stop().unwrap();
}

#[test]
fn sessions_are_listed_with_what_each_records() {
    #[derive(ProtoLogGroup)]
    enum Traced {
        Net,
        Disk,
    }
    let program = listen();
    let mut operator = program.connect();
    let path = |name: &str| program.dir.path().join(name);
    let own = |all: Vec<protolog_control::Session>| {
        let dir = program.dir.path().to_str().unwrap().to_owned();
        let is_own = |session: &protolog_control::Session| {
            session.file.as_ref().is_some_and(|file| file.starts_with(&dir))
        };
        let mut all: Vec<_> = all.into_iter().filter(is_own).collect();
        // Other tests of this process have groups of their own.
        for one in &mut all {
            one.groups.retain(|name, _| name.contains("::Traced::"));
        }
        all.sort_by(|one, other| one.file.cmp(&other.file));
        all
    };
    let all = Session::builder().file(path("a b")).enable_all().start().unwrap();
    let builder = Session::builder().file(path("k")).group("Traced::Net", Level::Warn);
    let ring = builder.group("Traced::Disk", Level::Wtf).keep_newest().start().unwrap();
    // Neither group has been called yet, and nothing was flushed.
    let [first, second] = own(operator.sessions().unwrap().unwrap()).try_into().unwrap();
    assert_eq!((first.control, first.fill_policy), (false, FillPolicy::Stream));
    assert_eq!(first.file.as_deref(), path("a b").to_str());
    let levels = |session: &protolog_control::Session| {
        session.groups.iter().map(|(name, levels)| (name.clone(), *levels)).collect::<Vec<_>>()
    };
    let (disk, net) = ("control::Traced::Disk".to_owned(), "control::Traced::Net".to_owned());
    assert_eq!(levels(&first), [(disk.clone(), 0x3f), (net.clone(), 0x3f)]);
    assert_eq!((second.control, second.fill_policy), (false, FillPolicy::RingBuffer));
    assert_eq!(levels(&second), [(disk, 0b10_0000), (net, 0b11_1000)]);
    w!(Traced::Net, "one");
    i!(Traced::Disk, "two");
    all.stop().unwrap();
    assert_eq!(own(operator.sessions().unwrap().unwrap()), [second]);
    ring.stop().unwrap();
    assert_eq!(own(operator.sessions().unwrap().unwrap()), []);
}

#[test]
fn stats_have_the_losses_of_each_group() {
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
    d!(Losing::Disk, "one that is written");
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
fn stats_have_overwritten_messages() {
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
    let check = |stats: &[String]| {
        let [session, unknown, lost, net] = stats else { panic!("{stats:?}") };
        let (ring, overwritten_so_far) = (number(session, 3), number(session, 4));
        assert_eq!(*unknown, format!("written 0 {overwritten_so_far} 0 "));
        assert_eq!(*lost, format!("lost {overwritten_so_far} overwritten "));
        assert_eq!((number(net, 1), number(net, 2)), (ring, 0));
        assert!(net.ends_with(" control::Overwriting::Net") && ring > 100, "{stats:?}");
        (ring, overwritten_so_far)
    };
    let (ring, overwritten_so_far) = check(&status);
    let (written, overwritten) = check(&operator.request(&Request::TraceStop).unwrap());
    assert_eq!((written + overwritten, written), (20_000, ring));
    // Messages that the thread's current chunk overwrote are reported only once it is full.
    assert!(
        overwritten_so_far <= overwritten && overwritten - overwritten_so_far < 500,
        "{overwritten_so_far} {overwritten}"
    );
    assert_eq!(messages(Path::new(&file)).len() as u64, written);
}

fn refused(operator: &mut Program, request: &Request<'_>) -> String {
    match operator.request(request) {
        Err(Error::Refused { message, help }) => format!("{message} / {help}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn arbitrary_bits_in_the_pages_are_harmless() {
    #[derive(ProtoLogGroup)]
    enum Harmed {
        Net,
        #[protolog(enabled = false)]
        Out,
    }
    let program = listen();
    let path = program.dir.path().join("a.pftrace");
    // Bits of text levels stay unset, or the test would print.
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
