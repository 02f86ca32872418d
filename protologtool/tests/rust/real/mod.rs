//! Real sources: crates of this workspace's own dependencies, with calls before random statements. What the tool makes of
//! them is compiled, without proc macros.
//!
//! A few crates by default; all of them with `PROTOLOG_REAL_RUST=all`, as `cargo xtask soak` runs it.

mod insert;

use crate::case::tool_on;
use insert::{Inserted, insert, without_calls};
use protolog_testkit::{run, workspace_root};
use protologtool::cli::Exit;
use protologtool::source::line_ends;
use protologtool::system::Real;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use viewer_config::Dictionary;

/// Crates of the editions from 2018 on that need no others, about in the order of their size.
const CRATES: [&str; 14] = [
    "shlex",
    "either",
    "heck",
    "fastrand",
    "roff",
    "adler2",
    "smallvec",
    "similar",
    "itoa",
    "utf8parse",
    "memchr",
    "bytes",
    "winnow",
    "regex-syntax",
];

/// The number of crates in a sample.
const SAMPLE: usize = 7;

#[test]
fn real_crates_compile_with_calls_anywhere() {
    let is_all = std::env::var("PROTOLOG_REAL_RUST").is_ok_and(|value| value == "all");
    let count = if is_all { CRATES.len() } else { SAMPLE };
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-real");
    let (sources, output) = (directory.join("sources"), directory.join("rewritten"));
    let _ = fs::remove_dir_all(&sources);
    let mut inserted = BTreeMap::new();
    let known = packages();
    let mut members = Vec::new();
    for name in &CRATES[..count] {
        // Which of several versions is taken does not matter.
        let Some(package) = known.iter().find(|package| package.name == *name) else { continue };
        package.copy(&sources.join(name), &mut inserted);
        members.push((name, package));
    }
    assert!(members.len() >= SAMPLE - 1, "{known:?}");
    let calls: usize = inserted.values().map(|file| file.calls).sum();
    assert!(calls > 100 * members.len() / 2, "{calls} calls");
    transform(&directory, &sources, &output);
    let dictionary = fs::read(directory.join("app.pb")).unwrap();
    let dictionary = Dictionary::read(&dictionary).unwrap().dictionary;
    assert_eq!(dictionary.messages().len(), calls);
    check_texts(&inserted, &sources, &output);
    compile(&members, &sources, &output);
    println!("{calls} calls in {} files of {} crates", inserted.len(), members.len());
}

/// A package of the registry.
#[derive(Debug)]
struct Package {
    name: String,
    root: PathBuf,
    edition: String,
    features: String,
}

/// The packages that this workspace depends on.
fn packages() -> Vec<Package> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    let text = run(cargo.current_dir(workspace_root())).stdout;
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let read = |package: &serde_json::Value| Package {
        name: package["name"].as_str().unwrap().to_owned(),
        root: Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned(),
        edition: package["edition"].as_str().unwrap().to_owned(),
        features: features(&package["features"]),
    };
    packages.map(read).collect()
}

/// The features that need no other crates, as the manifest writes them.
fn features(table: &serde_json::Value) -> String {
    let mut text = String::new();
    for (name, parts) in table.as_object().into_iter().flatten() {
        let parts = parts.as_array().into_iter().flatten().filter_map(|part| part.as_str());
        let is_own = |part: &str| !part.contains([':', '/']) && table.get(part).is_some();
        let mut parts: Vec<&str> = parts.filter(|part| is_own(part)).collect();
        // Features for nightly compilers or other crates are not switched on.
        parts.retain(|part| {
            name != "default" || matches!(*part, "std" | "alloc" | "unicode" | "text")
        });
        let _ = writeln!(text, "{name:?} = {parts:?}");
    }
    text
}

