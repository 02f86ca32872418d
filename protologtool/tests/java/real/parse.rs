//! javac's parser over a directory of files.

use protolog_testkit::tool;
use std::path::Path;
use std::process::Command;

const PARSE_ALL: &str = r#"
import java.io.File;
import java.util.Arrays;
import javax.tools.*;
import com.sun.source.util.JavacTask;

class ParseAll {
    public static void main(String[] args) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        File[] files = new File(args[0]).listFiles((dir, name) -> name.endsWith(".java"));
        Arrays.sort(files);
        int trees = 0, errors = 0;
        // In parts, since all the trees together would not fit into memory.
        for (int from = 0; from < files.length; from += 200) {
            DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
            StandardJavaFileManager manager = compiler.getStandardFileManager(found, null, null);
            File[] part = Arrays.copyOfRange(files, from, Math.min(files.length, from + 200));
            JavacTask task = (JavacTask) compiler.getTask(null, manager, found, null, null,
                    manager.getJavaFileObjects(part));
            for (Object tree : task.parse()) trees++;
            for (Diagnostic<?> diagnostic : found.getDiagnostics()) {
                if (diagnostic.getKind() != Diagnostic.Kind.ERROR) continue;
                errors++;
                System.out.println(diagnostic);
            }
        }
        System.out.println(trees + " parsed, " + errors + " errors");
    }
}
"#;

/// Asserts that javac parses the `count` files in `directory`.
pub(super) fn with_javac(directory: &Path, count: usize) {
    let Some(java) = tool("java") else { return };
    let main = directory.join("ParseAll");
    std::fs::create_dir(&main).unwrap();
    let main = main.join("ParseAll.java");
    std::fs::write(&main, PARSE_ALL).unwrap();
    let output = Command::new(java).arg(&main).arg(directory).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stderr}");
    assert!(stdout.ends_with(&format!("{count} parsed, 0 errors\n")), "{stdout}{stderr}");
}
