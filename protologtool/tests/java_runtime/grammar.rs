//! The grammar of rules of single calls in both languages: random settings, of pieces that mean
//! something, have the same rules and the same problems.

use super::classes;
use protolog_core::control::site_rule::SiteRules;
use protolog_testkit::{Random, run_java, temp_dir};
use std::fs;

const PIECES: [&str; 60] = [
    "arg1",
    "arg1 ",
    "arg02",
    "arg15 == 7",
    "arg2!=-1",
    " == ",
    ">=",
    "<",
    "!",
    "42",
    "-0x2A",
    "18446744073709551616",
    "site ",
    "site ",
    "site\t",
    "net",
    "app::net",
    "net.rs:12-18",
    "Main.java",
    "\"retry %d\"",
    "\"",
    "#7f",
    "group ",
    "module ",
    "fn ",
    " and ",
    " && ",
    "debug",
    "warn",
    "verbose-info",
    "=",
    "=",
    "=",
    "on",
    "off",
    "text",
    "notrace",
    "default",
    "sample:",
    "sample ",
    "Sample:",
    "1/100",
    "2/3",
    "0.25%",
    "12.5%",
    "3/2",
    "0%",
    "100%",
    "nosample",
    "limit:",
    "group-limit ",
    "100/s",
    "5/min",
    ":500",
    " burst 7",
    "nolimit",
    ",",
    ";",
    "\n",
    " ",
];

/// Words behind `=`, a few of which are none.
const WORDS: [&str; 12] = [
    "on",
    "off",
    "notext",
    "sample:1/100",
    "sample 0.25%",
    " Sample:2/3 ",
    "nosample",
    "limit:100/s:500",
    "group-limit 5/min",
    "default",
    "sample:3/2",
    "sample:100%",
];

/// The answers of Rust to a text: the rules, and then the problems.
fn read(text: &str) -> String {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    for item in SiteRules::new(text) {
        match item {
            Ok(rule) => {
                let program = rule.program.map_or(String::new(), |name| format!("[{name}] "));
                rules.push(format!("{program}{}={}", rule.selector, rule.setting));
            }
            Err(error) => problems.push(format!("{error} / {}", error.help())),
        }
    }
    rules.append(&mut problems);
    rules.join(" | ")
}

#[test]
fn random_settings_have_the_same_rules_in_both_languages() {
    const TEXTS: usize = 30_000;
    let dir = temp_dir();
    let Some(classes) = classes() else { return };
    let mut random = Random::from_seed(b"rules of single calls");
    let texts: Vec<String> = (0..TEXTS)
        .map(|_| {
            let mut some = |of: &[&str], most: u64, between: &str| {
                let count = 1 + random.below(most);
                let all = (0..count).map(|_| of[random.below(of.len() as u64) as usize]);
                all.collect::<Vec<_>>().join(between)
            };
            let begin = some(&["", "site net=", "site \"a b\" and debug="], 1, "");
            let words = some(&WORDS, 4, ",");
            begin + &words + &some(&["", "", ";site ", ","], 1, "") + &some(&PIECES, 9, "")
        })
        .collect();
    let file = dir.path().join("settings");
    let lines: Vec<_> = texts.iter().map(|text| text.replace('\n', "\\n") + "\n").collect();
    fs::write(&file, lines.concat()).unwrap();
    let args = [file.to_str().unwrap()];
    let output = run_java(&[classes.to_path_buf()], "app.Grammar", &args).unwrap();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    let answers: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(answers.len(), TEXTS);
    let mut sampled = 0;
    for (text, answer) in texts.iter().zip(answers) {
        let expected = read(text);
        assert_eq!(answer, expected, "{text:?}");
        sampled += usize::from(expected.contains(",sample:"));
    }
    assert!(sampled > 100, "{sampled} rates are read");
}
