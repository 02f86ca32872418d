//! `cargo xtask soak bazel`: builds the example of `integrations/bazel` by the installed Bazel,
//! with the tool as its persistent worker, and runs it.
//!
//! Debian's Bazel has no rules for Java without the network, so the example's own rule compiles;
//! all else is as users have it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::{Result, java, shell, workspace};

/// The messages in a trace of the example.
const MESSAGES: [&str; 2] = ["started with 1 argument", "sent 42 bytes to example.org"];

/// The merged dictionary.
const DICTIONARY: &str = "META-INF/protolog/dictionary.pb";

/// Builds and runs; changes the text of the library, and does it again.
pub(crate) fn run() -> Result<()> {
    let dir = workspace::target_dir()?.join("bazel");
    let room = Room { dir, tool: workspace::build_tool()? };
    room.prepare()?;
    let checked = room.check(&MESSAGES).and_then(|()| {
        let net = room.workspace().join("net/Net.java");
        let text = workspace::read(&net)?.replace("sent %d", "posted %d");
        workspace::write(&net, text)?;
        room.check(&[MESSAGES[0], &MESSAGES[1].replace("sent", "posted")])
    });
    checked.and(shell::run_quietly(&mut room.bazel(&["shutdown"])))
}

struct Room {
    dir: PathBuf,
    tool: PathBuf,
}

impl Room {
    fn workspace(&self) -> PathBuf {
        self.dir.join("workspace")
    }

    /// The classes of the runtime.
    fn runtime(&self) -> PathBuf {
        self.dir.join("runtime")
    }

    /// The example with the rules in it, and the runtime.
    fn prepare(&self) -> Result<()> {
        for dir in [self.workspace(), self.runtime()] {
            workspace::empty_dir(&dir)?;
        }
        let from = workspace::root().join("integrations/bazel");
        let mut copy = Command::new("cp");
        copy.arg("-R").arg(from.join("example/.")).arg(from.join("protolog")).arg(self.workspace());
        shell::run_quietly(&mut copy)?;
        java::compile(&self.runtime(), &java::sources("java/src")?, &[])
    }

    fn bazel(&self, args: &[&str]) -> Command {
        let mut bazel = Command::new("bazel");
        bazel.arg(format!("--output_user_root={}", self.dir.join("root").display())).args(args);
        bazel.env("PROTOLOGTOOL", &self.tool).env("PROTOLOG_CLASSES", self.runtime());
        bazel.current_dir(self.workspace());
        bazel
    }

    /// Builds everything, and compares the messages of the program and the dictionary with these.
    fn check(&self, messages: &[&str]) -> Result<()> {
        shell::run(&mut self.bazel(&[
            "build",
            // Debian's settings have it on.
            "--nosandbox_debug",
            "--strategy=Protolog=worker",
            "--strategy=ProtologDictionary=worker",
            "--action_env=PROTOLOG_CLASSES",
            "--output_groups=+protolog_dictionary",
            "//...",
        ]))?;
        let built = self.workspace().join("bazel-bin");
        let trace = self.dir.join("app.pftrace");
        let _ = fs::remove_file(&trace);
        // The dictionary is at its path below `built`.
        let jars =
            [built.join("app/app.jar"), built.join("net/net.jar"), built.clone(), self.runtime()];
        let class_path = env::join_paths(&jars).map_err(|error| error.to_string())?;
        let mut program = Command::new("java");
        shell::run(program.arg("-cp").arg(class_path).arg("app.Main").arg(&trace))?;
        let log = shell::read(Command::new(&self.tool).arg("read-log").arg(&trace))?;
        let missing = messages.iter().find(|message| !log.contains(**message));
        if let Some(missing) = missing {
            return Err(format!("no message `{missing}` in the log of the example:\n{log}"));
        }
        self.check_dictionaries(&built)
    }

    /// Checks that the dictionary of all holds those of each, and that rewritten sources have no
    /// texts.
    fn check_dictionaries(&self, built: &Path) -> Result<()> {
        let count = |path: &str| {
            let json = self.dir.join("dictionary.json");
            let mut merge = Command::new(&self.tool);
            merge.arg("generate-viewer-config").arg("--merge").arg(built.join(path));
            shell::run_quietly(merge.arg("--viewer-config").arg(&json))?;
            Ok::<_, String>(workspace::read(&json)?.matches("\"message\"").count())
        };
        for (path, expected) in [
            ("net/net_protolog.pb", 1),
            ("app/app_protolog.pb", 1),
            (DICTIONARY, 2),
            ("app/kotlin.pb", 1),
        ] {
            let found = count(path)?;
            if found != expected {
                return Err(format!("{found} messages in `{path}`, not {expected}"));
            }
        }
        for archive in ["net/net_protolog.srcjar", "app/app_protolog.srcjar", "app/kotlin.srcjar"] {
            let mut unzip = Command::new("unzip");
            let sources = shell::read(unzip.arg("-p").arg(built.join(archive)))?;
            if sources.contains(" %d ") || !sources.contains("ProtoLogImpl.isEnabled") {
                return Err(format!("`{archive}` has texts of log calls:\n{sources}"));
            }
        }
        Ok(())
    }
}
