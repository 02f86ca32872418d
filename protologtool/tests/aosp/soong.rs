//! The fragments of `integrations/soong`, which have the flags of AOSP's rules, and rules of AOSP
//! in `rules/` that differ from these: every command line is run, word for word, as Soong runs it,
//! from the root of the sources.
//!
//! The sources are in the shape of Android's. Of each release, the rewritten ones compile, and the
//! ids in the code are those in the dictionary.

use crate::rule::{Room, TEMPLATE, compiles, jar};
use protolog_testkit::run_any;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use viewer_config::Dictionary;

/// A rule of a fragment.
#[derive(Debug)]
struct Rule {
    name: String,
    command: String,
    output: String,
}

fn fragments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../integrations/soong")
}

/// The rules of a fragment.
fn rules(release: &str) -> Vec<Rule> {
    rules_of(&fragments().join(format!("{release}.bp")))
}

/// The rules of AOSP in a file of this test's own.
fn rules_of_aosp(name: &str) -> Vec<Rule> {
    rules_of(&crate::case::here().join("rules").join(name))
}

/// The rules of a file, whose strings have no escapes.
fn rules_of(path: &Path) -> Vec<Rule> {
    let text = fs::read_to_string(path).unwrap();
    let rule = |block: &str| {
        let (cmd, rest) =
            block.split_once("    cmd: ").unwrap().1.split_once(",\n    out: ").unwrap();
        let strings = |text: &str| {
            let parts = text.split('"').skip(1).step_by(2).map(str::to_owned);
            parts.collect::<String>()
        };
        let name = block.split("name: ").nth(1).unwrap().lines().next().unwrap();
        Rule { name: strings(name), command: strings(cmd), output: strings(rest) }
    };
    text.split("genrule {").skip(1).map(rule).collect()
}

/// The value of a flag.
fn flag<'r>(rule: &'r Rule, name: &str) -> Option<&'r str> {
    rule.command.split_whitespace().skip_while(|word| *word != name).nth(1)
}

/// The root of Android's sources, with what all rules of a release need. None without a JDK.
fn tree(template: &str, rules: &[Rule]) -> Option<Room> {
    let room = Room::shell()?;
    room.add(&format!("{template}/ProtoLogImpl.java"), TEMPLATE);
    let class = flag(&rules[0], "--protolog-class").unwrap();
    for name in ["A.java", "B.java"] {
        let text = fs::read_to_string(room.path().join(name)).unwrap();
        let text = text.replace("com.android.internal.protolog.ProtoLog;", &format!("{class};"));
        room.write(name, text.as_bytes());
        let groups = flag(&rules[0], "--loggroups-class").unwrap();
        let core = text.replace("com.android.wm.shell.protolog.ShellProtoLogGroup", groups);
        let simple = groups.rsplit('.').next().unwrap();
        room.write(&format!("core/{name}"), core.replace("ShellProtoLogGroup", simple).as_bytes());
        room.write(&format!("{simple}.java"), shell_groups(groups).as_bytes());
    }
    let groups = flag(&rules[0], "--loggroups-class").unwrap().rsplit('.').next().unwrap();
    room.write("core.jar", &jar(&room.path().join(format!("{groups}.java")))?);
    room.write("soong_javac_wrapper", b"#!/bin/sh\nexec \"$@\"\n");
    Some(room)
}

/// The groups of the Shell as a class of another name.
fn shell_groups(class: &str) -> String {
    let path = crate::case::fixtures().join("shell").join(crate::rule::GROUPS);
    let (package, simple) = class.rsplit_once('.').unwrap();
    let text = fs::read_to_string(path).unwrap();
    text.replace("com.android.wm.shell.protolog", package).replace("ShellProtoLogGroup", simple)
}

/// Runs a rule that nothing is wrong with.
#[track_caller]
fn run(room: &Room, rule: &Rule) {
    assert_eq!(said(room, rule), "", "{}", rule.name);
}

