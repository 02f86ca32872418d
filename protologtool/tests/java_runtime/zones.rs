//! Java programs in time zones of their own: the times of a trace are the same everywhere, those of
//! lines are the zone's.

use super::{classes, tool};
use protolog_testkit::{java, run_any, temp_dir};
use serde_json::Value;
use std::fs;

const DAY: i64 = 24 * 60;

#[test]
fn lines_have_the_time_of_the_zone_and_traces_that_of_the_world() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    // Zones without summer time; minutes east of Greenwich.
    for (variable, property, minutes) in [
        ("UTC", None, 0),
        ("Asia/Kathmandu", None, 5 * 60 + 45),
        ("America/Phoenix", None, -7 * 60),
        ("Asia/Kathmandu", Some("Pacific/Marquesas"), -(9 * 60 + 30)),
    ] {
        let (trace, lines) = (dir.path().join("zone.pftrace"), dir.path().join("zone.log"));
        let _ = fs::remove_file(&lines);
        let mut java = java().expect("java");
        java.args(property.map(|zone| format!("-Duser.timezone={zone}"))).env("TZ", variable);
        let output = run_any(java.arg("-cp").arg(classes).arg("app.Zone").args([&trace, &lines]));
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{variable}");
        let read = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]);
        let row: Value = serde_json::from_str(read.stdout.lines().next().unwrap()).unwrap();
        // Milliseconds of the program's own clock, taken just before; some of them pass.
        let millis: i64 = row["message"].as_str().unwrap().parse().unwrap();
        let of_day = |text: &str| {
            let part = |at: usize| text[at..at + 2].parse::<i64>().unwrap();
            part(0) * 60 + part(3)
        };
        let utc = millis / 60_000 % DAY;
        let later = |time: i64, minutes: i64| (time - utc - minutes).rem_euclid(DAY);
        let time = row["time"].as_str().unwrap();
        assert!(time.ends_with('Z') && later(of_day(&time[11..]), 0) < 5, "{variable}: {time}");
        let line = fs::read_to_string(&lines).unwrap();
        assert!(later(of_day(&line[6..]), minutes) < 5, "{variable}: {line}");
    }
}
