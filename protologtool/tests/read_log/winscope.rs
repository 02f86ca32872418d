//! Logs that Android wrote before it had Perfetto: `.winscope` files, read with a dictionary in
//! JSON.

use super::{run, unindented};
use protolog_testkit::assert_eq_text;
use protologtool::cli::Exit;

const DICTIONARY: &str = r#"{
  "version": "2.0.0",
  "messages": {
    "-1792430067": {"message": "Attempted to add %s: %d, %f, %b", "level": "WARN", "group": "WM_ERROR", "at": "a.java"},
    "-6872339441335321086": {"message": "moved", "level": "DEBUG", "group": "WM_ERROR", "at": "b.java"}
  },
  "groups": {"WM_ERROR": {"tag": "WindowManager"}}
}"#;

fn field(number: u8, wire: u8, bytes: &[u8]) -> Vec<u8> {
    let length = if wire == 2 { vec![bytes.len() as u8] } else { Vec::new() };
    [&[number << 3 | wire], &length[..], bytes].concat()
}

fn entry(parts: &[Vec<u8>]) -> Vec<u8> {
    field(4, 2, &parts.concat())
}

/// Two messages, one second and one and a half after the boot: the second one stands first.
fn log() -> Vec<u8> {
    let time = |ns: u64| field(2, 1, &ns.to_le_bytes());
    let new =
        entry(&[field(7, 1, &(-6_872_339_441_335_321_086_i64).to_le_bytes()), time(1_500_000_000)]);
    let old = entry(&[
        field(1, 5, &(-1_792_430_067_i32).to_le_bytes()),
        time(1_000_000_000),
        field(3, 2, b"window"),
        field(4, 2, &[5]),
        field(5, 2, &0.25_f64.to_le_bytes()),
        field(6, 2, &[1]),
    ]);
    let offset = field(3, 1, &1_795_199_220_000_u64.to_le_bytes());
    [&b"\x09PROTOLOG"[..], &field(2, 2, b"2.0.0"), &offset, &new, &old].concat()
}

#[test]
fn old_logs_are_read_with_their_dictionary() {
    let files = [("wm_log.winscope", log()), ("wm.json", DICTIONARY.into())];
    let read = |args: &[&str]| {
        let all = [&["wm_log.winscope", "--viewer-config", "wm.json", "--time", "utc"], args];
        run(&files, &all.concat())
    };
    let (exit, out, errors) = read(&[]);
    assert_eq!((exit, &*errors), (Exit::Done, ""));
    assert_eq_text(
        &unindented(
            "
            11-20 18:27:01.000     ?     ? W WindowManager: Attempted to add window: -3, 0.250000, true
            11-20 18:27:01.500     ?     ? D WindowManager: moved
            ",
        ),
        &out,
    );
    let (_, out, _) = read(&["--level", "debug", "--format", "csv", "--columns", "message"]);
    assert_eq!(out.lines().last(), Some("moved"));
    // With another trace, which has none of its messages.
    let (exit, out, errors) =
        run(&[("a.winscope", log()), ("b.winscope", log())], &["a.winscope", "b.winscope"]);
    assert_eq!(exit, Exit::Done, "{errors}");
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(errors.contains("name the dictionary"), "{errors}");
}

#[test]
fn a_cut_log_is_read_to_its_last_whole_entry() {
    let all = log();
    for size in 9..all.len() {
        let files = [("cut", all[..size].to_vec()), ("wm.json", DICTIONARY.into())];
        let (exit, out, errors) = run(&files, &["cut", "--viewer-config", "wm.json"]);
        assert_ne!(exit, Exit::Failed, "{size}: {errors}");
        assert!(out.lines().count() <= 1, "{size}: {out}");
        let ends_between = [9, 16, 25, 25 + 20].contains(&size);
        assert_eq!(exit == Exit::Done, ends_between, "{size}: {errors}");
    }
}