/// The messages of a rule that succeeds; Soong puts paths in the place of modules.
#[track_caller]
fn said(room: &Room, rule: &Rule) -> String {
    let tool = env!("CARGO_BIN_EXE_protologtool");
    let mut command = rule.command.clone();
    for (module, path) in [
        ("$(location protolog-tool)", tool),
        ("$(location protologtool)", tool),
        ("$(location :launcher-quickstep_protolog-groups)", "core.jar"),
        ("$(locations :launcher-quickstep-unprocessed-protolog-src)", "core/A.java core/B.java"),
        ("$(locations :wm_shell-pip-sources)", "pip/C.java"),
        ("$(location :protolog-groups)", "core.jar"),
        ("$(location :wm_shell_protolog-groups)", "groups.jar"),
        ("$(location soong_javac_wrapper)", "./soong_javac_wrapper"),
        ("$(locations :services.core-sources-am-wm)", "core/A.java core/B.java"),
        ("$(locations :wm_shell-sources)", "A.java B.java"),
        ("$(out)", &rule.output),
    ] {
        command = command.replace(module, path);
    }
    assert!(!command.contains('$'), "{command}");
    let output = run_any(Command::new("sh").args(["-c", &command]).current_dir(room.path()));
    assert_eq!(output.code, Some(0), "{}: {command}\n{}", rule.name, output.stderr);
    output.stderr
}

/// The ids that rewritten code passes: before the mask.
fn ids(code: &str) -> BTreeSet<i64> {
    let calls = code.match_indices("ProtoLogImpl_").filter_map(|(at, _)| {
        let call = code[at..].split_once('(')?.1;
        let mut args = call.split(", ").skip(1);
        args.next()?.strip_suffix('L')?.parse().ok()
    });
    calls.collect()
}

fn dictionary(room: &Room, path: &str) -> Dictionary {
    Dictionary::read(&fs::read(room.path().join(path)).unwrap()).unwrap().dictionary
}

/// Runs all rules of a release; gives the dictionaries in protobuf and the code of `A.java`, the
/// Shell's last.
fn run_all(release: &str, template: &str) -> Option<(Room, Vec<Dictionary>, String)> {
    let rules = rules(release);
    let room = tree(template, &rules)?;
    for rule in &rules {
        run(&room, rule);
    }
    let (mut dictionaries, mut code) = (Vec::new(), String::new());
    for (srcjar, pb) in [
        ("services.core.protolog.srcjar", "core.protolog.pb"),
        ("wm_shell_protolog.srcjar", "wmshell.protolog.pb"),
    ] {
        let mut archive = room.archive(srcjar);
        let dictionary = dictionary(&room, pb);
        let text: String = archive[1..].iter().map(|(_, text)| text.as_str()).collect();
        let known = dictionary.messages().iter().map(|message| message.id as i64).collect();
        assert_eq!(ids(&text), known, "{release}: {text}");
        assert!(archive[0].1.contains(".protolog.pb\";"), "{}", archive[0].1);
        dictionaries.push(dictionary);
        code.clone_from(&archive[1].1);
        if srcjar.starts_with("wm") {
            archive.push(class_of_15());
            compiles(&archive);
        }
    }
    Some((room, dictionaries, code))
}

/// Android 15's class of the calls.
fn class_of_15() -> (String, String) {
    let package = "com/android/internal/protolog";
    let path = crate::case::fixtures().join("framework").join(package).join("ProtoLog.java");
    let text = fs::read_to_string(path).unwrap();
    let text = text.replace(
        "package com.android.internal.protolog;",
        "package com.android.internal.protolog.common;",
    );
    (format!("{package}/common/ProtoLog.java"), text)
}

fn numbers(dictionary: &Dictionary) -> BTreeMap<&str, u32> {
    dictionary.groups().iter().map(|group| (group.name.as_str(), group.id)).collect()
}

/// The ids that `getId()` of the Shell's groups returns.
const DECLARED: [(&str, u32); 4] = [
    ("WM_SHELL_INIT", 373596902),
    ("WM_SHELL_OFF", 373596904),
    ("WM_SHELL_SPLIT", 373596903),
    ("WM_SHELL_UNUSED", 373596905),
];

