//! Runs into a directory that holds the outputs of an earlier one, beside runs into an empty one:
//! after any change of sources, groups and outputs both say and write the same.

use protolog_testkit::{TempDir, temp_dir};
use protologtool::cli::{self, Exit};
use protologtool::system::{Captured, Reader, Real, System};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const PRIVATE: &str = ".protologtool";

/// The sources, with blanks for what changes. The calls of `p/A.java` depend on a superclass in a
/// file of its own and on one that may stand in any file of its package, on constants, and on what
/// hides the static import.
const SOURCES: [(&str, &[&str]); 12] = [
    (
        "p/A.java",
        &[
            "package p; import static dev.protolog.ProtoLog.*; import demo.AppLog; import q.Texts;\nclass A extends Base {\n\
         void f(int n) { d(AppLog.NET, Texts.SENT, n); }\n}\n",
            "package p; import static dev.protolog.ProtoLog.*; import demo.AppLog;\nclass A extends Base {\n\
         void f(int n) { i(AppLog.NET, \"n %d\", n);\n d(AppLog.DISK, \"m %d\", n); }\n}\n",
            "package p; class A extends Base { }\n",
        ],
    ),
    (
        "p/B.java",
        &[
            "package p;\nclass B { }\nclass Base { }\n",
            "package p;\nclass B { }\nclass Base { void d(Object... all) { } }\n",
            "package p;\nclass B { }\n",
            "package p; import dev.protolog.ProtoLog; import demo.AppLog;\nclass B { void f() { ProtoLog.w(AppLog.NET, \"b\"); } }\n",
        ],
    ),
    (
        "p/Base.java",
        &["package p; class Base { }\n", "package p; class Base { void i(int n) { } }\n"],
    ),
    (
        "p/C.java",
        &[
            "package p; import dev.protolog.ProtoLog; import demo.AppLog;\nclass C extends q.Other { void f() { ProtoLog.e(AppLog.DISK, \"c\"); } }\n",
            "package p; class C { }\n",
            // An error.
            "package p; import dev.protolog.ProtoLog; import demo.AppLog;\nclass C { void f() { ProtoLog.e(AppLog.DISK, \"%d\"); } }\n",
            // A warning.
            "package p; import dev.protolog.ProtoLog; import demo.AppLog;\nclass C { void f(Object o) { ProtoLog.e(AppLog.DISK, \"at %s:\" + \"%s\", o, \"x\\n\"); } }\n",
        ],
    ),
    (
        "q/Texts.java",
        &[
            "package q; public class Texts { public static final String SENT = \"sent %d\"; }\n",
            "package q; public class Texts { public static final String SENT = \"got %x\"; }\n",
            "package q; public class Texts { public static final String SENT = More.SENT; }\n",
            "package q; public class Texts { public static String SENT = \"sent %d\"; }\n",
        ],
    ),
    (
        "q/More.java",
        &[
            "package q; class More { static final String SENT = \"more %d\"; }\n",
            "package q; class More { static final String SENT = \"less %d\"; }\n",
        ],
    ),
    (
        "q/Other.java",
        &[
            "package q; public class Other { }\n",
            "package q; public class Other { public static final Object ProtoLog = null; }\n",
        ],
    ),
    (
        "r/K.kt",
        &[
            "package r\nimport dev.protolog.ProtoLog\nimport demo.AppLog\nfun f(n: Int) = ProtoLog.d(AppLog.NET, \"kotlin $n\")\n",
            "package r\nfun f(n: Int) = n\n",
            "package r\nimport dev.protolog.ProtoLog\nimport demo.AppLog\nfun f(n: Int) = ProtoLog.d(AppLog.NET, TEXT, n)\nfun g(n: Int) = pass(\"by %d\", n)\n",
        ],
    ),
    // Constants, and a function that passes a template on.
    (
        "r/L.kt",
        &[
            "package r\nconst val TEXT = \"t %d\"\n",
            "package r\nconst val TEXT = \"u %d\"\n",
            "package r\nimport dev.protolog.ProtoLog\nimport demo.AppLog\nconst val TEXT = \"t %d\"\n\
             fun pass(msg: String, vararg args: Any?) = ProtoLog.v(AppLog.NET, \"P: $msg\", *args)\n",
        ],
    ),
    // Another function of its name.
    ("r/M.kt", &["package r\nfun other() = 1\n", "package r\nfun pass(n: Int) = n\n"]),
    (
        "w/Log.java",
        &[
            "package w; import dev.protolog.ProtoLog; import demo.AppLog;\npublic class Log {\n\
             private static void v(String text, Object... rest) { ProtoLog.v(AppLog.NET, \"own \" + text, rest); }\n\
             static void f() { v(\"%s\", \"x\"); }\n}\n",
            "package w; import dev.protolog.ProtoLog; import demo.AppLog;\npublic class Log {\n\
             public static void v(String text, Object... rest) { ProtoLog.v(AppLog.NET, \"log \" + text, rest); }\n}\n",
            "package w; import dev.protolog.ProtoLog; import demo.AppLog;\npublic class Log {\n\
             public static void v(String text, Object... rest) { ProtoLog.i(AppLog.DISK, text, rest); }\n}\n",
        ],
    ),
    (
        "w/Caller.java",
        &[
            "package w; import demo.AppLog;\nclass Caller { void f(int n) { Log.v(\"called %d\", n); } }\n",
            "package w; import demo.AppLog;\nclass Caller { void f(int n) { w.Log.v(\"again %d\", n); r.LKt.pass(\"x\"); } }\n",
        ],
    ),
];

