//! Loggers of any names, as groups of a running program: what commands print is what they take, and
//! what settings have.

use super::switched::{Program, done};
use super::{classes, tool};
use protolog_testkit::serde_json::{self, Value};
use protolog_testkit::temp_dir_for_sockets;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Names, and how people write them.
const NAMES: [(&str, &str); 11] = [
    ("\u{1b}[31mred\u{202e}", "\"\\u{1b}[31mred\\u{202e}\""),
    (" ", "\" \""),
    ("*", "\"*\""),
    ("[Catalina].[localhost]", "\"[Catalina].[localhost]\""),
    ("a/b/c", "a/b/c"),
    ("a=b,c;d#e", "\"a=b,c;d#e\""),
    ("back\\slash", "\"back\\\\slash\""),
    ("größe", "größe"),
    ("my logger", "\"my logger\""),
    ("say \"hi\"", "\"say \\\"hi\\\"\""),
    ("two\nlines", "\"two\\nlines\""),
];

fn program(dir: &Path, classes: &Path, args: &[&str]) -> Program {
    Program::run(dir, OsStr::new(classes), "app.Named", args)
}

#[test]
fn what_is_printed_of_a_name_is_taken_for_it() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let mut program = program(dir, classes, &[]);
    let list = done(dir, &["groups", "list"], &[]);
    let mut shown: Vec<_> = list.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let mut forms = NAMES.map(|(_, form)| form);
    shown.sort_unstable();
    forms.sort_unstable();
    assert_eq!(shown, forms);
    let json = done(dir, &["groups", "status", "--json"], &[]);
    let mut names: Vec<_> = json
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|group| group["group"].as_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, NAMES.map(|(name, _)| name));

    for (name, form) in NAMES {
        let switched = done(dir, &["text", "enable", form], &[]);
        assert!(switched.contains(&format!(" for groups: [{form}]\n- Done")), "{switched}");
        // Whatever is in the name.
        assert_eq!(program.instruct("log").len(), 1, "{name}");
        let status = done(dir, &["groups", "status"], &[]);
        assert_eq!(status.matches("LOG_TO_LOGCAT = true").count(), 1, "{status}");
        assert!(status.contains(&format!("  {form}: LOG_TO_LOGCAT = true, TRACE = false\n")));
        // The name itself is one, too, but where it stands for more.
        if name != "*" {
            done(dir, &["text", "disable", name], &[]);
        }
        done(dir, &["level", form, "off"], &[]);
        assert!(program.instruct("log").is_empty(), "{name}");
        done(dir, &["level", form, "verbose", "--trace"], &[]);
    }

    let trace = dir.join("trace.pftrace");
    let path = trace.to_str().unwrap();
    let wanted = NAMES.iter().filter(|(name, _)| *name != "*");
    let flags = wanted.flat_map(|(_, form)| ["--group".to_owned(), format!("{form}=info")]);
    let flags: Vec<String> = flags.collect();
    let mut args = vec!["trace", "start", path, "--level", "wtf"];
    args.extend(flags.iter().map(String::as_str));
    done(dir, &args, &[]);
    program.instruct("log");
    done(dir, &["trace", "stop"], &[]);
    for (name, form) in NAMES {
        for group in [name, form] {
            let read = tool(&["read-log", "--group", group, "--columns", "message", path]);
            let lines = if group == "*" { 10 } else { usize::from(name != "*") };
            assert_eq!(read.stdout, "called 1\n".repeat(lines), "{group}: {}", read.stderr);
        }
    }
    let unknown = tool(&["read-log", "--group", "my loger", path]);
    assert!(unknown.stderr.contains("did you mean `\"my logger\"`?"), "{}", unknown.stderr);
    program.end();
}

/// Wrong input is quoted, however long it is, and the reply has its end.
#[test]
fn long_mistakes_are_refused_in_time() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let program = program(dir.path(), classes, &[]);
    let sockets = fs::read_dir(dir.path().join("run")).unwrap();
    let mut sockets = sockets.map(|entry| entry.unwrap().path());
    let socket = sockets.find(|path| path.extension().is_some_and(|it| it == "sock")).unwrap();
    let mut operator = protolog_control::Program::connect(&socket).unwrap();
    for letter in ["x", "ß"] {
        let long = letter.repeat(8180 / letter.len());
        let request = protolog_core::control::protocol::Request::Set(&long);
        let refused = operator.request(&request).unwrap_err().to_string();
        assert!(refused.contains(&letter.repeat(4000)), "{refused}");
    }
    assert_eq!(operator.groups().unwrap().len(), NAMES.len());
    program.end();
}

#[test]
fn settings_name_loggers_as_commands_do() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    // Before there is any such program.
    for (_, form) in &NAMES[3..] {
        done(dir, &["text", "enable", form, "--persist"], &[]);
    }
    let state = fs::read_to_string(dir.join("state/settings")).unwrap();
    for (_, form) in &NAMES[3..] {
        assert!(state.contains(&format!("\n{form}=text:verbose\n")), "{state}");
    }
    let mut printing = program(dir, classes, &[]);
    assert_eq!(printing.instruct("log").len(), NAMES.len() - 3);
    printing.end();
}

#[test]
fn the_group_of_other_loggers_has_a_name_that_can_be_written() {
    let Some(classes) = classes() else { return };
    let dir = temp_dir_for_sockets();
    let dir = dir.path();
    let mut program = program(dir, classes, &["many"]);
    let others = "\"other loggers\"";
    done(dir, &["text", "enable", others], &[]);
    assert!(program.instruct("log").len() > 10);
    let status = done(dir, &["groups", "status", others], &[]);
    assert_eq!(status.lines().nth(1), Some("LOG_TO_LOGCAT = true, TRACE = false"), "{status}");
    program.end();
}
