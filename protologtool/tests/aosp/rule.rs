//! Rules of Android's build, word for word: with the template among the sources or where AOSP's
//! tool looks for it, and with groups that javac compiled.

use crate::case::fixtures;
use protolog_testkit::{Output, check_dictionary, compile_java, java_sources, run_any, temp_dir};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

pub(crate) const TEMPLATE: &str =
    "frameworks/base/core/java/com/android/internal/protolog/ProtoLogImpl.java";
pub(crate) const GROUPS: &str = "com/android/wm/shell/protolog/ShellProtoLogGroup.java";

const TRANSFORM: &str = "transform-protolog-calls --protolog-class com.android.internal.protolog.ProtoLog \
    --loggroups-class com.android.wm.shell.protolog.ShellProtoLogGroup --loggroups-jar groups.jar \
    --viewer-config-file-path /system_ext/etc/wmshell.protolog.pb --legacy-viewer-config-file-path /system_ext/etc/wmshell.protolog.json.gz \
    --legacy-output-file-path /data/misc/wmtrace/shell_log.winscope --output-srcjar out.srcjar";

const GENERATE: &str = "generate-viewer-config --protolog-class com.android.internal.protolog.ProtoLog \
    --loggroups-class com.android.wm.shell.protolog.ShellProtoLogGroup --loggroups-jar groups.jar";

/// A directory in which rules are run.
pub(crate) struct Room {
    directory: protolog_testkit::TempDir,
}

