//! An attacker's traces in which short messages name long texts: interned strings, stack traces,
//! templates and names stand in a trace once, and are shown with each message.
//!
//! Each command runs as a process whose memory is limited, has to end by itself, and says that it
//! left something out. What it writes is counted; time is not looked at.

use protolog_testkit::{TempDir, temp_dir};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The address space of a command, in KiB.
const MEMORY: u64 = 900 << 10;

/// The size of a long text, in bytes, and the number of messages that name it.
const LONG: usize = 100 << 10;
const MESSAGES: usize = 20_000;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let tag = u64::from(number << 3 | 2);
    [varint(tag), varint(content.len() as u64), content.to_vec()].concat()
}

fn number(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number << 3)), varint(value)].concat()
}

fn fixed(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number << 3 | 1)), value.to_le_bytes().to_vec()].concat()
}

/// A packet of sequence 2; the first one clears its state.
fn packet(fields: &[Vec<u8>], is_first: bool) -> Vec<u8> {
    let flags = number(13, if is_first { 1 } else { 2 });
    field(1, &[fields.concat(), flags, number(10, 2)].concat())
}

/// The ids of the templates.
const SAYS: u64 = 7;
const LITERAL: u64 = 8;

/// A trace with an interned text, a stack trace, a template, and a group with long names, and
/// `messages`.
fn trace(long: &str, messages: &[Vec<u8>]) -> Vec<u8> {
    let interned =
        |kind, iid, text: &str| field(kind, &[number(1, iid), field(2, text.as_bytes())].concat());
    let strings = [interned(36, 1, long), interned(36, 2, "short"), interned(37, 1, long)].concat();
    let template = |id, text: &str, group| {
        let text = field(2, text.as_bytes());
        field(1, &[fixed(1, id), text, number(3, 3), number(4, group)].concat())
    };
    let group = |id, name: &str| {
        let name = [number(1, id), field(2, name.as_bytes()), field(3, name.as_bytes())];
        field(2, &name.concat())
    };
    let dictionary = [
        template(SAYS, "says %s", 1),
        template(LITERAL, long, 1),
        template(9, "named %d", 2),
        template(10, "end of all", 1),
        group(1, "Door"),
        group(2, long),
    ];
    let mut bytes = packet(&[number(8, 1000), field(12, &strings)], true);
    bytes.extend(packet(&[field(105, &dictionary.concat())], false));
    for (message, time) in messages.iter().zip(2000..) {
        bytes.extend(packet(&[number(8, time), field(104, message)], false));
    }
    bytes.extend(packet(&[number(8, 1 << 40), field(104, &fixed(1, 10))], false));
    bytes
}

/// Traces by what their messages name.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let long = "a".repeat(LONG);
    let many = |message: Vec<u8>| vec![message; MESSAGES];
    vec![
        ("one message", trace(&long, &[[fixed(1, SAYS), number(2, 1).repeat(MESSAGES)].concat()])),
        (
            "one message of no dictionary",
            trace(&long, &[[fixed(1, 1), number(2, 1).repeat(MESSAGES)].concat()]),
        ),
        ("a packed list", trace(&long, &[[fixed(1, SAYS), field(2, &[1; MESSAGES])].concat()])),
        ("arguments", trace(&long, &many([fixed(1, SAYS), number(2, 1)].concat()))),
        ("few in each", trace(&long, &many([fixed(1, SAYS), number(2, 1).repeat(8)].concat()))),
        (
            "stack traces",
            trace(&long, &many([fixed(1, SAYS), number(2, 2), number(6, 1)].concat())),
        ),
        ("templates", trace(&long, &many(fixed(1, LITERAL)))),
        (
            "templates of other values",
            trace(&long, &many([fixed(1, LITERAL), number(3, 4)].concat())),
        ),
        (
            "templates that are all per cent",
            trace(&"%".repeat(LONG), &many([fixed(1, LITERAL), number(2, 2)].concat())),
        ),
        (
            "templates of conversions",
            trace(&"%s".repeat(LONG / 2), &[[fixed(1, LITERAL), number(2, 1).repeat(20)].concat()]),
        ),
    ]
}

/// One bomb of each kind of text, and one message that is a bomb.
const ONE_OF_EACH: [&str; 3] = ["one message", "stack traces", "templates of other values"];

/// The outcome of a command: the exit code, the number of bytes it wrote, the last of them, and the
/// errors.
struct Written {
    code: Option<i32>,
    bytes: u64,
    end: String,
    errors: String,
}

/// Runs the command in so little memory.
fn run(args: &[&str], paths: &[&Path]) -> Written {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\"; exit 99"), "sh"]);
    command.arg(env!("CARGO_BIN_EXE_protologtool")).args(args).args(paths).env("TZ", "UTC");
    let errors = tempfile();
    command.stdout(Stdio::piped()).stderr(fs::File::create(errors.1.as_path()).unwrap());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut bytes, mut end, mut part) = (0, Vec::new(), vec![0; 1 << 16]);
    loop {
        let read = out.read(&mut part).unwrap();
        if read == 0 {
            break;
        }
        bytes += read as u64;
        end.extend_from_slice(&part[..read]);
        let rest = end.len().saturating_sub(1 << 12);
        end.drain(..rest);
    }
    let code = child.wait().unwrap().code();
    let end = String::from_utf8_lossy(&end).into_owned();
    Written { code, bytes, end, errors: fs::read_to_string(errors.1).unwrap() }
}