impl Package {
    /// Copies the package, with calls in its library.
    fn copy(&self, to: &Path, inserted: &mut BTreeMap<PathBuf, Inserted>) {
        for from in files_below(&self.root) {
            let below = from.strip_prefix(&self.root).unwrap();
            let path = to.join(below);
            if below.starts_with("tests")
                || below.starts_with("benches")
                || below.ends_with("Cargo.toml")
            {
                continue;
            }
            let mut content = fs::read(&from).unwrap();
            if below.starts_with("src") && below.extension().is_some_and(|ending| ending == "rs") {
                let is_root = below == Path::new("src/lib.rs");
                let seed = format!("{}/{}", self.name, below.display());
                if let Some(file) =
                    insert(&seed, &String::from_utf8(content.clone()).unwrap(), is_root)
                {
                    content = file.text.clone().into_bytes();
                    inserted.insert(path.clone(), file);
                }
            }
            write(&path, &content);
        }
        write(&to.join("Cargo.toml"), self.manifest().as_bytes());
    }

    fn manifest(&self) -> String {
        let Self { name, edition, features, .. } = self;
        let runtime = workspace_root().join("protolog-rt").display().to_string();
        format!(
            "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {edition:?}\n\
             [lib]\npath = \"src/lib.rs\"\n[features]\n{features}\
             [dependencies]\nprotolog-rt = {{ path = {runtime:?}, default-features = false }}\n"
        )
    }
}

fn transform(directory: &Path, sources: &Path, output: &Path) {
    let show = |path: &Path| path.display().to_string();
    let arguments = [
        "transform-protolog-calls".to_owned(),
        "--source-root".to_owned(),
        show(sources),
        "--output-dir".to_owned(),
        show(output),
        "--viewer-config".to_owned(),
        show(&directory.join("app.pb")),
        show(sources),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(tool_on(&Real, &arguments), Exit::Done, "see what it printed");
}

/// Bytes outside of calls, numbers of lines; and a second run.
fn check_texts(inserted: &BTreeMap<PathBuf, Inserted>, sources: &Path, output: &Path) {
    let again = output.with_file_name("again");
    for (path, file) in inserted {
        let rewritten = output.join(path.strip_prefix(sources).unwrap());
        let rewritten = fs::read_to_string(rewritten).unwrap();
        let lines = |text: &str| line_ends(text.as_bytes()).count();
        assert_eq!(lines(&rewritten), lines(&file.text), "{}", path.display());
        assert!(without_calls(&rewritten) == file.original, "{}: other bytes", path.display());
        write(&again.join("in").join(path.strip_prefix(sources).unwrap()), rewritten.as_bytes());
    }
    for manifest in files_below(sources).into_iter().filter(|path| path.ends_with("Cargo.toml")) {
        let to = again.join("in").join(manifest.strip_prefix(sources).unwrap());
        write(&to, &fs::read(manifest).unwrap());
    }
    transform(&again, &again.join("in"), &again.join("out"));
    for path in files_below(&again.join("in")).into_iter().filter(|path| path.ends_with(".rs")) {
        let out = again.join("out").join(path.strip_prefix(again.join("in")).unwrap());
        assert!(fs::read(&path).unwrap() == fs::read(out).unwrap(), "{}", path.display());
    }
}

/// Compiles the rewritten crates, as one workspace.
fn compile(members: &[(&&str, &Package)], sources: &Path, output: &Path) {
    for file in files_below(sources) {
        let to = output.join(file.strip_prefix(sources).unwrap());
        if file.extension().is_none_or(|ending| ending != "rs") {
            write(&to, &fs::read(&file).unwrap());
        }
    }
    let names: Vec<&&str> = members.iter().map(|(name, _)| *name).collect();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n");
    write(&output.join("Cargo.toml"), workspace.as_bytes());
    fs::copy(workspace_root().join("Cargo.lock"), output.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--offline", "--workspace", "--manifest-path"]);
    cargo.arg(output.join("Cargo.toml")).arg("--target-dir").arg(output.with_file_name("target"));
    // The crates' own lints are not the point here.
    run(cargo.env("RUSTFLAGS", "--cap-lints=allow"));
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}
