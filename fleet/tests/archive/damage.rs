//! `check`: files of an archive that are damaged or missing are named, with what to do.

use std::fs;

use tempfile::TempDir;

use super::content;
use crate::common::{break_files, exported, fleet, trace};

#[test]
fn a_check_names_files_that_are_damaged_or_missing() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), &trace()[..60_000]).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let checked = || {
        let output = fleet(&["check", "archive"], dir.path());
        let [names, reasons] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (output.status.code(), names, reasons)
    };
    assert_eq!(checked(), (Some(0), String::new(), String::new()));
    let archive = dir.path().join("archive");
    let files = content(&archive.join("messages"));
    let (path, bytes) = files.iter().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    let name = path.strip_prefix(dir.path()).unwrap().to_str().unwrap();
    // The first page of rows, which engines read alone; a copy that did not end.
    let mut page = bytes.clone();
    page[4..12].fill(0xff);
    for (at, damaged) in [&page[..], &bytes[..bytes.len() / 2], b""].into_iter().enumerate() {
        fs::write(path, damaged).unwrap();
        let (code, names, reasons) = checked();
        assert_eq!((code, names), (Some(3), format!("{name}\n")), "{at}: {reasons}");
        assert!(reasons.starts_with(&format!("warning: `{name}` is damaged: ")), "{reasons}");
        let help = "\nhelp: export `app.pftrace` again, or move the file out of the archive\n";
        assert!(reasons.ends_with(help), "{reasons}");
    }
    fs::remove_file(path).unwrap();
    let (code, names, reasons) = checked();
    assert_eq!((code, names), (Some(3), String::new()));
    assert!(reasons.starts_with(&format!("warning: `{name}` is missing\nhelp: ")), "{reasons}");
    exported(dir.path(), &["app.pftrace"]);
    assert_eq!(checked(), (Some(0), String::new(), String::new()));
    // Files of no export.
    let broken = break_files(&archive);
    let (code, names, reasons) = checked();
    assert_eq!(code, Some(3));
    let below: Vec<&str> = names.lines().map(|it| it.strip_prefix("archive/").unwrap()).collect();
    assert_eq!(below, broken);
    assert_eq!(reasons.matches("\nhelp: move it out of the archive\n").count(), broken.len());
    for name in broken {
        fs::remove_file(archive.join(name)).unwrap();
    }
    // Tables alone, as other programs write them.
    fs::remove_dir_all(archive.join("exports")).unwrap();
    assert_eq!(checked(), (Some(0), String::new(), String::new()));
    let output = fleet(&["check", "."], dir.path());
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected =
        "error: can't read `.`: no tables are there\nhelp: name the directory of an archive\n";
    assert_eq!((output.status.code(), &errors[..]), (Some(2), expected));
}