fn tempfile() -> (TempDir, PathBuf) {
    let dir = temp_dir();
    let path = dir.path().join("errors");
    (dir, path)
}

/// The limit for a trace of this size, and a good part more for the lines about it.
fn limit(trace: &[u8]) -> u64 {
    (64 * trace.len() as u64).max(64 << 20)
}

fn check(written: &Written, name: &str) {
    assert_eq!(written.code, Some(3), "{name}: {}", written.errors);
    let is_said = written.errors.contains("expands to more than its limit");
    assert!(is_said && written.errors.contains("--max-expansion"), "{name}: {}", written.errors);
}

#[test]
fn lines_have_a_limit_in_all_forms() {
    let dir = temp_dir();
    let path = dir.path().join("bomb.pftrace");
    for (index, (name, bomb)) in bombs().into_iter().enumerate() {
        fs::write(&path, &bomb).unwrap();
        // The forms differ by how they show a message, not by what it names.
        let forms = ["text", "json", "csv", "logfmt"];
        for form in if index < 2 { &forms[..] } else { &forms[..1] } {
            let written = run(&["read-log", "--format", form], &[&path]);
            let name = format!("{name}: {form}");
            check(&written, &name);
            // JSON has arguments, template and text.
            assert!(written.bytes < 4 * limit(&bomb), "{name}: {}", written.bytes);
            assert!(written.end.contains("end of all"), "{name}: {}", written.end);
            let has_mark = written.end.contains("[CUT_TEXT]");
            assert!(has_mark || written.end.contains("[MISSING_PARAM]"), "{name}: {}", written.end);
        }
    }
}

#[test]
fn every_command_that_makes_texts_has_the_limit() {
    let dir = temp_dir();
    let path = dir.path().join("bomb.pftrace");
    let out = dir.path().join("out");
    let output = out.to_str().unwrap();
    for (name, bomb) in bombs().into_iter().filter(|(name, _)| ONE_OF_EACH.contains(name)) {
        fs::write(&path, &bomb).unwrap();
        for args in [
            &["read-log", "--grep", "end of all"][..],
            &["read-log", "--reverse"],
            &["read-log", "--count-by", "template"],
            &["merge", "--perfetto-ui", "-o", output],
            &["view", "-o", output],
        ] {
            check(&run(args, &[&path]), &format!("{name}: {args:?}"));
        }
        check(&run(&["diff"], &[&path, &path]), &format!("{name}: diff"));
    }
}

