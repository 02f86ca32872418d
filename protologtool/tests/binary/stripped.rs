//! Programs without texts, from the command to the log that is read.

use super::fixture::{Built, PLAIN};
use super::{text, tool};
use protolog_testkit::{TempDir, run, run_any, temp_dir, trace_processor};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

struct Stripped {
    built: Built,
    directory: TempDir,
    app: PathBuf,
    /// Where the dictionary is.
    shelf: PathBuf,
    hash: String,
}

fn strip() -> Stripped {
    let built = PLAIN.build();
    let directory = temp_dir();
    let (app, shelf) = (directory.path().join("app"), directory.path().join("shelf"));
    fs::create_dir(&shelf).unwrap();
    let args = ["generate-viewer-config", "--from-binary", text(&built.app)];
    let outputs = ["--strip-to", text(&app), "--viewer-config", text(&shelf)];
    run(&mut tool(&[&args[..], &outputs].concat()));
    let name = fs::read_dir(&shelf).unwrap().next().unwrap().unwrap().file_name();
    let hash = name.to_str().unwrap().strip_suffix(".pb").expect("a dictionary").to_owned();
    Stripped { built, directory, app, shelf, hash }
}

#[test]
fn a_stripped_program_logs_ids_and_its_traces_find_the_texts() {
    let Stripped { built, directory, app, shelf, hash } = strip();
    let (whole, without) = (fs::read(&built.app).unwrap(), fs::read(&app).unwrap());
    assert_eq!(whole.len(), without.len(), "nothing moves");
    let holds =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    for text in ["plain, in a closure", "app, printed", "generic: %s"] {
        assert!(holds(&whole, text) && !holds(&without, text), "{text}");
    }
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&app), mode(&built.app), "it can be run");

    let trace = directory.path().join("t.pftrace");
    let printed = |variable: Option<&PathBuf>| {
        let mut command = built.run(&app, &trace);
        command.envs(variable.map(|path| ("PROTOLOG_DICTIONARIES", path)));
        let output = run(&mut command).stderr;
        output.trim_end().split_once(": ").expect("a line with a head").1.to_owned()
    };
    assert_eq!(printed(Some(&shelf)), "app, printed: 0007 and text");
    let unknown = printed(None);
    assert!(unknown.starts_with('#') && unknown.ends_with(" (7, text)"), "{unknown}");

    let read = |args: &[&str]| run(&mut tool(&[&["read-log", text(&trace)], args].concat()));
    let output = read(&["--viewer-config", text(&shelf)]);
    assert_eq!(output.stderr, "");
    assert!(output.stdout.contains("I Printed : app, printed: 0007 and text"), "{}", output.stdout);
    assert_eq!(output.stdout.lines().count(), 10);
    let json = read(&["--viewer-config", text(&shelf), "--format", "json", "--arg", "number=7"]);
    assert!(json.stdout.contains(r#""fields":{"number":7},"#), "{}", json.stdout);
    assert_eq!(json.stdout.lines().count(), 1);

    // A merge takes the texts into the trace, for readers that know no dictionaries.
    let merged = directory.path().join("merged.pftrace");
    let texts = ["--viewer-config", text(&shelf), "-o", text(&merged)];
    run(&mut tool(&[&["merge", text(&trace)], &texts[..]].concat()));
    let alone = run(&mut tool(&["read-log", text(&merged)]));
    assert_eq!((alone.stdout, alone.stderr), (output.stdout.clone(), String::new()));
    let sql = "select message, tag from protolog where message glob 'app, printed*'";
    if let Some(tables) = trace_processor(&merged, &[sql]) {
        assert_eq!(tables[0].texts("message"), ["app, printed: 7 and text"]);
        assert_eq!(tables[0].texts("tag"), ["Printed"]);
    }

    // Under any name, in any format, among others.
    let (pb, json) = (shelf.join(format!("{hash}.pb")), shelf.join("b.json"));
    let args = ["generate-viewer-config", "--from-binary", text(&built.app)];
    run(&mut tool(&[&args[..], &["--viewer-config", text(&json)]].concat()));
    fs::write(shelf.join("a.pb"), "no dictionary").unwrap();
    fs::remove_file(&pb).unwrap();
    assert_eq!(read(&["--viewer-config", text(&shelf)]).stdout, output.stdout);
    assert_eq!(read(&["--viewer-config", text(&json)]).stdout, output.stdout);

    fs::remove_file(json).unwrap();
    for args in [&[][..], &["--viewer-config", text(&shelf)]] {
        let output = read(args);
        let missing = format!(
            "warning: missing dictionary `{hash}`, which holds the texts of a stripped program\n"
        );
        assert!(output.stderr.contains(&missing), "{}", output.stderr);
        assert!(output.stderr.contains("help: name it, or a directory that holds it"));
        assert_eq!(output.stdout.lines().count(), 10, "ids and arguments remain");
    }
}

#[test]
fn strip_of_binutils_leaves_texts_and_names() {
    let (built, directory) = (PLAIN.build(), temp_dir());
    let (app, trace) = (directory.path().join("app"), directory.path().join("t.pftrace"));
    fs::copy(&built.app, &app).unwrap();
    run(std::process::Command::new("strip").arg(&app));
    assert!(fs::metadata(&app).unwrap().len() < fs::metadata(&built.app).unwrap().len());
    run(&mut built.run(&app, &trace));
    let args = ["read-log", text(&trace), "--format", "json", "--arg", "number=7"];
    let json = run(&mut tool(&args)).stdout;
    assert!(
        json.contains(r#""fields":{"number":7},"message":"app, printed: 0007 and text""#),
        "{json}"
    );
}

#[test]
fn what_was_stripped_has_no_dictionary_any_more() {
    let Stripped { app, hash, directory: _directory, .. } = strip();
    let args = ["generate-viewer-config", "--from-binary", text(&app), "--viewer-config", "x.pb"];
    let output = run_any(&mut tool(&args));
    assert_eq!(output.code, Some(2));
    let expected = format!(
        "error: can't read `{}`: its texts were already moved to the dictionary `{hash}`\nhelp: use the dictionary that was written then, or give the program that was not stripped\n",
        app.display()
    );
    assert_eq!(output.stderr, expected);
}