const GROUPS: &str = "package demo;\npublic enum AppLog implements dev.protolog.IProtoLogGroup {\n\
    NET(true, true, \"Net\"), DISK(true, false, \"Disk\");\n\
    AppLog(boolean enabled, boolean text, String tag) { this.enabled = enabled; this.text = text; this.tag = tag; }\n\
    private final boolean enabled; private final boolean text; private final String tag;\n\
    public boolean isEnabled() { return enabled; }\npublic boolean isLogToText() { return text; }\n\
    public String getTag() { return tag; }\n}\n";

/// xorshift: the same changes on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

struct Room {
    directory: TempDir,
}

/// The result of a run: exit code, what it printed, what is there.
type Outcome = (Exit, String, BTreeMap<PathBuf, Vec<u8>>);

impl Room {
    fn new() -> Self {
        let room = Self { directory: temp_dir() };
        room.write("src/demo/AppLog.java", GROUPS);
        for (path, texts) in SOURCES {
            room.write(&format!("src/{path}"), texts[0]);
        }
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the tool into `out`, with these flags.
    fn run(&self, out: &str, flags: &[&str]) -> Outcome {
        let path = |name: &str| self.path(name).into_os_string();
        let (src, groups) = (path("src"), path("src/demo/AppLog.java"));
        let mut args: Vec<OsString> = [
            "protologtool",
            "transform-protolog-calls",
            "--jobs",
            "1",
            "--loggroups-class",
            "demo.AppLog",
        ]
        .map(OsString::from)
        .into();
        args.extend(["--loggroups-source".into(), groups, "--source-root".into(), src.clone()]);
        args.extend(["--output-dir".into(), path(&format!("{out}/sources"))]);
        args.extend(["--viewer-config".into(), path(&format!("{out}/app.pb"))]);
        args.extend(["--depfile".into(), path(&format!("{out}/app.d")), src]);
        args.extend(flags.iter().map(OsString::from));
        let system = Captured::default();
        let exit = cli::run(args, &system);
        (exit, system.into_printed(), files(&self.path(out)))
    }

    /// As [`run`](Self::run), into an empty directory. Its outputs have the names of those in
    /// `out`.
    fn fresh(&self, flags: &[&str]) -> Outcome {
        let (out, moved) = (self.path("out"), self.path("moved"));
        fs::rename(&out, &moved).unwrap();
        let outcome = self.run("out", flags);
        let _ = fs::remove_dir_all(&out);
        fs::rename(&moved, &out).unwrap();
        outcome
    }

    /// Changes one thing or another.
    fn change(&self, random: &mut Random) -> String {
        let (name, texts) = SOURCES[random.below(SOURCES.len())];
        let path = format!("src/{name}");
        match random.below(12) {
            0 => drop(fs::remove_file(self.path(&path))),
            1 => self.write("src/demo/AppLog.java", &GROUPS.replace("DISK(true", "DISK(false")),
            2 => self.write("src/demo/AppLog.java", GROUPS),
            3 => self.write(&format!("out/sources/{name}"), "another\n"),
            4 => drop(fs::remove_file(self.path(&format!("out/sources/{name}")))),
            5 => drop(fs::remove_file(self.path(&format!("out/sources/{PRIVATE}/state")))),
            6 => {
                let state = self.path(&format!("out/sources/{PRIVATE}/state"));
                let mut bytes = fs::read(&state).unwrap_or_default();
                bytes.truncate(random.below(bytes.len() + 1));
                fs::write(state, bytes).unwrap();
            }
            _ => {
                let index = random.below(texts.len());
                self.write(&path, texts[index]);
                return format!("{name} {index}");
            }
        }
        name.to_owned()
    }
}

/// All files below a directory but those that are ours alone.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![directory.to_path_buf()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with(PRIVATE) {
                    open.push(path);
                }
            } else {
                found.insert(
                    path.strip_prefix(directory).unwrap().to_path_buf(),
                    fs::read(&path).unwrap(),
                );
            }
        }
    }
    found
}

