//! The step `instructions`: how many instructions a log call takes, and a message that is read,
//! beside a committed table.
//!
//! Counts do not depend on how busy the machine is, but on the compiler: the table has a part for
//! each. Without one for the compiler of this workspace, another compiler for the same target
//! counts, which rustup has or fetches. Without that it is skipped. Only calls that got longer
//! fail; the table of shorter ones is for `cargo xtask bless instructions`.

mod programs;
mod table;

use std::path::PathBuf;
use std::process::Command;

use self::table::{Part, longer, parse, part_for, text};
use crate::{Result, install, toolchain, workspace};

const HEAD: &str = "\
# Instructions of a log call, counted by callgrind, in the loop that makes the calls; switched off, without the loop. The program is
# built in the workspace (thin LTO, one codegen unit); outside of it, by cargo's own profile `release`; and so with fat LTO and one
# codegen unit. Below, those of a message that is read as `protologtool read-log` reads it: twice, once to survey the trace.
# `cargo xtask test instructions` compares, `cargo xtask bless instructions` rewrites the part of this compiler.
";

/// Counts and compares; programs that can't be compared are added to `skipped`.
pub(crate) fn compare(skipped: &mut Vec<String>) -> Result<()> {
    let toolchain = match toolchain() {
        Ok(toolchain) => toolchain,
        Err(why) => {
            install::skip(skipped, "the instructions of calls", &why);
            return Ok(());
        }
    };
    let part = comparable()?;
    let now = count(part.key.clone(), toolchain.as_deref())?;
    print!("{}", text(std::slice::from_ref(&now)));
    let longer = longer(&part, &now);
    if longer.is_empty() {
        return Ok(());
    }
    Err(format!("calls or messages take more instructions\n{}", longer.join("\n")))
}

/// The toolchain of rustup's that counts, or none for that of the workspace. An error says why none
/// does.
pub(crate) fn toolchain() -> Result<Option<String>> {
    let part = comparable()?;
    if part.key == key()? { Ok(None) } else { toolchain::find(part.version()).map(Some) }
}

/// Has rustup fetch the toolchain that counts.
pub(crate) fn fetch_toolchain() -> Result<()> {
    toolchain::fetch(comparable()?.version())
}

/// The part of the table for the compiler of the workspace, or the last one for the same target.
fn comparable() -> Result<Part> {
    let key = key()?;
    part_for(&read()?, &key)
        .cloned()
        .ok_or_else(|| format!("no table is for {key} (`cargo xtask bless instructions`)"))
}

/// Counts and writes the part of this compiler.
pub(crate) fn bless() -> Result<()> {
    let mut parts = read()?;
    let now = count(key()?, None)?;
    parts.retain(|part| part.key != now.key);
    parts.push(now);
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    workspace::write(path(), format!("{HEAD}{}", text(&parts)))
}

fn path() -> PathBuf {
    workspace::root().join("bench/instructions.txt")
}

/// Version of the compiler, and its target.
fn key() -> Result<String> {
    let (target, version) = toolchain::host(&mut Command::new("rustc"))?;
    Ok(format!("{version}, {target}"))
}

fn read() -> Result<Vec<Part>> {
    parse(&workspace::read(path())?)
}

/// Counts with rustup's `toolchain`, or with that of the workspace.
fn count(key: String, toolchain: Option<&str>) -> Result<Part> {
    Ok(Part { key, rows: programs::count(toolchain)? })
}