/// The JSON that AOSP's tool writes: calls in their order, equal ones of a file once, no calls of a
/// group that is compiled out, and the groups in use.
const JSON_15: &str = r#"{
  "version": "2.0.0",
  "messages": {
    "<0>": {
      "message": "onTaskVanished: task=%d reason=%s forced=%b",
      "level": "VERBOSE",
      "group": "WM_SHELL_SPLIT",
      "at": "com\/android\/wm\/shell\/split\/A.java"
    },
    "<1>": {
      "message": "no task",
      "level": "WARN",
      "group": "WM_SHELL_INIT",
      "at": "com\/android\/wm\/shell\/split\/A.java"
    }
  },
  "groups": {
    "WM_SHELL_INIT": {
      "tag": "ShellInit"
    },
    "WM_SHELL_SPLIT": {
      "tag": "WindowManagerShellSplit"
    }
  }
}
"#;

/// The text with the ids of the calls, by their lines.
fn with_ids(json: &str, dictionary: &Dictionary) -> String {
    let id = |part: &str| {
        let of = |message: &&viewer_config::Message| message.template.starts_with(part);
        (dictionary.messages().iter().find(of).unwrap().id as i64).to_string()
    };
    json.replace("<0>", &id("onTaskVanished")).replace("<1>", &id("no task"))
}

#[test]
fn android_15() {
    let Some((room, dictionaries, code)) = run_all("android-15", "android-15") else { return };
    assert!(code.contains(".isEnabled(WM_SHELL_SPLIT)) {") && code.contains("L, 49, "), "{code}");
    // By first use; groups that AOSP's tool leaves out come last.
    let first_use =
        [("WM_SHELL_INIT", 2), ("WM_SHELL_OFF", 3), ("WM_SHELL_SPLIT", 1), ("WM_SHELL_UNUSED", 4)];
    for dictionary in &dictionaries {
        assert_eq!(numbers(dictionary), BTreeMap::from(first_use));
    }
    let read = |path: &str| fs::read_to_string(room.path().join(path)).unwrap();
    for (path, dictionary) in [("services.core.protolog.json", 0), ("wm_shell_protolog.json", 1)] {
        assert_eq!(read(path), with_ids(JSON_15, &dictionaries[dictionary]), "{path}");
    }
    // The rule that compares with a file in version control passes, and so does ours.
    let rule = rules("android-15").into_iter().find(|rule| rule.name == "generate-protolog.json");
    let rule = rule.unwrap();
    let command =
        rule.command.replace("--viewer-config $(out)", "--check services.core.protolog.json");
    let command = command.replace(" --viewer-config-type json", "");
    run(&room, &Rule { command: command.clone(), ..rule });
    room.write(
        "services.core.protolog.json",
        read("wm_shell_protolog.json").replace("no task", "x").as_bytes(),
    );
    let stale = room.run(
        &command
            .split_once(' ')
            .unwrap()
            .1
            .replace("$(location :protolog-groups)", "core.jar")
            .replace("$(locations :services.core-sources-am-wm)", "core/A.java core/B.java")
            .replace("protolog-tool) ", ""),
    );
    assert_eq!(stale.code, Some(1), "{}", stale.stderr);
    assert!(
        stale.stdout.contains("-      \"message\": \"x\",\n+      \"message\": \"no task\",\n"),
        "{}",
        stale.stdout
    );
}

#[test]
fn builds_between_15_and_16() {
    let Some((room, dictionaries, code)) = run_all("android-15-qpr", "android-16") else { return };
    assert!(code.contains("Cache.WM_SHELL_SPLIT_enabled[0]") && code.contains("L, 49, "), "{code}");
    let positions =
        [("WM_SHELL_INIT", 1), ("WM_SHELL_OFF", 3), ("WM_SHELL_SPLIT", 2), ("WM_SHELL_UNUSED", 4)];
    assert_eq!(numbers(&dictionaries[1]), BTreeMap::from(positions));
    let json = fs::read_to_string(room.path().join("wm_shell_protolog.json")).unwrap();
    let unused =
        "    \"WM_SHELL_UNUSED\": {\n      \"tag\": \"WindowManagerShell\"\n    }\n  }\n}\n";
    assert!(json.ends_with(unused) && !json.contains("location"), "{json}");
}

