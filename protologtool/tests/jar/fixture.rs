//! The fixtures, compiled and packed.

use protolog_testkit::{TempDir, java_sources, javac, run, temp_dir};
use protologtool::groups::Groups;
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The fixtures' directory.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/groups")
}

/// Class files of the fixtures: one directory per set of sources and release.
pub(crate) struct Compiled {
    dir: TempDir,
}

/// The releases that javac compiles for. 8: concatenation by builder, private access by bridge
/// methods; 11: `invokedynamic`, nest mates; 17: the same with `$values()`.
pub(crate) const RELEASES: [&str; 3] = ["8", "11", "17"];

/// The fixtures, compiled once for all tests; `None` without javac.
pub(crate) fn compiled() -> Option<&'static Compiled> {
    static COMPILED: OnceLock<Option<Compiled>> = OnceLock::new();
    COMPILED.get_or_init(Compiled::new).as_ref()
}

impl Compiled {
    fn new() -> Option<Self> {
        let compiled = Self { dir: temp_dir() };
        compiled.javac("17", &["outside"], "outside")?;
        compiled.javac("17", &["oracle"], "oracle")?;
        for release in RELEASES {
            compiled.javac(release, &["aosp", "shapes", "both"], release)?;
        }
        compiled.javac("17", &["errors"], "errors")?;
        Some(compiled)
    }

    fn javac(&self, release: &str, sources: &[&str], out: &str) -> Option<()> {
        let files = sources.iter().flat_map(|set| java_sources(&fixtures().join(set)));
        let mut javac = javac()?;
        javac.args([
            "--release",
            release,
            "-encoding",
            "UTF-8",
            "-nowarn",
            "-g:source,lines",
            "-d",
        ]);
        javac.arg(self.classes(out)).arg("-classpath").arg(self.classes("outside")).args(files);
        run(&mut javac);
        Some(())
    }

    /// The directory of class files of a release, of `errors`, of `outside` or of `oracle`.
    pub(crate) fn classes(&self, set: &str) -> PathBuf {
        self.dir.path().join(set)
    }

    /// A jar of these class files.
    pub(crate) fn jar(&self, set: &str) -> Vec<u8> {
        jar(&self.entries(set), CompressionMethod::Deflated)
    }

    /// Path in the jar and content of each class file, sorted by path.
    pub(crate) fn entries(&self, set: &str) -> Vec<(String, Vec<u8>)> {
        entries_of(&self.classes(set))
    }
}

/// Path below `root` and content of each file, sorted by path.
pub(crate) fn entries_of(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut open = vec![root.to_path_buf()];
    let mut entries = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                entries.push((name, fs::read(path).unwrap()));
            }
        }
    }
    entries.sort();
    entries
}

/// A jar with these entries.
pub(crate) fn jar(entries: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(name.as_str(), options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The groups as `PrintGroups.java` prints them.
pub(crate) fn table(groups: &Groups) -> String {
    let mut out = format!("# {}\n", groups.class());
    for group in groups.list() {
        let id = group.declared_id.map_or("none".to_owned(), |id| (id as i32).to_string());
        let (name, full) = (&group.name, &group.full_name);
        let (enabled, text) = (group.enabled, group.log_to_text);
        writeln!(
            out,
            "{name} | {full} | enabled {enabled} | text {text} | id {id} | {}",
            escape(&group.tag)
        )
        .unwrap();
    }
    out
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ b' '..0x7f) => out.push(byte.into()),
            _ => write!(out, "\\u{unit:04x}").unwrap(),
        }
    }
    out
}
