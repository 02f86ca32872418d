//! The flags of the tools of each release, as their `CommandOptions` have them, given to this one:
//! what they accept it accepts, and where it goes further the table in `docs/design/aosp.md` says
//! so.

use crate::rule::Room;
use protolog_testkit::workspace_root;
use std::fs;

/// The use of a flag by a command of AOSP's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Required,
    Optional,
    /// Known, but refused with this command.
    Refused,
    /// The release does not know it.
    Unknown,
}
use Use::{Optional, Refused, Required, Unknown};

/// The behaviour of this tool where AOSP's refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Here {
    Same,
    Accepts,
}
use Here::{Accepts, Same};

/// A flag with a value, its uses by `transform-protolog-calls` and `generate-viewer-config` in
/// Android 15, 16 and 17, and what happens here where a command requires it and lacks it, and where
/// it refuses it.
type Flag = (&'static str, &'static str, [(Use, Use); 3], [Here; 2], [Here; 2]);

const RELEASES: [&str; 3] = ["android-15", "android-16", "android-17"];
const COMMANDS: [&str; 2] = ["transform-protolog-calls", "generate-viewer-config"];

const ALWAYS: [(Use, Use); 3] = [(Required, Required); 3];
const TRANSFORM: [(Use, Use); 3] = [(Required, Refused); 3];
const GENERATE: [(Use, Use); 3] = [(Refused, Required); 3];
const LEGACY: [(Use, Use); 3] = [(Optional, Refused), (Unknown, Unknown), (Unknown, Unknown)];
const TYPE: [(Use, Use); 3] = [(Refused, Required), (Unknown, Unknown), (Unknown, Unknown)];
const WRAPPER: [(Use, Use); 3] = [(Unknown, Unknown), (Unknown, Unknown), (Optional, Optional)];

const FLAGS: [Flag; 10] = [
    // Without it `dev.protolog.ProtoLog`, whose code has no path on a device.
    (
        "--protolog-class",
        "com.android.internal.protolog.ProtoLog",
        ALWAYS,
        [Same, Accepts],
        [Same; 2],
    ),
    (
        "--loggroups-class",
        "com.android.wm.shell.protolog.ShellProtoLogGroup",
        ALWAYS,
        [Same; 2],
        [Same; 2],
    ),
    ("--loggroups-jar", "groups.jar", ALWAYS, [Same; 2], [Same; 2]),
    ("--output-srcjar", "out.srcjar", TRANSFORM, [Same; 2], [Same; 2]),
    ("--viewer-config-file-path", "/etc/x.pb", TRANSFORM, [Same; 2], [Same; 2]),
    ("--viewer-config", "out.pb", GENERATE, [Same; 2], [Accepts, Same]),
    ("--viewer-config-type", "proto", TYPE, [Same, Accepts], [Same; 2]),
    ("--legacy-viewer-config-file-path", "/etc/x.json.gz", LEGACY, [Same; 2], [Same; 2]),
    ("--legacy-output-file-path", "/data/x.winscope", LEGACY, [Same; 2], [Same; 2]),
    ("--javac-wrapper-path", "./wrapper", WRAPPER, [Same; 2], [Same; 2]),
];

/// The use of a flag by a command in a release, by their positions.
fn used(flag: &Flag, release: usize, command: usize) -> Use {
    let (transform, generate) = flag.2[release];
    [transform, generate][command]
}

/// The exit code of a command with these flags, and what it says.
fn run(room: &Room, command: usize, flags: &[&Flag]) -> (Option<i32>, String) {
    let flags: Vec<String> = flags.iter().map(|flag| format!("{} {}", flag.0, flag.1)).collect();
    let output = room.run(&format!("{} {} A.java", COMMANDS[command], flags.join(" ")));
    (output.code, output.stderr)
}