impl Room {
    fn new() -> Self {
        Self { directory: temp_dir() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Copies a fixture.
    pub(crate) fn add(&self, fixture: &str, path: &str) {
        self.write(path, &fs::read(fixtures().join(fixture)).unwrap());
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// A room with the groups, two sources and no template. None without a JDK.
    pub(crate) fn shell() -> Option<Self> {
        static GROUPS_JAR: LazyLock<Option<Vec<u8>>> =
            LazyLock::new(|| jar(&fixtures().join("shell").join(GROUPS)));
        let room = Self::new();
        room.add("shell/com/android/wm/shell/split/A.java", "A.java");
        room.add("shell/com/android/wm/shell/split/B.java", "B.java");
        room.write("groups.jar", GROUPS_JAR.as_deref()?);
        Some(room)
    }

    pub(crate) fn run(&self, args: &str) -> Output {
        let tool = Path::new(env!("CARGO_BIN_EXE_protologtool"));
        run_any(Command::new(tool).args(args.split_whitespace()).current_dir(self.path()))
    }

    #[track_caller]
    fn succeed(&self, args: &str) {
        let output = self.run(args);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{args}");
    }

    /// The entries of an archive, in order.
    pub(crate) fn archive(&self, path: &str) -> Vec<(String, String)> {
        let bytes = fs::read(self.path().join(path)).unwrap();
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let indices = 0..archive.len();
        let entry = |index| {
            let mut file = archive.by_index(index).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            (file.name().unwrap().into_owned(), text)
        };
        indices.map(entry).collect()
    }
}

/// A jar of a class with groups, compiled. None without a JDK.
pub(crate) fn jar(source: &Path) -> Option<Vec<u8>> {
    let classes = temp_dir();
    let mut sources = java_sources(&fixtures().join("framework"));
    sources.push(source.to_path_buf());
    let output = compile_java(classes.path(), &sources, &[])?;
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for class in files(classes.path()) {
        let name = class.strip_prefix(classes.path()).unwrap().to_str().unwrap();
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(&fs::read(&class).unwrap()).unwrap();
    }
    Some(archive.finish().unwrap().into_inner())
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

#[test]
fn a_rule_for_sources() {
    let Some(room) = Room::shell() else { return };
    for release in ["android-17", "android-16", "android-15"] {
        room.add(&format!("{release}/ProtoLogImpl.java"), "ProtoLogImpl.java");
        room.succeed(&format!("{TRANSFORM} A.java B.java ProtoLogImpl.java"));
        let archive = room.archive("out.srcjar");
        let names: Vec<&str> = archive.iter().map(|(name, _)| name.as_str()).collect();
        let [generated, "A.java", "B.java", "ProtoLogImpl.java"] = names[..] else {
            panic!("{names:?}");
        };
        assert!(
            generated.starts_with("gen/com/android/internal/protolog/ProtoLogImpl_"),
            "{generated}"
        );
        assert!(archive[0].1.contains(" = \"/system_ext/etc/wmshell.protolog.pb\";"));
        if release == "android-15" {
            assert!(archive[0].1.contains(" = \"/system_ext/etc/wmshell.protolog.json.gz\";"));
            assert!(archive[0].1.contains(" = \"/data/misc/wmtrace/shell_log.winscope\";"));
        }
        let guard = if release == "android-15" {
            ".isEnabled(ShellProtoLogGroup.WM_SHELL_OFF)"
        } else {
            "Cache.WM_SHELL_OFF_enabled[1]"
        };
        assert!(archive[1].1.contains(guard), "{}", archive[1].1);
        compiles(&archive);
        // The same bytes from the template at its place, but for one entry less.
        let expected = &archive[..3];
        room.add(&format!("{release}/ProtoLogImpl.java"), TEMPLATE);
        room.succeed(&format!("{TRANSFORM} A.java B.java"));
        let other_number = |text: &str, name: &str| {
            let number = |name: &str| name.split(['_', '.']).nth(1).unwrap().to_owned();
            text.replace(&number(name), &number(generated))
        };
        let actual = room.archive("out.srcjar");
        let name = actual[0].0.clone();
        let actual: Vec<_> = actual
            .iter()
            .map(|(entry, text)| (other_number(entry, &name), other_number(text, &name)))
            .collect();
        assert_eq!(actual, expected);
        fs::remove_file(room.path().join(TEMPLATE)).unwrap();
    }
}

/// Compiles what a rule wrote, as Android's build would.
pub(crate) fn compiles(archive: &[(String, String)]) {
    let (root, classes) = (temp_dir(), temp_dir());
    let mut sources = java_sources(&fixtures().join("framework"));
    sources.push(fixtures().join("shell").join(GROUPS));
    for (name, text) in archive {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        sources.push(path);
    }
    let output = compile_java(classes.path(), &sources, &[]).expect("there is a JDK");
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

#[test]
fn a_rule_for_the_dictionary() {
    let Some(room) = Room::shell() else { return };
    room.succeed(&format!(
        "{GENERATE} --viewer-config-type proto --viewer-config out.pb A.java B.java"
    ));
    room.succeed(&format!(
        "{GENERATE} --viewer-config-type json --viewer-config out.json A.java B.java"
    ));
    // Both outputs of one run are those of two.
    room.add("android-16/ProtoLogImpl.java", "ProtoLogImpl.java");
    room.succeed(&format!("{TRANSFORM} --viewer-config both.pb A.java B.java ProtoLogImpl.java"));
    let read = |path: &str| fs::read(room.path().join(path)).unwrap();
    assert_eq!(read("out.pb"), read("both.pb"));
    let json: serde_json::Value = serde_json::from_slice(&read("out.json")).unwrap();
    assert_eq!(json["version"], "2.0.0");
    let Some(dictionary) = check_dictionary(&room.path().join("out.pb")) else { return };
    let groups: Vec<_> = dictionary["groups"].as_array().unwrap().iter().collect();
    let expected = [
        ("WM_SHELL_INIT", "ShellInit", 1),
        ("WM_SHELL_OFF", "WindowManagerShell", 3),
        ("WM_SHELL_SPLIT", "WindowManagerShellSplit", 2),
        ("WM_SHELL_UNUSED", "WindowManagerShell", 4),
    ];
    assert_eq!(groups.len(), expected.len(), "{dictionary}");
    for (group, (name, tag, position)) in groups.into_iter().zip(expected) {
        assert_eq!((&group["name"], &group["tag"]), (&name.into(), &tag.into()), "{dictionary}");
        assert_eq!(group["id"].as_i64(), Some(position), "{dictionary}");
    }
    let messages = dictionary["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "{dictionary}");
    let location = "com/android/wm/shell/split/A.java:11";
    let first = messages.iter().find(|message| message["location"] == location).expect(location);
    assert_eq!(first["message"], "onTaskVanished: task=%d reason=%s forced=%b");
}

const EXAMPLE: &str = "frameworks/base/org/example/Example.java";

const EXAMPLE_TEXT: &str = "package org.example;\n\nimport com.android.internal.protolog.ProtoLog;\n\
    import static com.android.internal.protolog.Groups.GROUP;\n\n\
    class Example {\n    void method() {\n        String argString = \"hello\"; int argInt = 123;\n        \
    ProtoLog.d(GROUP, \"Example: %s %d\", argString, argInt);\n    }\n}\n";

const EXAMPLE_ARGS: &str = "--protolog-class com.android.internal.protolog.ProtoLog \
    --loggroups-class com.android.internal.protolog.Groups --loggroups-jar not_required.jar \
    frameworks/base/org/example/Example.java";

const EXAMPLE_TRANSFORM: &str =
    "transform-protolog-calls --viewer-config-file-path not_required.pb --output-srcjar out.srcjar";

impl Room {
    /// A room for AOSP's own test of the whole way, with its paths: they make the class's name. No
    /// template. None without a JDK.
    fn example() -> Option<Self> {
        static GROUPS_JAR: LazyLock<Option<Vec<u8>>> = LazyLock::new(|| {
            let directory = temp_dir();
            let source = directory.path().join("Groups.java");
            let text = fs::read_to_string(fixtures().join("framework/demo/Groups.java")).unwrap();
            let text = text.replace("package demo;", "package com.android.internal.protolog;");
            fs::write(&source, text).unwrap();
            jar(&source)
        });
        let room = Self::new();
        room.write(EXAMPLE, EXAMPLE_TEXT.as_bytes());
        room.write("not_required.jar", GROUPS_JAR.as_deref()?);
        Some(room)
    }

    /// The archive that the example's rule makes with these arguments too.
    fn transform_example(&self, args: &str) -> Vec<(String, String)> {
        self.succeed(&format!("{EXAMPLE_TRANSFORM} {EXAMPLE_ARGS} {args}"));
        self.archive("out.srcjar")
    }
}

#[test]
fn the_end_to_end_test() {
    let Some(room) = Room::example() else { return };
    room.add("android-17/ProtoLogImpl.java", TEMPLATE);
    let archive = room.transform_example("");
    assert_eq!(archive[0].0, "gen/com/android/internal/protolog/ProtoLogImpl_454675969.java");
    let expected = "if (com.android.internal.protolog.ProtoLogImpl_454675969.Cache.GROUP_enabled[1]) {  \
        String protoLogParam0 = String.valueOf(argString);  long protoLogParam1 = argInt;  \
        com.android.internal.protolog.ProtoLogImpl_454675969.d(GROUP, -6872339441335321086L, 4L, protoLogParam0, protoLogParam1); }\n";
    let call = "ProtoLog.d(GROUP, \"Example: %s %d\", argString, argInt);\n";
    assert_eq!(archive[1], (EXAMPLE.to_owned(), EXAMPLE_TEXT.replace(call, expected)));
    let once = fs::read(room.path().join("out.srcjar")).unwrap();
    room.transform_example("");
    assert_eq!(fs::read(room.path().join("out.srcjar")).unwrap(), once);

    room.succeed(&format!("generate-viewer-config {EXAMPLE_ARGS} --viewer-config out.json"));
    let json = fs::read(room.path().join("out.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let message = &json["messages"]["-6872339441335321086"];
    for (field, expected) in [
        ("message", "Example: %s %d"),
        ("level", "DEBUG"),
        ("group", "GROUP"),
        ("at", "org/example/Example.java"),
        ("location", "org/example/Example.java:9"),
    ] {
        assert_eq!(message[field], expected, "{json}");
    }
    assert_eq!(json["groups"]["GROUP"]["tag"], "Group", "{json}");
}

#[test]
fn flags_choose_whatever_the_template_says() {
    let Some(room) = Room::example() else { return };
    room.add("android-16/ProtoLogImpl.java", TEMPLATE);
    let archive = room.transform_example("--dialect android-15 --message-id xxh3");
    let text = &archive[1].1;
    assert!(
        text.contains("{ String protoLogParam0") && text.contains("L, 4, \"Example: %s %d\", ")
    );
    assert!(!text.contains("-6872339441335321086"), "{text}");
    assert_eq!(room.transform_example("--dialect protolog").len(), 1);
    let archive = room.transform_example("--protolog-impl-class com.example.Impl");
    assert!(archive.len() == 1 && archive[0].1.contains("com.example.Impl.Cache.GROUP_enabled[1]"));
    room.add("android-15/ProtoLogImpl.java", "other.java");
    let archive = room.transform_example("--protolog-impl-template other.java");
    assert!(archive[1].1.contains("ProtoLogImpl_454675969.isEnabled(GROUP)"));
}

#[test]
fn a_missing_template_is_reported() {
    let Some(room) = Room::example() else { return };
    let output = room.run(&format!("{EXAMPLE_TRANSFORM} {EXAMPLE_ARGS}"));
    assert_eq!(output.code, Some(2));
    let message = "no template of the class that rewritten code calls";
    assert!(output.stderr.contains(message), "{}", output.stderr);
}

#[test]
fn two_templates_are_refused() {
    let Some(room) = Room::shell() else { return };
    room.add("android-16/ProtoLogImpl.java", "a/ProtoLogImpl.java");
    room.add("android-15/ProtoLogImpl.java", "b/ProtoLogImpl.java");
    let output = room.run(&format!("{TRANSFORM} A.java a/ProtoLogImpl.java b/ProtoLogImpl.java"));
    assert_eq!(output.code, Some(2));
    assert!(
        output
            .stderr
            .contains("`a/ProtoLogImpl.java` and `b/ProtoLogImpl.java` are both templates"),
        "{}",
        output.stderr
    );
    assert!(!room.path().join("out.srcjar").exists());
}

#[test]
fn a_bad_template_is_shown() {
    let Some(room) = Room::shell() else { return };
    room.write("ProtoLogImpl.java", b"class ProtoLogImpl {\n  @ProtoLogToolInjected(NEW_THING) static X x;\n  static void d(G g, long id, long mask, Object... a) {}\n}\n");
    let output = room.run(&format!("{TRANSFORM} A.java ProtoLogImpl.java"));
    assert_eq!(output.code, Some(1));
    assert!(
        output.stderr.contains("ProtoLogImpl.java:2:25: error: unknown value `NEW_THING`"),
        "{}",
        output.stderr
    );
}
