//! `man` and `completions`: made from the table of flags, so that they can't fall behind it.

use crate::cli::{self, Completions, Exit, Failure, Man};
use crate::output::reason;
use crate::system::System;
use clap_complete::Shell;
use std::io;

/// `man`: the page of the tool, or of one command.
pub(super) fn manual(args: &Man, system: &dyn System) -> Result<Exit, Failure> {
    let mut table = cli::table();
    table.build();
    let table = match &args.command {
        None => table,
        Some(name) => table.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::new(format!("no command `{name}`"))
                .help("run `protologtool --help` for the list of commands")
        })?,
    };
    let mut page = Vec::new();
    show(clap_mangen::Man::new(table).render(&mut page), &page, system)
}

/// `completions`: a script for a shell.
pub(super) fn completions(args: &Completions, system: &dyn System) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::table(), "protologtool", &mut script);
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
            script =
                script.replacen("\n_protologtool() {", &format!("\n{ZSH}_protologtool() {{"), 1);
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
            [[ "$cur" == -* ]] || COMPREPLY=($(compgen -W "$(protologtool configuration groups names 2>/dev/null)" -- "$cur"))
            ;;
    esac
}
complete -F _protologtool_and_groups -o bashdefault -o default protologtool
"#;

const FISH: &str = r#"
complete -c protologtool -n "__fish_seen_subcommand_from configuration; and __fish_seen_subcommand_from status enable disable level" -f -a "(protologtool configuration groups names 2>/dev/null)"
"#;

const ZSH: &str = r#"_protologtool_groups() {
    local -a groups
    groups=(${(f)"$(protologtool configuration groups names 2>/dev/null)"})
    compadd -a groups
}

"#;

fn show(made: io::Result<()>, text: &[u8], system: &dyn System) -> Result<Exit, Failure> {
    match made.and_then(|()| system.write_output(text)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("can't write the page: {}", reason(&error))))
        }
        _ => Ok(Exit::Done),
    }
}