#[test]
fn any_run_is_as_a_first_one() {
    let room = Room::new();
    room.run("out", &[]);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut done, mut failed) = (0, 0);
    for round in 0..200 {
        let changes: Vec<String> =
            (0..=random.below(2)).map(|_| room.change(&mut random)).collect();
        let flags: &[&str] = if random.below(8) == 0 { &["--message-id", "aosp"] } else { &[] };
        let fresh = room.fresh(flags);
        let again = room.run("out", flags);
        let shown = || format!("round {round}: {changes:?} {flags:?}");
        assert_eq!((&again.0, &again.1), (&fresh.0, &fresh.1), "{}", shown());
        if fresh.0 == Exit::Done {
            // Someone else's file stays in the directory.
            let ours: BTreeMap<_, _> =
                again.2.into_iter().filter(|(_, text)| text != b"another\n").collect();
            assert_eq!(ours, fresh.2, "{}", shown());
            done += 1;
        } else {
            failed += 1;
        }
    }
    assert!(done > 50 && failed > 10, "{done} runs wrote, {failed} had errors");
}

/// Waits until files that were written have stamps that tell.
fn settle(path: &Path) {
    while !Real.stamp(path, &mut Reader::default()).unwrap().is_settled(Real.now()) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn stamps_tell_of_changes() {
    let room = Room::new();
    settle(&room.path("src/r/K.kt"));
    let first = room.run("out", &[]);
    assert_eq!(first.0, Exit::Done, "{}", first.1);
    // The outputs are as old as the run; the second one knows them by their content, the third by
    // their stamps.
    settle(&room.path("out/app.d"));
    assert_eq!(room.run("out", &[]), first);
    let state = room.path(&format!("out/sources/{PRIVATE}/state"));
    let before = fs::read(&state).unwrap();
    assert_eq!(room.run("out", &[]), first);
    assert!(before == fs::read(&state).unwrap(), "the state is the same for the same sources");

    // A change that keeps size and time of the last write: the time of the change tells.
    let source = room.path("src/r/K.kt");
    let (text, metadata) = (fs::read_to_string(&source).unwrap(), fs::metadata(&source).unwrap());
    fs::write(&source, text.replace("kotlin", "KOTLIN")).unwrap();
    fs::File::options()
        .write(true)
        .open(&source)
        .unwrap()
        .set_modified(metadata.modified().unwrap())
        .unwrap();
    let changed = room.run("out", &[]);
    assert_eq!(changed, room.fresh(&[]));
    assert_ne!(changed, first);
}
