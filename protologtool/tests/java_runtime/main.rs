//! The Java runtime, by real programs: compiled with javac, as they are and rewritten, run, killed.
//! Their traces are read by this project's reader and by Perfetto's `trace_processor`.

mod as_one;
mod attacked;
mod children;
mod divided;
mod ending;
mod failing;
mod family;
mod grammar;
mod idle;
mod interrupted;
mod killed;
mod limited;
mod names;
mod pinned;
mod places;
mod reference;
#[path = "../attackers/renamed.rs"]
mod renamed;
mod repeated;
mod requests;
mod restart;
mod sampled;
mod spans;
mod stress;
mod surroundings;
mod switched;
mod threads;
mod token;
mod triggered;
mod trouble;
mod zones;

use protolog_testkit::{
    Output, compile_java, java_sources, run, run_any, run_java, temp_dir, temp_dir_for_sockets,
    trace_processor, workspace_root,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java_runtime")
}

fn tool(args: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_protologtool")).args(args))
}

/// Compiles into `classes`; false without javac.
fn compile(sources: &[PathBuf], classpath: &[PathBuf], classes: &Path) -> bool {
    let Some(output) = compile_java(classes, sources, classpath) else { return false };
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    true
}

/// The programs and the runtime, compiled once; none without javac.
fn classes() -> Option<&'static Path> {
    static CLASSES: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java_runtime");
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("make a directory");
        let runtime = java_sources(&workspace_root().join("java/src"));
        let all = [runtime, java_sources(&sources().join("app"))].concat();
        compile(&all, &[], &dir).then_some(dir)
    });
    CLASSES.as_deref()
}

/// Has the tool rewrite programs, and compiles what it has written; the class path of that, with
/// its dictionary.
fn rewritten(dir: &Path, classes: &Path, files: &[&str]) -> Vec<PathBuf> {
    let (processed, made) = (dir.join("sources"), dir.join("rewritten"));
    let dictionary = made.join("META-INF/protolog/dictionary.pb");
    std::fs::create_dir_all(dictionary.parent().unwrap()).unwrap();
    let files = files.iter().map(|file| sources().join(file).display().to_string());
    let options = [
        "transform-protolog-calls".to_owned(),
        "--loggroups-class=app.AppLog".to_owned(),
        format!("--loggroups-source={}", sources().join("app/AppLog.java").display()),
        format!("--source-root={}", sources().display()),
        format!("--output-dir={}", processed.display()),
        format!("--viewer-config={}", dictionary.display()),
    ];
    run(Command::new(env!("CARGO_BIN_EXE_protologtool")).args(options.into_iter().chain(files)));
    assert!(compile(&java_sources(&processed), &[classes.to_path_buf()], &made));
    // The classes of the same names that are as they were written come after them.
    vec![made, classes.to_path_buf()]
}

/// The lines of a trace, without the time and the ids.
fn messages(trace: &Path) -> Vec<String> {
    let output = tool(&["read-log", "--format", "json", trace.to_str().unwrap()]);
    let rows = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows = rows.filter(|row: &serde_json::Value| row["type"] == "message");
    let rows = rows.map(|row| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}: {}", text("level"), text("tag"), text("message"))
    });
    rows.collect()
}

#[test]
fn a_trace_says_what_is_printed() {
    let dir = temp_dir();
    let Some(written) = classes() else { return };
    let expected = run_kinds(&[written.to_path_buf()], dir.path());
    let rewritten = rewritten(dir.path(), written, &["app/Kinds.java", "app/AppLog.java"]);
    let actual = run_kinds(&rewritten, dir.path());
    assert_eq!(expected, actual, "unprocessed and processed");
}

/// Runs the program, compares its traces with what it prints, and returns the messages.
fn run_kinds(classes: &[PathBuf], dir: &Path) -> Vec<String> {
    let output = run_java(classes, "app.Kinds", &[dir.to_str().unwrap()]).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let printed: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(printed.first(), Some(&"WARN Net: before any session"));
    assert_eq!(printed.last(), Some(&"WARN Net: after the session"));
    let recorded = &printed[1..printed.len() - 1];
    assert_eq!(output.stdout, format!("{} 0 true\n", recorded.len()));
    assert!(!dir.join("kinds.rec").exists(), "its messages are in the trace");
    let trace = dir.join("kinds.pftrace");
    let read = messages(&trace);
    // An unpaired surrogate is no character of UTF-8.
    assert_eq!(read, recorded);
    // A `float` as a text is that of Java; as a number it is a `double`.
    assert!(read.contains(&"INFO Net: 0.1 1.6777218E7 and 0.1 0.100000 0.100000001".to_owned()));
    let snapshot = messages(&dir.join("snapshot.pftrace"));
    assert_eq!(snapshot, recorded[..recorded.len() - 1]);
    if let Some(tables) = trace_processor(&trace, &["SELECT message FROM protolog ORDER BY ts"]) {
        let texts = tables[0].texts("message");
        assert_eq!(texts.len(), recorded.len());
        assert!(texts.contains(
            &"thrown <app.Kinds$1.toString: java.lang.IllegalStateException>".to_owned()
        ));
        assert!(texts.contains(&"-7 300 99 2147483647 -9223372036854775808".to_owned()));
    }
    read
}

/// Interpreted and compiled, since the JVM does not survive the same operations in either.
#[test]
fn a_truncated_file_ends_its_session_only() {
    let truncated =
        "the session's file can't be used any more: another process has truncated ...\n20001\n";
    for (kind, expected) in [
        ("recording", truncated),
        ("full", truncated),
        ("stream", truncated),
        ("long", truncated),
        ("switches", "20001\n"),
    ] {
        for compiler in ["-Xint", "-Xmixed"] {
            let dir = temp_dir_for_sockets();
            let Some(classes) = classes() else { return };
            let mut java = Command::new("java");
            java.args([compiler, "-cp"]).arg(classes).args(["app.Truncated", kind]);
            let output = run_any(java.arg(dir.path()));
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{kind}");
            assert_eq!(output.stdout, expected, "{kind}, {compiler}");
            assert!(kind == "stream" || !dir.path().join("lost.pftrace").exists());
            assert_eq!(messages(&dir.path().join("other.pftrace")).len(), 20_001);
        }
    }
}

#[test]
fn wrong_calls_never_throw() {
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let args = [dir.path().to_str().unwrap()];
    let output = run_java(&[classes.to_path_buf()], "app.Wrong", &args).unwrap();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let read = messages(&dir.path().join("wrong.pftrace"));
    let expected = [
        "INFO Net: null",
        r#"INFO Net: FORMAT_ERROR "%d", args=(text): %d does not take java.lang.String"#,
        r#"INFO Net: FORMAT_ERROR "%d %d", args=(1): takes 2 arguments, got 1"#,
        r#"INFO Net: FORMAT_ERROR "%q", args=(): unknown conversion `%q`"#,
        "INFO Net: null",
    ];
    assert_eq!(read[..expected.len()], expected);
    assert_eq!(read.last().unwrap(), "INFO Net: unwound");
    assert_eq!(output.stdout, format!("{}\n", expected.len() + 3));
}
