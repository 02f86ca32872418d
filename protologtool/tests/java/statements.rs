//! Statements in every form that javac 25 parses: a log call beside one is rewritten.

use crate::case::process;
use protologtool::source::Source;

#[test]
fn no_statement_of_java_makes_calls_unreadable() {
    let statements = include_str!("statements.txt");
    for statement in statements.lines() {
        let statement = statement.replace(r"\n", "\n");
        let call = r#"dev.protolog.ProtoLog.d(demo.AppLog.NET, "beside");"#;
        // In one block: the parser does not read blocks without calls.
        let text = format!("class X {{ void f(Object x, int n) {{ {{ {call} {statement}\n}} }} }}");
        let processed = process(Source::new("X.java", text.into_bytes()));
        let problems = processed.report.map(|report| report.diagnostics);
        assert!(processed.log_calls.are_all_rewritten(), "`{statement}`: {problems:?}");
        assert_eq!(processed.messages.len(), 1, "`{statement}`");
    }
}