#[test]
fn flags_are_taken_as_each_release_takes_them() {
    let Some(room) = Room::shell() else { return };
    for (release, name) in RELEASES.iter().enumerate() {
        room.add(&format!("{name}/ProtoLogImpl.java"), crate::rule::TEMPLATE);
        for (command, command_name) in COMMANDS.iter().enumerate() {
            let of = |flag: &Flag| used(flag, release, command);
            let accepted: Vec<&Flag> =
                FLAGS.iter().filter(|flag| matches!(of(flag), Required | Optional)).collect();
            let title = format!("{command_name} of {name}");
            let (code, said) = run(&room, command, &accepted);
            assert_eq!((code, &*said), (Some(0), ""), "{title} with all flags");
            let required = accepted.iter().copied().filter(|flag| of(flag) == Required);
            let required: Vec<&Flag> = required.collect();
            assert_eq!(run(&room, command, &required).0, Some(0), "{title} with required flags");
            for left_out in &required {
                let rest: Vec<&Flag> =
                    required.iter().copied().filter(|flag| flag.0 != left_out.0).collect();
                let (code, said) = run(&room, command, &rest);
                let expected = if left_out.3[command] == Accepts { Some(0) } else { Some(2) };
                assert_eq!(code, expected, "{title} without {}: {said}", left_out.0);
                assert!(code == Some(0) || said.starts_with("error: "), "{said}");
            }
            for flag in FLAGS.iter().filter(|flag| of(flag) == Refused) {
                let with: Vec<&Flag> = required.iter().copied().chain([flag]).collect();
                let (code, said) = run(&room, command, &with);
                let expected = if flag.4[command] == Accepts { Some(0) } else { Some(2) };
                assert_eq!(code, expected, "{title} with {}: {said}", flag.0);
            }
        }
    }
}

/// Values that AOSP's tool refuses, each with what it is.
#[test]
fn values_are_checked_as_by_each_release() {
    let Some(room) = Room::shell() else { return };
    room.add("android-15/ProtoLogImpl.java", crate::rule::TEMPLATE);
    let bad = [
        ("--protolog-class", "ProtoLog"),
        ("--loggroups-class", "com.foo.My-Groups"),
        ("--loggroups-jar", "groups.zip"),
        ("--output-srcjar", "out.jar"),
        ("--viewer-config-file-path", "/etc/x.json"),
        ("--viewer-config-type", "xml"),
        ("--legacy-viewer-config-file-path", "/etc/x.json"),
        ("--legacy-output-file-path", "/data/x.pb"),
        // A value is not taken for one if it begins as a flag does.
        ("--loggroups-jar", "--output-srcjar"),
    ];
    for (name, value) in bad {
        let command = usize::from(name.starts_with("--viewer-config") && !name.ends_with("path"));
        let flags = FLAGS
            .iter()
            .filter(|flag| matches!(used(flag, 0, command), Required | Optional) || flag.0 == name);
        let flags: Vec<String> = flags
            .map(|flag| format!("{} {}", flag.0, if flag.0 == name { value } else { flag.1 }))
            .collect();
        let output = room.run(&format!("{} {} A.java", COMMANDS[command], flags.join(" ")));
        assert_eq!(output.code, Some(2), "{name} {value}: {}", output.stderr);
        assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
    }
    // The name of a dictionary says its format where nothing else does.
    let class = "--loggroups-class com.android.wm.shell.protolog.ShellProtoLogGroup";
    let no_format = format!("{class} --loggroups-jar groups.jar --viewer-config out.xml A.java");
    let output = room.run(&format!("generate-viewer-config {no_format}"));
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    let output = room.run(&format!("generate-viewer-config --viewer-config-type json {no_format}"));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let twice = "--loggroups-jar groups.jar --loggroups-jar groups.jar";
    let output = room.run(&format!("generate-viewer-config {twice} --viewer-config x.pb A.java"));
    assert_eq!(output.code, Some(2), "{}", output.stderr);
}

/// Every flag has a row in the table, which names no release that does not know it.
#[test]
fn the_table_has_every_flag() {
    let page = workspace_root().join("docs/design/aosp.md");
    let text = fs::read_to_string(page).unwrap();
    let (_, table) = text.split_once("\n## Flags of each release\n").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').skip(1).map(str::trim).collect())
        .collect();
    for flag in FLAGS {
        let name = format!("`{}`", flag.0);
        let row = rows.iter().find(|row| row[0].split(", ").any(|it| it == name));
        let row = row.unwrap_or_else(|| panic!("no row of {name}"));
        for (release, cell) in row[1..4].iter().enumerate() {
            let uses = flag.2[release];
            let is_unknown = uses == (Unknown, Unknown);
            assert_eq!(cell.is_empty() || *cell == "removed", is_unknown, "{name}: {cell}");
            let is_of = |command: &str| cell.starts_with(command) || *cell == "same";
            let is_right = match uses {
                (Required, Required) => cell.starts_with("required"),
                (Unknown, Unknown) | (Optional, Optional) => true,
                (_, Refused) => is_of("transform"),
                (Refused, _) => is_of("generate"),
                other => panic!("{other:?}"),
            };
            assert!(is_right, "{name}: {cell}");
        }
    }
}
