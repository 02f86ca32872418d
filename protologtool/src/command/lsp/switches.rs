//! Switches of a log call in the programs that run: actions in the editor, and the command that
//! they execute.
//!
//! Invariant: no program is asked but where somebody opens the menu of actions: editors ask for
//! actions at each move of the cursor, too, and say so.

use super::protocol as lsp;
use crate::command::configuration::remote::{self, SwitchedMessage};
use protolog_core::control::site_rule::SiteSetting;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The command of the actions.
pub(super) const COMMAND: &str = "protolog.switchCall";

/// The kind of the actions. It is no refactoring and no fix, so editors that do either to a whole
/// file leave it alone.
pub(super) const KIND: &str = "protolog.switch";

/// The `CodeActionTriggerKind` of a request that nobody made.
const AUTOMATIC: u8 = 2;

/// A program's word for rules that hold for some arguments alone.
const CONDITIONAL: &str = "conditional";

/// The argument of the command.
#[derive(Debug, Serialize, Deserialize)]
struct Switch {
    pid: u32,
    /// The message's id, in hexadecimal: not every client keeps integers of 64 bits.
    id: String,
    rule: String,
}

/// Returns whether these actions are asked for.
pub(super) fn are_wanted(context: &lsp::CodeActionContext) -> bool {
    let is_it = |kind: &String| kind.is_empty() || KIND == kind || *kind == "protolog";
    context.trigger_kind != Some(AUTOMATIC)
        && context.only.as_ref().is_none_or(|only| only.iter().any(is_it))
}

/// The actions for the call of a message, in each program that has it.
pub(super) fn actions(id: u64) -> Vec<Value> {
    remote::with_message(id, None).iter().flat_map(|it| of_program(id, it)).collect()
}

fn of_program(id: u64, message: &SwitchedMessage) -> Vec<Value> {
    let SwitchedMessage { program, pid, calls, rule, .. } = message;
    let calls = if *calls == 1 { "this call" } else { &format!("{calls} calls of this message") };
    let now = rule.as_ref().map_or(String::new(), |rule| format!(" (now {})", words(rule)));
    let action = |title: String, rule: &str| {
        let switch = Switch { pid: *pid, id: format!("{id:016x}"), rule: rule.to_owned() };
        let command = json!({ "title": title, "command": COMMAND, "arguments": [switch] });
        json!({ "title": title, "kind": KIND, "command": command })
    };
    let mut all = vec![
        action(format!("Enable {calls} in {program}{now}"), "on"),
        action(format!("Disable {calls} in {program}{now}"), "off"),
    ];
    if rule.is_some() {
        all.push(action(format!("Take back the rule of {calls} in {program}{now}"), "default"));
    }
    all
}

/// Executes the command: words for the user, of what was done or why it was not.
pub(super) fn execute(arguments: &[Value]) -> Result<String, String> {
    let wrong = || "an action without process, message and rule".to_owned();
    let argument = arguments.first().cloned().unwrap_or_default();
    let Switch { pid, id, rule } = serde_json::from_value(argument).map_err(|_| wrong())?;
    let number = u64::from_str_radix(&id, 16).map_err(|_| wrong())?;
    let setting = match &*rule {
        "on" | "off" | "default" => SiteSetting::parse(&rule).map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    let SwitchedMessage { program, rule, .. } = remote::set_rule(pid, number, setting)?;
    let rule = rule.map_or("without a rule".to_owned(), |rule| format!("now {}", words(&rule)));
    Ok(format!("#{number:016x} in {program} is {rule}"))
}

/// A program's words for its rule, if they are those of one: the program may say anything.
fn words(rule: &str) -> String {
    if rule == CONDITIONAL {
        return rule.to_owned();
    }
    let others = rule.strip_suffix(CONDITIONAL).and_then(|rest| rest.strip_suffix(','));
    let Ok(setting) = SiteSetting::parse(others.unwrap_or(rule)) else {
        return "by a rule that is none".to_owned();
    };
    others.map_or(setting.to_string(), |_| format!("{setting},{CONDITIONAL}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_program_are_those_of_rules() {
        for rule in ["on", "off", "on,text", "limit:10/s", "conditional", "on,conditional"] {
            assert_eq!(words(rule), rule);
        }
        for other in
            ["", "[Fix it](command:run)", "on [a](b)", "conditional [a](b)", "[a](b),conditional"]
        {
            assert_eq!(words(other), "by a rule that is none", "{other:?}");
        }
        assert_eq!(words("on\n"), "on");
    }
}
