//! Java threads that log a little and rest, more than the buffer has chunks: they leave room for
//! others.

use super::{classes, messages};
use protolog_testkit::{java, run_any, temp_dir};

/// Messages of each idle thread, and of the last one that logs.
const OF_IDLE: u64 = 10;
const LAST: u64 = 1000;

#[test]
fn idle_and_ended_threads_leave_room_for_others() {
    let Some(classes) = classes() else { return };
    // `cargo xtask soak java` has as many threads as the largest of servers.
    let is_long = std::env::var_os("PROTOLOG_JAVA_THREADS").is_some();
    let (bytes, idle, short) =
        if is_long { (4 << 20, 10_000, 100_000) } else { (256 << 10, 1000, 300) };
    for mode in ["ring", "stream"] {
        let dir = temp_dir();
        let mut java = java().expect("java");
        java.arg("-Dprotolog.level=off").arg("-cp").arg(classes).arg("app.Idle").arg(dir.path());
        let numbers = [bytes, idle, short].map(|number: u64| number.to_string());
        let output = run_any(java.args(numbers).arg(mode));
        assert_eq!(output.code, Some(0), "{}", output.stderr);
        let all = idle * OF_IDLE + short + LAST;
        let texts = messages(&dir.path().join("idle.pftrace"));
        assert_eq!(
            output.stdout,
            format!("{} {}\n", texts.len(), all - texts.len() as u64),
            "{mode}"
        );
        if mode == "stream" {
            assert_eq!(texts.len() as u64, all, "each message waits for room, and finds some");
            continue;
        }
        // A ring has the newest ones: those of the last thread without a gap.
        let last: Vec<&String> = texts.iter().filter(|text| text.starts_with("WARN")).collect();
        assert!(last.len() > 100, "{}", last.len());
        for (text, number) in last.iter().zip(LAST - last.len() as u64..) {
            assert_eq!(**text, format!("WARN Disk: last {number}"));
        }
    }
}
