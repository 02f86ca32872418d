//! The format file for lnav: with it, lnav shows and asks what `read-log --format json` prints.

use protolog_rt::{ProtoLogGroup, Session, d, e, i, v, w, wtf};
use protolog_testkit::{assert_eq_text, temp_dir, tool, workspace_root};
use std::fs;
use std::process::Command;

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

#[test]
fn lnav_shows_messages_with_their_levels() {
    let Some(lnav) = tool("lnav") else { return };
    let dir = temp_dir();
    let trace = dir.path().join("app.pftrace");
    let session = Session::builder().file(&trace).enable_all().start().unwrap();
    v!(AppLog::Net, "one %d", 1);
    d!(AppLog::Net, "two %s", "lines\nof text");
    i!(AppLog::Net, "three");
    w!(AppLog::Net, "four");
    w!(AppLog::Net, "five");
    e!(AppLog::Net, "six %.1f", 6.0);
    wtf!(AppLog::Net, "seven");
    session.stop().unwrap();
    let mut read_log = Command::new(env!("CARGO_BIN_EXE_protologtool"));
    let json = read_log.args(["read-log", "--format", "json"]).arg(&trace).output().unwrap();
    let log = dir.path().join("app.jsonl");
    fs::write(&log, json.stdout).unwrap();
    let formats = dir.path().join("config/formats/installed");
    fs::create_dir_all(&formats).unwrap();
    let format = workspace_root().join("integrations/lnav/protolog.json");
    fs::copy(format, formats.join("protolog.json")).unwrap();
    let ask = |args: &[&str]| {
        let mut command = Command::new(&lnav);
        command.env("HOME", dir.path()).args(["-n", "-I"]).arg(dir.path().join("config"));
        let output = command.args(args).arg(&log).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = ask(&[]);
    let texts: Vec<&str> = lines.lines().map(|line| line.split(": ").last().unwrap()).collect();
    let expected = ["one 1", "two lines", "of text", "three", "four", "five", "six 6.0", "seven"];
    assert_eq!(texts, expected, "{lines}");
    let process = std::process::id();
    assert!(lines.lines().next().unwrap().contains(&format!(" {process} ")), "{lines}");
    let levels = "select log_level, count(*) as n from protolog_log group by log_level order by n, log_level";
    assert_eq_text(
        "log_level,n\ntrace,1\ndebug,1\ninfo,1\nerror,1\nfatal,1\nwarning,2\n",
        &ask(&["-c", &format!(";{levels}"), "-c", ":write-csv-to -"]),
    );
}
