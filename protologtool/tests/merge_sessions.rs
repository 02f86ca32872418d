//! `merge` of what one session has left in several files: its snapshots, its recording, copies of
//! these, whole and cut off.

use protolog_reader::{Recording, Rendering, Trace};
use protolog_rt::{Level, ProtoLogGroup, Session, i, w};
use protolog_testkit::{temp_dir, trace_processor};
use protologtool::cli::{self, Exit};
use protologtool::system::Real;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

#[derive(ProtoLogGroup)]
enum Log {
    Net,
}

/// Messages of each thread before each snapshot.
const MESSAGES: usize = 300;

/// Logs on two threads; each message is unlike all others.
fn log(part: usize) {
    thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    w!(
                        Log::Net,
                        "%d of %d in %d: %s",
                        number,
                        worker,
                        part,
                        &format!("host {}", number % 9)
                    );
                }
            });
        }
    });
    i!(Log::Net, "done %d", part = part);
}

/// Merges the files, and returns the texts of the result in order.
fn merged(inputs: &[&Path], out: &Path) -> Vec<String> {
    let mut args = vec!["protologtool".into(), "merge".into()];
    args.extend(inputs.iter().map(|path| path.as_os_str().to_owned()));
    args.extend(["-o".into(), out.as_os_str().to_owned()]);
    let exit = cli::run(args, &Real);
    assert!(matches!(exit, Exit::Done | Exit::Incomplete), "{exit:?}");
    texts(out)
}

fn texts(path: &Path) -> Vec<String> {
    let log = Trace::open(path).unwrap().read().unwrap();
    assert_eq!((log.stats().missing_strings, log.stats().guessed_times), (0, 0));
    for entry in log.entries() {
        let values = entry.values();
        let named: Vec<_> = values.fields().into_iter().map(|(name, _)| name).collect();
        let is_last = values.text(Rendering::Full).starts_with("done");
        assert_eq!(named, if is_last { &["part"][..] } else { &[] });
    }
    let mut texts: Vec<_> =
        log.entries().map(|entry| entry.values().text(Rendering::Full)).collect();
    if let Some(tables) = trace_processor(path, &["select message from protolog"]) {
        assert_eq!(tables[0].rows.len(), texts.len(), "{}", path.display());
    }
    texts.sort();
    texts
}

#[test]
fn what_a_session_left_in_several_files_is_there_once() {
    let dir = temp_dir();
    let path = |name: &str| -> PathBuf { dir.path().join(name) };
    let session = Session::builder()
        .group("Net", Level::Debug)
        .record_at(path("app.rec"))
        .buffer_size(1 << 20)
        .start()
        .unwrap();
    log(1);
    session.snapshot(path("first")).unwrap();
    log(2);
    session.snapshot(path("second")).unwrap();
    log(3);
    let mut recovered = Vec::new();
    let recording = fs::read(path("app.rec")).unwrap();
    Recording::parse(&recording).unwrap().write(&mut recovered).unwrap();
    fs::write(path("recovered"), &recovered).unwrap();
    session.stop().unwrap();
    let first = fs::read(path("first")).unwrap();
    fs::write(path("copy"), &first).unwrap();
    fs::write(path("cut"), &first[..first.len() * 2 / 3]).unwrap();
    let all = texts(&path("recovered"));
    assert_eq!(all.len(), 3 * (2 * MESSAGES + 1));
    let names = ["first", "second", "recovered", "copy", "cut"].map(path);
    for turn in 0..names.len() {
        let mut inputs: Vec<&Path> = names.iter().map(PathBuf::as_path).collect();
        inputs.rotate_left(turn);
        assert!(merged(&inputs, &path("out")) == all, "{turn}");
    }
    assert!(merged(&[&names[0], &names[3]], &path("out")) == texts(&names[0]));
    assert!(merged(&[&names[0], &names[2]], &path("out")) == all);
    // The result with its sources, and with itself.
    assert!(merged(&[&path("out"), &names[1], &names[4]], &path("again")) == all);
    assert!(merged(&[&path("again"), &path("out")], &path("last")) == all);
    let size = |name: &str| fs::metadata(path(name)).unwrap().len();
    assert!(size("last") < size("recovered") * 3 / 2, "{} {}", size("last"), size("recovered"));
    // Through pipes.
    let output = Command::new(env!("CARGO_BIN_EXE_protologtool"))
        .args(["merge", "-"])
        .arg(path("recovered"))
        .args(["-o", "-"])
        .stdin(fs::File::open(path("first")).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::write(path("piped"), output.stdout).unwrap();
    assert!(texts(&path("piped")) == all);
}
