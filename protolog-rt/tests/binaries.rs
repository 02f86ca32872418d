//! The traces of the macros in binaries: the code of a call, call-site notes, and nothing of groups
//! that are compiled out. The tests build a fixture outside this workspace, in release.
#![allow(unsafe_code)] // dlopen.

mod common;

use common::record;
use protolog_core::schema::{message_data, packet, viewer_config};
use protolog_rt::{Level, ProtoLogGroup};
use protozero::Reader;
use std::ffi::CString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

#[derive(ProtoLogGroup)]
enum OwnLog {
    Here,
}

struct Fixture {
    /// Path of the program.
    program: PathBuf,
    /// Path of the shared library.
    plugin: PathBuf,
    /// Path of the program with a thousand calls.
    many: PathBuf,
    /// Assembly of the program before linking.
    assembly: String,
}

/// The fixture, built once for all tests.
fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let fixture = runtime.join("tests/fixtures/probe");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("probe");
        fs::create_dir_all(copy.join("src")).expect("make a directory for the fixture");
        for source in ["src/main.rs", "src/plugin.rs", "src/many.rs"] {
            fs::copy(fixture.join(source), copy.join(source)).expect("copy the fixture");
        }
        let manifest = fs::read_to_string(fixture.join("Cargo.toml")).expect("read the manifest");
        let manifest = manifest.replace("PROTOLOG_RT", &runtime.display().to_string());
        fs::write(copy.join("Cargo.toml"), manifest).expect("write the manifest");
        let lock = protolog_testkit::workspace_root().join("Cargo.lock");
        fs::copy(lock, copy.join("Cargo.lock")).expect("copy the lock file");

        let target = copy.join("target");
        let cargo = |command: &str, target_kind: &[&str], flags: &[&str]| {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args([command, "--quiet", "--offline", "--release", "--manifest-path"]);
            cargo.arg(copy.join("Cargo.toml")).arg("--target-dir").arg(&target);
            cargo.args(target_kind).args(flags).env_remove("RUSTFLAGS");
            protolog_testkit::run(&mut cargo);
        };
        cargo("build", &["--lib", "--bin", "many"], &[]);
        cargo("rustc", &["--bin", "probe"], &["--", "--emit", "asm,link"]);
        let release = target.join("release");
        let newest = fs::read_dir(release.join("deps"))
            .expect("list what was built")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "s"))
            .max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok())
            .expect("an assembly file");
        Fixture {
            program: release.join("probe"),
            plugin: release.join("libplugin.so"),
            many: release.join("many"),
            assembly: fs::read_to_string(newest).expect("read the assembly"),
        }
    })
}

/// The instructions of the program's function `name`; none if the compiler removed the function as
/// empty.
fn instructions(name: &str) -> Option<Vec<&'static str>> {
    instructions_at(&format!("5probe{}{name}17h", name.len()))
}

/// The instructions of the first function with `label` in its mangled name.
fn instructions_at(label: &str) -> Option<Vec<&'static str>> {
    let mut lines = fixture().assembly.lines().skip_while(|line| {
        !(line.ends_with(':') && line.contains(label) && !line.starts_with(char::is_whitespace))
    });
    lines.next()?;
    let code = lines.take_while(|line| !line.starts_with(".Lfunc_end")).map(str::trim);
    Some(code.filter(|line| !line.starts_with(['.', '#']) && !line.ends_with(':')).collect())
}

