//! `check`: files of an archive that are damaged or missing are named, with what to do; and so are
//! those that no record has.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{content, lines_in};
use crate::common::{break_files, exported, fleet, lines_of, templates_of, trace, try_query};

#[test]
fn a_check_names_files_that_are_damaged_or_missing() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("app.pftrace"), &trace()[..60_000]).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let checked = || checked(dir.path());
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
    // What is printed may be moved away.
    let output = fleet(&["check", "app.pftrace"], dir.path());
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected = "error: can't read `app.pftrace`: it is no directory\nhelp: name the directory of an archive\n";
    assert_eq!((output.status.code(), &errors[..]), (Some(2), expected));
    assert!(output.stdout.is_empty());
}

/// What a check of the archive says: its exit code, the names, and the reasons.
fn checked(dir: &Path) -> (Option<i32>, String, String) {
    let output = fleet(&["check", "archive"], dir);
    let [names, reasons] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    (output.status.code(), names, reasons)
}

/// A directory with an archive of a part of a trace, whose name and lines are given back, too.
fn archive() -> (TempDir, &'static str, String) {
    let (dir, name, bytes) = (TempDir::new().unwrap(), "app.pftrace", &trace()[..60_000]);
    fs::write(dir.path().join(name), bytes).unwrap();
    let lines = exported(dir.path(), &[name]);
    assert_eq!(Some(&lines), lines_of(bytes).as_ref());
    (dir, name, lines)
}

/// The only file with messages: its path, the name that a check prints, and its content.
fn messages(dir: &Path) -> (PathBuf, String, Vec<u8>) {
    let files = content(&dir.join("archive/messages")).into_iter();
    let (path, bytes) = files.max_by_key(|(_, bytes)| bytes.len()).unwrap();
    let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
    (path, name, bytes)
}

/// Where a footer has numbers of a column: its codec, number of values, size without and with
/// compression, and the place of its first page.
fn numbers(bytes: &[u8], column: &str) -> [usize; 5] {
    // The end of the path of the column, and the header of the next field.
    let before = [&[0x18, column.len() as u8], column.as_bytes(), &[0x15]].concat();
    let found = bytes.windows(before.len()).position(|it| it == before).unwrap();
    let mut at = found + before.len();
    std::array::from_fn(|_| {
        let place = at;
        while bytes[at] >= 0x80 {
            at += 1;
        }
        at += 2;
        place
    })
}

#[test]
fn a_footer_that_points_out_of_its_file_is_damage_for_all_readers() {
    let (dir, ..) = archive();
    let (path, name, bytes) = messages(dir.path());
    let [_, values, _, size, place] = numbers(&bytes, "time");
    // The lowest bit of these numbers is their sign.
    for (at, bit, said) in [
        (size, 1, "`time` has -"),
        (place, 1, "bytes at -5, and the file has"),
        (values, 2, "`time` has "),
    ] {
        let mut damaged = bytes.clone();
        damaged[at] ^= bit;
        fs::write(&path, damaged).unwrap();
        let (code, names, reasons) = checked(dir.path());
        assert_eq!((code, &names[..]), (Some(3), &format!("{name}\n")[..]), "{reasons}");
        assert!(reasons.starts_with(&format!("warning: `{name}` is damaged: ")), "{reasons}");
        assert!(reasons.contains(said), "{reasons}");
        for args in [&["read", "archive"][..], &["traces", "-o", "again", "archive"]] {
            let output = fleet(args, dir.path());
            let errors = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{errors}");
            assert!(errors.starts_with(&format!("error: can't read `{name}`: ")), "{errors}");
        }
    }
}

#[test]
fn a_codec_that_is_not_read_is_no_damage() {
    let (dir, ..) = archive();
    let (path, name, mut bytes) = messages(dir.path());
    let [codec, ..] = numbers(&bytes, "time");
    bytes[codec] = 2;
    fs::write(&path, &bytes).unwrap();
    // No export writes it.
    let (code, names, reasons) = checked(dir.path());
    assert_eq!((code, names), (Some(3), format!("{name}\n")), "{reasons}");
    let writer = b"protologtool-fleet";
    let at = bytes.windows(writer.len()).rposition(|it| it == writer).unwrap();
    bytes[at..at + 5].copy_from_slice(b"other");
    fs::write(&path, &bytes).unwrap();
    let (code, names, reasons) = checked(dir.path());
    let expected = format!(
        "warning: can't check `{name}`: `time` is compressed by SNAPPY, which this program does \
         not read\nhelp: write it with zstd for a check; engines may read it as it is\n"
    );
    assert_eq!((code, names, reasons), (Some(3), String::new(), expected));
}