#[test]
fn android_16_and_17() {
    for (release, mask) in [("android-16", "L, 49, "), ("android-17", "L, 49L, ")] {
        let Some((_, dictionaries, code)) = run_all(release, release) else { return };
        assert!(code.contains("Cache.WM_SHELL_SPLIT_enabled[0]") && code.contains(mask), "{code}");
        assert_eq!(numbers(&dictionaries[1]), BTreeMap::from(DECLARED));
    }
}

#[test]
fn between_the_releases_with_the_groups_of_15() {
    let rules = rules_of_aosp("between-15-and-16.bp");
    let Some(room) = tree("android-16", &rules) else { return };
    for rule in &rules {
        run(&room, rule);
    }
    let code = &room.archive("services.core.protolog.srcjar")[1].1;
    let dictionary = dictionary(&room, "core.protolog.pb");
    let known = dictionary.messages().iter().map(|message| message.id as i64).collect();
    assert_eq!(ids(code), known, "{code}");
    assert_eq!(numbers(&dictionary)["WM_SHELL_SPLIT"], 2);
    let json = fs::read_to_string(room.path().join("services.core.protolog.json")).unwrap();
    assert!(json.contains("\"WM_SHELL_SPLIT\"") && !json.contains("location"), "{json}");
}

/// Two modules with one dictionary, of which each calls a class of its own.
#[test]
fn pip_as_a_module_of_its_own() {
    let rules = rules("android-17-pip");
    let Some(room) = tree("android-17", &rules) else { return };
    let text = fs::read_to_string(room.path().join("A.java")).unwrap();
    let text =
        text.replace("split", "pip").replace("class A", "class C").replace("no task", "no pip");
    room.write("pip/C.java", text.as_bytes());
    for rule in &rules {
        run(&room, rule);
    }
    let [shell, pip] = ["wm_shell_protolog.srcjar", "wm_shell_pip_protolog.srcjar"]
        .map(|srcjar| room.archive(srcjar));
    assert_ne!(shell[0].0, pip[0].0);
    let all = ids(&shell[1].1).into_iter().chain(ids(&pip[1].1));
    let dictionary = dictionary(&room, "wmshell.protolog.pb");
    let known = dictionary.messages().iter().map(|message| message.id as i64).collect();
    assert_eq!(all.collect::<BTreeSet<_>>(), known);
    compiles(&[&shell[..], &pip[..]].concat());
}

/// Its sources name the class as it is called since Android 16, so that AOSP's tool finds no calls
/// in them either; and says nothing.
#[test]
fn the_launcher() {
    let rules = rules_of_aosp("launcher.bp");
    let Some(room) = tree("android-17", &rules) else { return };
    for name in ["core/A.java", "core/B.java"] {
        let text = fs::read_to_string(room.path().join(name)).unwrap();
        room.write(
            name,
            text.replace("protolog.common.ProtoLog;", "protolog.ProtoLog;").as_bytes(),
        );
    }
    for rule in &rules {
        let said = said(&room, rule);
        let warning =
            "warning: no source names the class `com.android.internal.protolog.common.ProtoLog`";
        assert!(said.starts_with(warning), "{said}");
        assert!(
            said.contains("since Android 16 the class is `com.android.internal.protolog.ProtoLog`"),
            "{said}"
        );
    }
    let archive = room.archive("launcher.quickstep.protolog.srcjar");
    assert_eq!(archive[1].1, fs::read_to_string(room.path().join("core/A.java")).unwrap());
    assert!(archive[0].1.contains("WM_SHELL_SPLIT_enabled"), "{}", archive[0].1);
    // As the tool of Android 16 and 17 numbers groups, since a rule of 15 names the dictionary's
    // type.
    let unused = dictionary(&room, "launcher.quickstep.protolog.pb");
    // By the class's name, as in `DECLARED`.
    let declared = DECLARED.map(|(name, id)| (name, id - DECLARED[0].1 + 3_831_566_163));
    assert_eq!((numbers(&unused), unused.messages().len()), (BTreeMap::from(declared), 0));
    // With the name that the class has, all is as in other modules.
    for rule in rules {
        let command = rule.command.replace("protolog.common.ProtoLog ", "protolog.ProtoLog ");
        run(&room, &Rule { command, ..rule });
    }
    let code = &room.archive("launcher.quickstep.protolog.srcjar")[1].1;
    let dictionary = dictionary(&room, "launcher.quickstep.protolog.pb");
    let known = dictionary.messages().iter().map(|message| message.id as i64).collect();
    assert_eq!((ids(code), numbers(&dictionary)), (known, BTreeMap::from(declared)), "{code}");
}

