//! The test of `integrations/maven`: Debian's Maven builds that project offline, as it is, by the profile without the tool, and with a mistake.
//!
//! The runtime is installed by its jar alone, into a repository of its own whose other files are links to Debian's. So nothing
//! of the user's or of the system's is changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, jar, java, shell, tools, workspace};

const PROJECT: &str = "integrations/maven";
/// The columns of its trace that are the same in each run.
const EXPECTED: &str = "\
D Net      sent 512 bytes to example.org
D Net      sent 1024 bytes to example.org
D Net      sent 1536 bytes to example.org
W Disk     /var is 97.5 % full
";

struct Maven {
    dir: PathBuf,
    tool: PathBuf,
}

/// Builds the project in both ways, runs it, and compares the traces; then with a log call that is wrong.
pub(crate) fn test() -> Result<()> {
    let dir = workspace::target_dir()?.join("java/maven");
    workspace::empty_dir(&dir)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "protolog-tool"]))?;
    let maven = Maven { tool: workspace::target_dir()?.join("debug/protologtool"), dir };
    let runtime = &jar::build_runtime("jar-for-maven")?;
    maven.prepare()?;
    maven.succeed("install:install-file", &[&format!("-Dfile={}", runtime.display())])?;
    for (args, is_processed) in [(&["-Punprocessed"][..], false), (&[], true)] {
        maven.succeed("package", args)?;
        if maven.has_text()? == is_processed {
            return Err(format!("texts in classes: {}", !is_processed));
        }
        maven.check_trace(runtime)?;
    }
    maven.fail()
}

impl Maven {
    /// Copies the project, and links Debian's repository.
    fn prepare(&self) -> Result<()> {
        let from = workspace::root().join(PROJECT);
        shell::run_quietly(Command::new("cp").arg("-r").arg(from).arg(self.project()))?;
        let copy = ["-r", "-s", tools::MAVEN_REPOSITORY];
        shell::run_quietly(Command::new("cp").args(copy).arg(self.dir.join("repository")))
    }

    fn project(&self) -> PathBuf {
        self.dir.join("app")
    }

    fn command(&self, goal: &str, args: &[&str]) -> Command {
        let mut command = Command::new("mvn");
        command.args(["--offline", "--quiet", "--batch-mode"]).arg(goal).args(args);
        command.arg(format!("-Dmaven.repo.local={}", self.dir.join("repository").display()));
        command.env("MAVEN_OPTS", java::FIRST_COMPILER);
        command.arg(format!("-Dprotolog.tool={}", self.tool.display()));
        command.current_dir(self.project());
        command
    }

    fn succeed(&self, goal: &str, args: &[&str]) -> Result<()> {
        shell::run_without_output(&mut self.command(goal, args))
    }

    /// Returns whether the compiled program has its messages' texts.
    fn has_text(&self) -> Result<bool> {
        let class = self.project().join("target/classes/app/Main.class");
        let bytes = fs::read(&class).map_err(|error| format!("`{}`: {error}", class.display()))?;
        let text = b"bytes to";
        Ok(bytes.windows(text.len()).any(|window| window == text))
    }

    /// Runs the program from its jar and reads its trace.
    fn check_trace(&self, runtime: &Path) -> Result<()> {
        let trace = self.dir.join("app.pftrace");
        let path = format!("target/app-1.0.jar:{}", runtime.display());
        let mut java = Command::new("java");
        java.args(["-classpath", &path, "app.Main"]).arg(&trace).current_dir(self.project());
        shell::run_quietly(&mut java)?;
        let columns = ["read-log", "--columns", "level,tag,message"];
        let text = shell::read(Command::new(&self.tool).args(columns).arg(&trace))?;
        if text == EXPECTED { Ok(()) } else { Err(format!("the trace says\n{text}")) }
    }

    /// Builds the project with a log call that lacks an argument; the build must fail and name the place.
    fn fail(&self) -> Result<()> {
        let source = self.project().join("src/main/java/app/Main.java");
        let text = fs::read_to_string(&source).map_err(|error| error.to_string())?;
        fs::write(&source, text.replace("\"/var\", 97.5", "\"/var\""))
            .map_err(|error| error.to_string())?;
        let output = self.command("package", &[]).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if !output.status.success() && said.contains("src/main/java/app/Main.java:15:") {
            Ok(())
        } else {
            Err(format!("a wrong log call: {}\n{said}", output.status))
        }
    }
}