/// As a bad disk does. Records of earlier versions have no checksums.
#[test]
fn a_file_that_was_changed_and_can_be_read_is_found() {
    let (dir, app, lines) = archive();
    let (path, name, mut bytes) = messages(dir.path());
    let version = format!("protologtool-fleet {}", env!("CARGO_PKG_VERSION"));
    let at = bytes.windows(version.len()).rposition(|it| it == version.as_bytes()).unwrap();
    bytes[at + version.len() - 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let expected = format!(
        "warning: `{name}` is damaged: it is not as it was exported\n\
         help: export `{app}` again, or move the file out of the archive\n"
    );
    assert_eq!(checked(dir.path()), (Some(3), format!("{name}\n"), expected));
    let files = content(&dir.path().join("archive/exports")).into_iter().map(|(path, _)| path);
    let mut records = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let record = records.next().unwrap();
    let mut fields: serde_json::Value =
        serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    fields.as_object_mut().unwrap().remove("sha256").unwrap();
    fs::write(&record, fields.to_string()).unwrap();
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
    assert_eq!(lines_in(dir.path()), lines);
    assert_eq!(exported(dir.path(), &[app]), lines);
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
}

/// Templates, which no record has, have their checksum in their name.
#[test]
fn templates_that_were_changed_are_found_and_mended_by_an_export() {
    let (dir, app, lines) = archive();
    let path = templates_of(&dir.path().join("archive"), "");
    let whole = fs::read(&path).unwrap();
    let name = path.strip_prefix(dir.path()).unwrap().to_str().unwrap();
    // Anywhere: in pages, in the footer, in what the footer says of its length.
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, changed).unwrap();
        let (code, names, reasons) = checked(dir.path());
        assert_eq!((code, names), (Some(3), format!("{name}\n")), "{at}: {reasons}");
        let help = format!("\nhelp: export `{app}` again, or move the file out of the archive\n");
        assert!(reasons.ends_with(&help), "{at}: {reasons}");
    }
    assert_eq!(exported(dir.path(), &[app]), lines);
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
}

/// Without the record of a trace, its next export does not know what to replace: all of its
/// messages would be there twice.
#[test]
fn a_record_that_cant_be_read_stops_the_export_of_its_trace() {
    let (dir, name, lines) = archive();
    let at_end = |path: &Path, end: &str| path.to_str().unwrap().ends_with(end);
    let before = content(&dir.path().join("archive"));
    let (record, whole) = before.iter().find(|(path, _)| at_end(path, ".json")).unwrap();
    let source = record.file_stem().unwrap().to_str().unwrap();
    fs::write(record, &whole[..20]).unwrap();
    let damaged = content(&dir.path().join("archive"));
    let args = ["parquet", "-o", "archive", "--host", "other", name];
    let output = fleet(&args, dir.path());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let error = format!("error: can't read `archive/exports/{source}.json`: ");
    let help =
        "\nhelp: move what `export check` names out of the archive, and export the trace again\n";
    assert!(errors.starts_with(&error) && errors.ends_with(help), "{errors}");
    assert!(content(&dir.path().join("archive")) == damaged);
    // As it says.
    let own = |name: &&str| name.contains(&format!("/{source}-"));
    let (code, names, reasons) = checked(dir.path());
    assert_eq!(code, Some(3), "{reasons}");
    assert!(names.contains(&format!("archive/exports/{source}.json\n")), "{names}");
    assert_eq!(names.lines().filter(own).count() + 1, names.lines().count(), "{names}");
    assert!(reasons.contains(".parquet` is in no record of an export\nhelp: "), "{reasons}");
    for name in names.lines() {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    assert!(matches!(fleet(&args, dir.path()).status.code(), Some(0 | 3)));
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
    let messages = |lines: &str| lines.matches("\"type\":\"message\"").count();
    assert_eq!(messages(&lines_in(dir.path())), messages(&lines));
}

#[test]
fn a_check_names_files_of_exports_that_have_no_record() {
    let (dir, name, _) = archive();
    let files = || content(&dir.path().join("archive")).into_iter().map(|(path, _)| path);
    let record = files().find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    let own = format!("{}-", record.file_stem().unwrap().to_str().unwrap());
    let is_own = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&own);
    let expected: Vec<PathBuf> = files().filter(is_own).collect();
    assert!(!expected.is_empty());
    fs::remove_file(record).unwrap();
    let named = || {
        let (code, names, reasons) = checked(dir.path());
        assert_eq!(code, Some(3), "{reasons}");
        names.lines().map(|name| dir.path().join(name)).collect::<Vec<_>>()
    };
    let sorted = |mut paths: Vec<PathBuf>| {
        paths.sort();
        paths
    };
    assert_eq!(sorted(named()), sorted(expected.clone()));
    // It has grown: its files have other names.
    fs::write(dir.path().join(name), &trace()[..70_000]).unwrap();
    exported(dir.path(), &[name]);
    assert_eq!(sorted(named()), sorted(expected.clone()));
    for path in expected {
        fs::remove_file(path).unwrap();
    }
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
}

