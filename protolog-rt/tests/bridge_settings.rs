//! Settings from outside for targets of the crate `log` that nobody has logged to yet, in programs
//! that no operator can reach.
#![cfg(feature = "log")]

use protolog_rt::{Init, bridge};
use std::process::Command;

/// The environment variable of the program that logs.
const ROLE: &str = "PROTOLOG_TEST_LOGS";

#[test]
fn text_of_new_targets_is_printed() {
    if std::env::var_os(ROLE).is_some() {
        bridge::install_log().expect("the first logger");
        Init::new().control(false).persistent_settings(false).start().expect("settings");
        log::debug!(target: "fresh", "printed");
        log::debug!(target: "fresh::below", "deeper");
        log::trace!(target: "fresh", "off");
        return;
    }
    let print = |setting: &str| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "text_of_new_targets_is_printed", "--nocapture"]);
        let output = program.env(ROLE, "1").env("PROTOLOG", setting).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for setting in ["debug,text", "fresh=text:debug", "Fresh=text:debug"] {
        let text = print(setting);
        assert!(text.contains("deeper"), "{setting}: {text}");
        assert!(text.contains("printed") && !text.contains("off"), "{setting}: {text}");
    }
    assert!(!print("fresh=text:info").contains("printed"));
}
