//! The guide, `docs/guides/c.md`: its program is compiled and run by its commands, with the library
//! as it installs it.

mod common;

use common::{libraries, package};
use protolog_core::Level;
use protolog_reader::{Rendering, Trace};
use protolog_testkit::{run, temp_dir, tool, workspace_root};
use std::fs;
use std::process::Command;

#[test]
fn the_program_of_the_guide_logs_what_it_shows() {
    let guide = fs::read_to_string(workspace_root().join("docs/guides/c.md")).expect("read it");
    let block = |language: &str| {
        let rest = guide.split_once(&format!("```{language}\n")).expect("a block").1;
        rest.split_once("```").expect("its end").0
    };
    if tool("pkg-config").is_none() {
        return;
    }
    let dir = temp_dir();
    let prefix = dir.path().join("installed");
    let script = workspace_root().join(block("sh").split(' ').nth(1).expect("a script"));
    let mut install = Command::new("sh");
    install.arg(script).arg(&prefix).env("PROTOLOG_LIBRARIES", libraries());
    run(install.env_remove("DESTDIR").env_remove("LIBDIR"));
    fs::write(dir.path().join("app.c"), block("c")).expect("write the program");

    let (commands, shown) = block("console").split_once("$ protologtool").expect("a command");
    for line in commands.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(dir.path());
        shell.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        run(shell.env("LD_LIBRARY_PATH", prefix.join("lib")));
    }
    let log = Trace::open(dir.path().join("app.pftrace")).expect("open").read().expect("read");
    let logged = log.entries().map(|entry| {
        let values = entry.values();
        let tag = values.group(&log).map_or("", |group| &group.tag);
        let letter = values.level().map_or('?', Level::letter);
        format!("{letter} {tag:8}: {}", values.text(Rendering::Full))
    });
    // After date, time, process and thread.
    let shown: Vec<&str> = shown
        .lines()
        .skip(1)
        .map(|line| &line["11-20 18:52:07.114  4711  4711 ".len()..])
        .collect();
    assert_eq!(logged.collect::<Vec<_>>(), shown);
    assert!(package().join("install.sh").exists());
}
