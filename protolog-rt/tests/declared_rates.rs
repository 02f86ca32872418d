//! More groups that declare a rate than a program keeps rules: those that find no place are said
//! to be recorded whole, on standard error and to an operator.

use protolog_control::Program;
use protolog_rt::control::serve_in;
use protolog_rt::{Level, ProtoLogGroup};
use protolog_testkit::temp_dir_for_sockets;
use std::process::Command;

macro_rules! declare {
    ($($name:ident)*) => {
        $(
            #[derive(ProtoLogGroup)]
            #[allow(dead_code)] // Its groups have rates all the same.
            enum $name {
                #[protolog(sample = "1/2")]
                A,
                #[protolog(sample = "1/2")]
                B,
                #[protolog(sample = "1/2")]
                C,
                #[protolog(sample = "1/2")]
                D,
                #[protolog(sample = "1/2")]
                E,
                #[protolog(sample = "1/2")]
                F,
                #[protolog(sample = "1/2")]
                G,
                #[protolog(sample = "1/2")]
                H,
            }
        )*
        /// Has them register, in this order.
        fn register() {
            $(assert!(!$name::A.is_enabled(Level::Debug));)*
        }
    };
}

declare! {
    E0 E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14 E15
    E16 E17 E18 E19 E20 E21 E22 E23 E24 E25 E26 E27 E28 E29 E30 E31
    Late Later
}

const HELP: &str = "help: take several groups by one rule, as in `site debug=sample:1/100`";

#[test]
fn rates_without_a_place_are_said() {
    const CHILD: &str = "PROTOLOG_TEST_DECLARED_RATES";
    if std::env::var_os(CHILD).is_some() {
        register();
        let dir = temp_dir_for_sockets();
        let server = serve_in(dir.path().join("run")).expect("listen");
        let mut program = Program::connect(server.path()).expect("connect");
        let rules = program.rules().expect("an answer").expect("rules");
        assert_eq!(rules.rules.len(), 256);
        for problem in rules.problems {
            eprintln!("operator: {problem}");
        }
        return;
    }
    let mut own = Command::new(std::env::current_exe().expect("the test itself"));
    let own = own.args(["--exact", "rates_without_a_place_are_said", "--nocapture"]);
    let output = own.env(CHILD, "1").output().expect("run the test itself");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("as declared")).collect();
    let expected = [
        "protolog: 8 groups are not sampled or limited as declared, `declared_rates::Late::A` among them: a program keeps 256 rules",
        "protolog: 8 groups are not sampled or limited as declared, `declared_rates::Later::A` among them: a program keeps 256 rules",
        "operator: 16 groups are not sampled or limited as declared: a program keeps 256 rules",
    ];
    assert_eq!(lines, expected);
    assert_eq!(stderr.lines().filter(|line| *line == HELP).count(), 2);
}