/// A source that javac refuses too is copied with a warning, and its error is left to javac; one
/// that javac accepts is an error.
#[test]
fn javac_is_asked_about_faults() {
    let rules = rules("android-17");
    let Some(room) = tree("android-17", &rules) else { return };
    let shell = rules.iter().find(|rule| rule.name == "wm_shell_protolog_src").unwrap();
    let tool = shell.command.split_once(' ').unwrap().1.split_once(' ').unwrap().1;
    let args = tool
        .replace("$(location :wm_shell_protolog-groups)", "groups.jar")
        .replace("$(location soong_javac_wrapper)", "./soong_javac_wrapper")
        .replace("$(locations :wm_shell-sources)", "A.java Bad.java")
        .replace("$(out)", "out.srcjar");
    let bad = "import com.android.internal.protolog.ProtoLog;\nclass Bad { void f() { ProtoLog.d(X, \"a\") } }\n";
    room.write("Bad.java", bad.as_bytes());
    fs::set_permissions(
        room.path().join("soong_javac_wrapper"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let output = room.run(&args);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(
        output.stderr.contains("Bad.java:2:") && output.stderr.contains("warning"),
        "{}",
        output.stderr
    );
    assert_eq!(room.archive("out.srcjar")[2].1, bad);
    // A javac that accepts everything.
    room.write("soong_javac_wrapper", b"#!/bin/sh\nexit 0\n");
    let output = room.run(&args);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("a defect of protologtool"), "{}", output.stderr);
    let output = room.run(&args.replace("./soong", "./no_soong"));
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("can't run `./no_soong_javac_wrapper`"), "{}", output.stderr);
}

/// The other run could not know of the template, nor of the flag.
#[test]
fn a_doubtful_dialect_names_the_flag() {
    let Some(room) = Room::shell() else { return };
    let args = |class: &str, more: &str| {
        format!(
            "transform-protolog-calls --protolog-class {class} --loggroups-class \
             com.android.wm.shell.protolog.ShellProtoLogGroup --loggroups-jar groups.jar --output-srcjar out.srcjar A.java {more}"
        )
    };
    room.add("android-17/ProtoLogImpl.java", "ProtoLogImpl.java");
    let path = "--viewer-config-file-path /etc/x.pb";
    for (more, what) in
        [("ProtoLogImpl.java", "`ProtoLogImpl.java`"), (path, "`--viewer-config-file-path`")]
    {
        let output = room.run(&args("com.foo.ProtoLog", more));
        assert_eq!(output.code, Some(2));
        let message = format!(
            "error: can't tell the dialect: {what} is of Android, but `com.foo.ProtoLog` is not\nhelp: set `--dialect`"
        );
        assert!(output.stderr.starts_with(&message), "{}", output.stderr);
    }
    // The old class's name with sources of the new one.
    let output = room.run(&args(
        "com.android.internal.protolog.common.ProtoLog",
        &format!("{path} ProtoLogImpl.java"),
    ));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let warning =
        "warning: no source names the class `com.android.internal.protolog.common.ProtoLog`";
    assert!(output.stderr.starts_with(warning), "{}", output.stderr);
}
