//! `man` and `completions`: made from the table of flags, so that they can't fall behind it.

use crate::args::{Completions, Man};
use crate::exit::{Exit, Failure};
use crate::output::reason;
use crate::suggest;
use crate::system::System;
use clap_complete::Shell;
use std::io;

/// `man`: the page of the tool, or of one command.
pub(crate) fn manual(
    args: &Man,
    mut table: clap::Command,
    system: &dyn System,
) -> Result<Exit, Failure> {
    table.build();
    let version = table.get_version().unwrap_or_default().to_owned();
    for name in &args.command {
        table = table.find_subcommand(name).cloned().ok_or_else(|| {
            let list = "run `protologtool --help` for the list of commands";
            let help = suggest::command(&table, name)
                .map_or_else(|| list.to_owned(), |meant| format!("use {meant}, or {list}"));
            Failure::new(format!("no command `{name}`")).help(help)
        })?;
    }
    // A command has no version of its own, and a page without one says its name in that place.
    let page_version = format!("protologtool {version}");
    let mut page = Vec::new();
    show(clap_mangen::Man::new(table).source(page_version).render(&mut page), &page, system)
}

/// `completions`: a script for a shell.
pub(crate) fn completions(
    args: &Completions,
    mut table: clap::Command,
    system: &dyn System,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut table, "protologtool", &mut script);
    show(Ok(()), with_groups(args.shell, script).as_bytes(), system)
}

/// The script, which asks the programs that run for the names of their groups where one is wanted.
fn with_groups(shell: Shell, script: Vec<u8>) -> String {
    let mut script = String::from_utf8(script).unwrap_or_default();
    match shell {
        Shell::Bash => script.push_str(BASH),
        Shell::Fish => script.push_str(FISH),
        Shell::Zsh => {
            for argument in ["groups -- The groups", "group -- The group, or `*` for all"] {
                let plain = format!("{argument}:_default");
                script = script.replace(&plain, &format!("{argument}:_protologtool_groups"));
            }
            let begin = "\n_protologtool() {\n";
            script = script.replacen(begin, &format!("\n{ZSH}{begin}{ZSH_NAME}"), 1);
            let both = "protologtool protolog_configuration\n";
            for name in ["#compdef protologtool\n", "compdef _protologtool protologtool\n"] {
                script = script.replace(name, &name.replace("protologtool\n", both));
            }
        }
        _ => {}
    }
    script
}

const BASH: &str = r#"
_protologtool_and_groups() {
    _protologtool "$@"
    local words=" ${COMP_WORDS[*]:1:COMP_CWORD-1} " cur="${COMP_WORDS[COMP_CWORD]}"
    case "$words" in
        *" configuration "*" status "*|*" configuration "*" enable "*|*" configuration "*" disable "*|*" configuration "*" level ")
            [[ "$cur" == -* ]] && return
            COMPREPLY=()
            # Not `compgen -W`, which runs the commands in the words that it is given.
            local name
            while IFS= read -r name; do
                [[ "$name" == "$cur"* ]] && COMPREPLY+=("$name")
            done < <(protologtool configuration groups names 2>/dev/null)
            ;;
    esac
}
_protolog_configuration() {
    COMP_WORDS=(protologtool configuration "${COMP_WORDS[@]:1}")
    ((COMP_CWORD++))
    local before="$3"
    ((COMP_CWORD > 2)) || before=configuration
    _protologtool_and_groups protologtool "$2" "$before"
}
complete -F _protologtool_and_groups -o bashdefault -o default protologtool
complete -F _protolog_configuration -o bashdefault -o default protolog_configuration
"#;

const FISH: &str = r#"
complete -c protolog_configuration -w "protologtool configuration"
complete -c protologtool -n "__fish_seen_subcommand_from configuration; and __fish_seen_subcommand_from status enable disable level" -f -a "(protologtool configuration groups names 2>/dev/null)"
"#;

/// The beginning of `_protologtool`: the other name of the tool stands for one of its commands.
const ZSH_NAME: &str = r#"    if [[ "$service" == protolog_configuration ]]; then
        words=(protologtool configuration "${words[@]:1}")
        ((CURRENT++))
        service=protologtool
    fi
"#;

const ZSH: &str = r#"_protologtool_groups() {
    local -a groups
    groups=(${(f)"$(protologtool configuration groups names 2>/dev/null)"})
    compadd -a groups
}
"#;

/// Shows a page that was made.
pub(crate) fn show(
    made: io::Result<()>,
    text: &[u8],
    system: &dyn System,
) -> Result<Exit, Failure> {
    match made.and_then(|()| system.write_output(text)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("can't write the page: {}", reason(&error))))
        }
        _ => Ok(Exit::Done),
    }
}
