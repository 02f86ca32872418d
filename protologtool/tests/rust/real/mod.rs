//! Real sources: crates of this workspace's own dependencies, with calls before random statements.
//! The rewritten sources are compiled, without proc macros.
//!
//! A few crates by default; all that this workspace is built of, with `PROTOLOG_REAL_RUST=all`, as
//! `cargo xtask soak` runs it.

mod insert;

use crate::case::tool_on;
use insert::{Inserted, insert, without_calls};
use protolog_testkit::{run, workspace_root};
use protologtool::cli::Exit;
use protologtool::source::line_ends;
use protologtool::system::Real;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use viewer_config::Dictionary;

/// A sample: crates that need no others, about in the order of their size.
const SAMPLE: [&str; 7] = ["shlex", "either", "heck", "fastrand", "roff", "adler2", "smallvec"];

/// Sources that get no calls. The tool leaves calls as they are in a file of two modules, and in a
/// file that a macro of the crate declares; rustc never sees the others.
const EXCLUDED: [&str; 7] = [
    "getrandom/src",
    "serde/src",
    "serde_core/src",
    "aho-corasick/src/transducer.rs",
    "borsh/src/generate_schema_schema.rs",
    "digest/src/dev/variable.rs",
    "libc/src/types.rs",
];

/// Enough for syn on the largest expressions.
const STACK: usize = 256 << 20;

#[test]
fn real_crates_compile_with_calls_anywhere() {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(insert_and_compile);
    thread.unwrap().join().unwrap();
}

fn insert_and_compile() {
    let is_all = std::env::var("PROTOLOG_REAL_RUST").is_ok_and(|value| value == "all");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-real");
    let (sources, output) = (directory.join("sources"), directory.join("rewritten"));
    let _ = fs::remove_dir_all(&sources);
    let _ = fs::remove_dir_all(&output);
    let mut inserted = BTreeMap::new();
    let mut members = packages();
    // Which of several versions is taken does not matter.
    members.dedup_by(|second, first| second.name == first.name);
    members.retain(|package| {
        let is_sample = SAMPLE.contains(&&*package.name);
        is_sample || is_all && package.root.join("src/lib.rs").exists()
    });
    for package in &members {
        package.copy(&sources.join(&package.name), &mut inserted);
    }
    assert!(members.len() >= SAMPLE.len() - 1, "{members:?}");
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
    version: String,
    root: PathBuf,
    edition: String,
    is_macro: bool,
    /// The tables of its manifest behind that of the library.
    tables: String,
}

/// The packages of the registry that this workspace is built of on this machine.
fn packages() -> Vec<Package> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    cargo.arg("--filter-platform").arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH));
    let text = run(cargo.current_dir(workspace_root())).stdout;
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let nodes: BTreeMap<&str, &Value> =
        nodes.iter().map(|node| (text_of(&node["id"]), node)).collect();
    let packages = metadata["packages"].as_array().unwrap();
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().map(|package| (text_of(&package["id"]), package)).collect();
    let read = |package: &&Value| Package {
        name: text_of(&package["name"]).to_owned(),
        version: text_of(&package["version"]).to_owned(),
        root: Path::new(text_of(&package["manifest_path"])).parent().unwrap().to_owned(),
        edition: text_of(&package["edition"]).to_owned(),
        is_macro: package["targets"].to_string().contains(r#""kind":["proc-macro"]"#),
        tables: tables(nodes[text_of(&package["id"])], &nodes, &by_id),
    };
    let is_taken = |package: &&Value| {
        !package["source"].is_null()
            && nodes.contains_key(text_of(&package["id"]))
            && package["edition"] != "2015"
    };
    packages.iter().filter(is_taken).map(|package| read(&package)).collect()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The features and dependencies as this workspace has them.
fn tables(
    node: &Value,
    nodes: &BTreeMap<&str, &Value>,
    packages: &BTreeMap<&str, &Value>,
) -> String {
    let mut text = String::from("[features]\n");
    let features = node["features"].as_array().unwrap();
    for name in features.iter().filter(|name| *name != "default") {
        let _ = writeln!(text, "{name} = []");
    }
    let rest: Vec<&str> = features.iter().map(text_of).filter(|name| *name != "default").collect();
    let _ = writeln!(text, "default = {rest:?}");
    for (table, kind) in [("dependencies", Value::Null), ("build-dependencies", "build".into())] {
        let _ = writeln!(text, "[{table}]");
        for dependency in node["deps"].as_array().unwrap() {
            if !dependency["dep_kinds"]
                .as_array()
                .unwrap()
                .iter()
                .any(|found| found["kind"] == kind)
            {
                continue;
            }
            let package = packages[text_of(&dependency["pkg"])];
            let features = nodes[text_of(&dependency["pkg"])]["features"].to_string();
            let (name, version) = (&package["name"], text_of(&package["version"]));
            let _ = writeln!(
                text,
                "{} = {{ package = {name}, version = \"={version}\", default-features = false, features = {features} }}",
                dependency["name"],
            );
        }
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
            let is_excluded = below.starts_with("src/bin")
                || EXCLUDED.iter().any(|path| Path::new(&self.name).join(below).starts_with(path));
            if !is_excluded
                && below.starts_with("src")
                && below.extension().is_some_and(|ending| ending == "rs")
            {
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
        let Self { name, version, edition, is_macro, tables, .. } = self;
        let runtime = workspace_root().join("protolog-rt").display().to_string();
        let own = format!(
            "[package]\nname = {name:?}\nversion = {version:?}\nedition = {edition:?}\nautobins = false\n\
             [lib]\npath = \"src/lib.rs\"\nproc-macro = {is_macro}\n{tables}"
        );
        let runtime =
            format!("\nprotolog-rt = {{ path = {runtime:?}, default-features = false }}\n");
        own.replace("[dependencies]\n", &format!("[dependencies]{runtime}"))
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
fn compile(members: &[Package], sources: &Path, output: &Path) {
    for file in files_below(sources) {
        let to = output.join(file.strip_prefix(sources).unwrap());
        if file.extension().is_none_or(|ending| ending != "rs") {
            write(&to, &fs::read(&file).unwrap());
        }
    }
    let names: Vec<&str> = members.iter().map(|package| package.name.as_str()).collect();
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n");
    write(&output.join("Cargo.toml"), workspace.as_bytes());
    fs::copy(workspace_root().join("Cargo.lock"), output.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--offline", "--keep-going", "--workspace", "--manifest-path"]);
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