fn contains(file: &Path, text: &str) -> bool {
    let bytes = fs::read(file).expect("read a binary");
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_disabled_call_is_a_load_a_test_and_a_branch() {
    let code = instructions("hot").expect("the function");
    let branch = code.iter().position(|line| line.starts_with('j')).expect("a branch");
    assert!(branch <= 2, "at most a load and a test come first:\n{}", code.join("\n"));
    let loads = code[..branch].iter().filter(|line| line.contains('(')).count();
    assert_eq!(loads, 1, "exactly one load:\n{}", code.join("\n"));
    let direct = code[..branch].iter().any(|line| line.contains("PAGE") && line.contains("(%rip)"));
    assert!(direct, "from an address known at link time:\n{}", code.join("\n"));
}

/// A locked instruction or a store fence would make the call wait for other cores. A load fence
/// before the counter is read is allowed: it waits only for loads of this thread.
#[test]
#[cfg(target_arch = "x86_64")]
fn an_enabled_call_has_no_locked_instruction_and_no_store_fence() {
    let code = instructions_at("11protolog_rt4emit3log17h").expect("the function behind all calls");
    assert!(code.iter().any(|line| line.starts_with("rdtsc")), "another function: no `rdtsc`");
    let shared = |line: &&&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        let swap = word.starts_with("xchg") && line.contains('(');
        matches!(word, "lock" | "mfence" | "sfence" | "syscall") || swap
    };
    assert_eq!(code.iter().filter(shared).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(!code.iter().any(|line| line.contains("panic")), "{}", code.join("\n"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_of_a_compiled_out_group_is_no_code() {
    let code = instructions("off").unwrap_or_default();
    assert!(code.is_empty() || code == ["retq"], "{}", code.join("\n"));
}

#[test]
fn a_compiled_out_group_leaves_no_string_in_the_binary() {
    let Fixture { program, .. } = fixture();
    assert!(contains(program, "visible: %d and %s"));
    assert!(!contains(program, "hidden:"));
}

#[test]
fn the_fixture_logs_to_standard_error() {
    let output = Command::new(&fixture().program).output().expect("run the fixture");
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stderr).expect("text");
    let messages: Vec<_> = lines.lines().filter_map(|line| line.split_once(": ")).collect();
    let expected = ["generic: 2.5 2.5 None", "before and after: 1 2"];
    assert_eq!(messages.iter().map(|(_, message)| *message).collect::<Vec<_>>(), expected);
    assert!(messages.iter().all(|(head, _)| head.ends_with(" I Printed ")), "{lines}");
}

#[test]
fn the_dictionary_has_the_calls_of_every_loaded_module() {
    let library = CString::new(fixture().plugin.to_str().expect("a path in UTF-8")).unwrap();
    let recording = record(|session| session);
    protolog_rt::d!(OwnLog::Here, "disabled, but in the dictionary");
    let before = templates(recording.stop().path.as_path());
    // SAFETY: the library is the fixture, which has no constructors and is never unloaded.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW) };
    assert!(!handle.is_null(), "dlopen of the fixture");
    let recording = record(|session| session);
    let after = templates(recording.stop().path.as_path());

    let own = "disabled, but in the dictionary".to_owned();
    let of_the_plugin = "the plugin works %d times".to_owned();
    assert_eq!(before.iter().filter(|text| **text == own).count(), 1);
    assert!(!before.contains(&of_the_plugin));
    assert_eq!(after.iter().filter(|text| **text == own).count(), 1);
    assert_eq!(after.iter().filter(|text| **text == of_the_plugin).count(), 1);
    assert!(!OwnLog::Here.is_enabled(Level::Debug));
}

/// A relocation would make the loader write to the notes of every process, which turns shared pages
/// into private ones.
#[test]
fn call_site_notes_need_no_relocation() {
    for file in [&fixture().program, &fixture().plugin, &fixture().many] {
        let notes = notes(file);
        let listed = readelf("-r", file);
        let words = listed.lines().filter_map(|line| line.split_whitespace().next());
        let places: Vec<u64> =
            words.filter_map(|word| u64::from_str_radix(word, 16).ok()).collect();
        assert!(!places.is_empty(), "no relocations at all:\n{listed}");
        let within: Vec<_> = places.iter().filter(|place| notes.contains(place)).collect();
        assert!(within.is_empty(), "{within:x?} are in {notes:x?} of {}", file.display());
    }
}

/// The kernel also maps pages around one that is read, so only pages in the middle count. How many,
/// depends on how it keeps the file: 16 of them at some place are nobody's reading of all notes.
#[test]
#[cfg(target_os = "linux")]
fn call_site_notes_take_no_memory_until_a_dictionary_is_written() {
    const PAGE: u64 = 4096;
    const AROUND: u64 = 16 * PAGE;
    let notes = notes(&fixture().many);
    let pages = (notes.start + AROUND) / PAGE..(notes.end - AROUND) / PAGE;
    assert!(pages.clone().count() > 64, "too few notes: {notes:x?}");

    let mut command = Command::new(&fixture().many);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("run it");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut input = child.stdin.take().expect("a pipe");
    let mut resident = || {
        let line = lines.next().expect("a line").expect("text");
        let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("read the maps");
        let first = maps.lines().find(|line| line.ends_with("/many")).expect("the program");
        let base = first.split('-').next().and_then(|start| u64::from_str_radix(start, 16).ok());
        let base = base.expect("an address") / PAGE;
        let map = fs::File::open(format!("/proc/{}/pagemap", child.id())).expect("open the map");
        let is_present = |page: &u64| {
            let mut entry = [0; 8];
            map.read_exact_at(&mut entry, (base + page) * 8).expect("read the map");
            u64::from_le_bytes(entry) >> 63 == 1
        };
        let count = pages.clone().filter(is_present).count();
        input.write_all(b"\n").expect("the program waits");
        (line, count)
    };
    let (line, around) = resident();
    assert_eq!(line, "off");
    assert!(around < pages.clone().count() / 2, "{around} pages of notes are read at the start");
    assert_eq!(resident(), ("text".to_owned(), around));
    let (line, count) = resident();
    assert_eq!(line, "session");
    assert_eq!(count, pages.clone().count(), "a session writes the dictionary");
    assert!(child.wait().expect("it ends").success());
}

/// The address range of the call-site notes in a file.
fn notes(file: &Path) -> Range<u64> {
    let listed = readelf("-S", file);
    let line = listed.lines().find(|line| line.contains(".note.protolog")).expect("the section");
    let words: Vec<&str> = line.split_whitespace().skip_while(|word| *word != "NOTE").collect();
    let number = |word: &str| u64::from_str_radix(word, 16).expect("a number");
    let (start, size) = (number(words[1]), number(words[3]));
    start..start + size
}

fn readelf(what: &str, file: &Path) -> String {
    // `readelf` comes with the linker.
    let output = Command::new("readelf").args([what, "--wide"]).arg(file).output();
    String::from_utf8(output.expect("run readelf").stdout).expect("text")
}

/// The templates in the dictionary of a trace.
fn templates(trace: &Path) -> Vec<String> {
    let bytes = fs::read(trace).expect("read the trace");
    let inner = |fields: Reader<'_>, number: u32| -> Vec<Vec<u8>> {
        let fields = fields.map(|field| field.expect("a field"));
        fields
            .filter(|field| field.number == number)
            .map(|field| field.as_bytes().expect("bytes").to_vec())
            .collect()
    };
    let packets = inner(Reader::new(&bytes), 1);
    let configs =
        packets.iter().flat_map(|bytes| inner(Reader::new(bytes), packet::PROTOLOG_VIEWER_CONFIG));
    let messages = configs
        .flat_map(|bytes| inner(Reader::new(&bytes), viewer_config::MESSAGES))
        .flat_map(|bytes| inner(Reader::new(&bytes), message_data::MESSAGE));
    messages.map(|text| String::from_utf8(text).expect("text")).collect()
}