#[test]
fn lines_that_repeat_names_have_a_limit() {
    let dir = temp_dir();
    let path = dir.path().join("names.pftrace");
    let named = [fixed(1, 9), number(3, 2)].concat();
    let bytes = trace(&"n".repeat(LONG), &vec![named; MESSAGES]);
    fs::write(&path, &bytes).unwrap();
    let most = (1024 * bytes.len() as u64).max(1 << 30);
    let written = run(&["read-log", "--format", "json"], &[&path]);
    assert_eq!(written.code, Some(3), "{}", written.errors);
    assert!(written.errors.contains("lines left out"), "{}", written.errors);
    assert!(written.bytes <= most, "{}", written.bytes);
    let written = run(&["read-log"], &[&path]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert!(written.end.contains("end of all"), "{}", written.end);
}

#[test]
fn lines_that_are_held_back_have_a_limit() {
    let dir = temp_dir();
    let path = dir.path().join("names.pftrace");
    let named = [fixed(1, 9), number(3, 2)].concat();
    fs::write(&path, trace(&"n".repeat(LONG), &vec![named; MESSAGES])).unwrap();
    // Names of groups are in JSON.
    for args in [
        &["--format", "json", "--reverse"][..],
        &["--format", "json", "-n", "15000"],
        &["--format", "json", "--grep", "end of all", "-B", "15000"],
    ] {
        let written = run(&[&["read-log"], args].concat(), &[&path]);
        assert_eq!(written.code, Some(3), "{args:?}: {}", written.errors);
        let is_said = written.errors.contains("lines left out: those that are held back");
        assert!(is_said, "{args:?}: {}", written.errors);
        assert!(written.bytes <= limit(&[]) + LONG as u64, "{args:?}: {}", written.bytes);
    }
    // The last ones are shown, whatever stands before them.
    let written = run(&["read-log", "--format", "json", "-n", "3"], &[&path]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert!(written.bytes > 4 * LONG as u64 && written.end.contains("end of all"));
}

#[test]
fn names_that_many_have_are_kept_short() {
    let dir = temp_dir();
    let [path, other] = ["names.pftrace", "other.pftrace"].map(|name| dir.path().join(name));
    let long = "n".repeat(LONG);
    // Templates of one group, and threads of one process.
    let group = [number(1, 2), field(2, long.as_bytes())].concat();
    let mut dictionary = field(2, &group);
    let mut messages = Vec::new();
    for id in 0..MESSAGES as u64 {
        let text = field(2, format!("number {id}").as_bytes());
        let entry = [fixed(1, id + 1), text, number(3, 3), number(4, 2)].concat();
        dictionary.extend(field(1, &entry));
        let thread = [number(1, 10), number(2, 100 + id)].concat();
        let letters = (0..4).map(|at| char::from(b'a' + (id / 26_u64.pow(at) % 26) as u8));
        let name = field(3, letters.collect::<String>().as_bytes());
        let sequence = number(10, 10 + id);
        let info = field(1000, &[thread, name].concat());
        messages.extend(field(1, &[number(13, 1), info, sequence.clone()].concat()));
        let message = field(104, &fixed(1, id + 1));
        messages.extend(field(1, &[number(8, 2000 + id), message, sequence].concat()));
    }
    let mut bytes = packet(&[field(105, &dictionary)], true);
    for (pid, name) in [(10, &*long), (11, "other")] {
        bytes.extend(packet(
            &[field(43, &[number(1, pid), field(6, name.as_bytes())].concat())],
            false,
        ));
    }
    let of_other = field(1000, &[number(1, 11), number(2, 11)].concat());
    bytes.extend(packet(&[of_other, number(8, 1000), field(104, &fixed(1, 1))], false));
    bytes.extend(messages);
    fs::write(&path, &bytes).unwrap();
    fs::write(&other, trace("short", &[])).unwrap();
    for what in ["group", "template", "process", "thread"] {
        let written = run(&["read-log", "--count-by", what], &[&path]);
        assert_eq!((written.code, &*written.errors), (Some(0), ""), "{what}");
    }
    let written = run(&["read-log", "--top", "--format", "json"], &[&path]);
    assert_eq!((written.code, &*written.errors), (Some(0), ""));
    assert!(written.end.contains("n[CUT_TEXT]: number "), "{}", written.end);
    let written = run(&["diff"], &[&other, &path]);
    assert_eq!(written.code, Some(1), "{}", written.errors);
    assert!(written.end.contains("n[CUT_TEXT]: number "), "{}", written.end);
}

#[test]
fn names_in_an_error_of_merge_begin_no_line() {
    let dir = temp_dir();
    let [path, other] = ["names.pftrace", "other.pftrace"].map(|name| dir.path().join(name));
    fs::write(&path, trace("a\nerror: forged", &[])).unwrap();
    fs::write(&other, trace("b", &[])).unwrap();
    let written = run(&["merge", "-o", "-"], &[&path, &other]);
    assert_eq!(written.code, Some(2), "{}", written.errors);
    assert!(written.errors.contains("error: forged"), "{}", written.errors);
    assert!(!written.errors.contains("\nerror: forged"), "{}", written.errors);
}

#[test]
fn names_in_the_table_of_perfettos_ui_are_short() {
    let dir = temp_dir();
    let path = dir.path().join("names.pftrace");
    let out = dir.path().join("out.pftrace");
    let named = [fixed(1, 9), number(3, 2)].concat();
    let mut bytes = trace(&"n".repeat(LONG), &vec![named; MESSAGES]);
    // The boot clock and the wall clock.
    let clocks = [[1, 1 << 60], [6, 1]]
        .map(|[id, time]| field(1, &[number(1, id), number(2, time)].concat()));
    bytes.extend(packet(&[field(6, &clocks.concat())], false));
    fs::write(&path, &bytes).unwrap();
    let written = run(&["merge", "--perfetto-ui", "-o", out.to_str().unwrap()], &[&path]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    let size = fs::metadata(&out).unwrap().len() as usize;
    let table = 256 * MESSAGES..512 * MESSAGES;
    assert!(table.contains(&(size - bytes.len())), "{size}, {}", bytes.len());
}

#[test]
fn texts_that_are_named_once_or_twice_are_shown_whole() {
    let dir = temp_dir();
    let path = dir.path().join("large.pftrace");
    let long = "a".repeat(2 << 20);
    let says = [fixed(1, SAYS), number(2, 1)].concat();
    fs::write(&path, trace(&long, &[says.clone(), fixed(1, LITERAL), says])).unwrap();
    let written = run(&["read-log"], &[&path]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert!(written.bytes > 6 << 20);
    let says = [fixed(1, SAYS), number(2, 1)].concat();
    let bytes = trace(&"a".repeat(LONG), &vec![says; 1000]);
    fs::write(&path, &bytes).unwrap();
    check(&run(&["read-log"], &[&path]), "1000 times");
    let written = run(&["read-log", "--max-expansion", "1000"], &[&path]);
    assert_eq!(written.code, Some(0), "{}", written.errors);
    assert!(written.bytes > (LONG * 1000) as u64);
}