#[test]
fn a_check_goes_on_where_something_cant_be_read() {
    let (dir, ..) = archive();
    let (path, name, bytes) = messages(dir.path());
    fs::write(path, &bytes[..100]).unwrap();
    let archive = dir.path().join("archive");
    fs::write(archive.join("exports/0123456789abcdef.json"), "{\"trace\":").unwrap();
    fs::create_dir(archive.join("exports/0123456789abcdee.json")).unwrap();
    let spans: Vec<PathBuf> =
        content(&archive.join("spans")).into_iter().map(|(path, _)| path).collect();
    fs::remove_dir_all(archive.join("spans")).unwrap();
    fs::write(archive.join("spans"), "").unwrap();
    let (code, names, reasons) = checked(dir.path());
    assert_eq!(code, Some(3), "{reasons}");
    let mut expected = [
        name,
        "archive/exports/0123456789abcdef.json".to_owned(),
        "archive/exports/0123456789abcdee.json".to_owned(),
        "archive/spans".to_owned(),
    ];
    expected.sort();
    assert_eq!(names.lines().collect::<Vec<_>>(), expected, "{reasons}");
    assert_eq!(reasons.matches("` is missing\n").count(), spans.len(), "{reasons}");
}

/// Directories that are not as those of other files fail all queries of DuckDB.
#[test]
fn a_check_names_files_where_none_belongs() {
    let (dir, ..) = archive();
    let (_, _, bytes) = messages(dir.path());
    let archive = dir.path().join("archive");
    let by_date = "select count(*) from log where date = '2026-11-29'";
    let by_program = "select program, count(*) from log group by all";
    for (name, reason, sql) in [
        (
            "messages/date=yesterday/program=a/build=b/x.parquet",
            "`date=yesterday` is no date",
            by_date,
        ),
        ("messages/x.parquet", "it is not in a directory `date=…/program=…/build=…`", by_date),
        (
            "messages/date=2020-01-01/program=x%E6/build=b/x.parquet",
            "`program=x%E6` is no UTF-8",
            by_program,
        ),
        (
            "templates/program=a/x.parquet",
            "it is not in a directory `program=…/build=…`",
            by_program,
        ),
    ] {
        let path = archive.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes).unwrap();
        let answer = try_query(&archive, sql);
        assert!(answer.is_none_or(|answer| answer.is_err()), "{name}");
        let expected = format!(
            "warning: `archive/{name}` is no place of a table: {reason}\n\
             help: move it out of the archive\n"
        );
        assert_eq!(checked(dir.path()), (Some(3), format!("archive/{name}\n"), expected));
        fs::remove_file(path).unwrap();
    }
    assert_eq!(checked(dir.path()), (Some(0), String::new(), String::new()));
}
