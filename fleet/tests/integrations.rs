//! The unit and the pod of `integrations/opentelemetry`, checked by systemd, by the schema of
//! Kubernetes, and by the program.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{fleet, fleet_python, wheels};
use protolog_testkit::{skip, temp_dir, workspace_root};

fn content(name: &str) -> String {
    let path = workspace_root().join("integrations/opentelemetry").join(name);
    fs::read_to_string(path).unwrap()
}

/// The program with the options of a file, and with traces that are not there: it gets as far as to
/// read them.
fn check_options(words: &[&str]) {
    let dir = temp_dir();
    fs::write(dir.path().join("headers"), "authorization=Bearer TOKEN\n").unwrap();
    let mut args = vec!["otlp", "http://127.0.0.1:9"];
    for word in words.iter().filter(|word| **word != "--follow") {
        args.push(match *word {
            "/var/log/app" => "missing.pftrace",
            "/etc/protolog/headers" => "headers",
            "--header-file=/etc/protolog/headers" => "--header-file=headers",
            "--state=/var/log/app/.sent.json" => "--state=sent.json",
            "${STATE_DIRECTORY}/sent.json" => "sent.json",
            word => word,
        });
    }
    let output = fleet(&args, dir.path());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("error: can't read `missing.pftrace`: No such file"), "{errors}");
}

#[test]
fn the_unit_is_one() {
    let unit = content("protolog-otlp.service");
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..2], ["/usr/bin/protologtool-fleet", "otlp"]);
    check_options(&words[2..]);
    let dir = temp_dir();
    let path = dir.path().join("protolog-otlp.service");
    let program = env!("CARGO_BIN_EXE_protologtool-fleet");
    fs::write(&path, unit.replace("/usr/bin/protologtool-fleet", program)).unwrap();
    let mut verify = Command::new("systemd-analyze");
    let Ok(output) = verify.args(["verify", "--man=no"]).arg(&path).output() else {
        skip("the unit of systemd", "there is no `systemd-analyze`");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("protolog-otlp.service"), "{said}");
}

#[test]
fn the_pod_runs_the_program_with_options_that_it_has() {
    let pod = content("sidecar.yaml");
    let (_, command) = pod.split_once("- protologtool-fleet\n        - otlp\n").unwrap();
    let words: Vec<&str> =
        command.lines().map_while(|line| line.strip_prefix("        - ")).collect();
    assert_eq!(words.len(), 5);
    check_options(&words);
}

/// Compares a manifest with the schema of Kubernetes.
fn validate(manifest: &Path) -> Option<Output> {
    let python = fleet_python("the schema of Kubernetes")?;
    let script = workspace_root().join("fleet/tests/manifest.py");
    let mut command = Command::new(python);
    Some(command.env("PYTHONPATH", wheels()).arg(script).arg(manifest).output().unwrap())
}

#[test]
fn the_pod_has_the_form_that_kubernetes_takes() {
    let (dir, pod) = (temp_dir(), content("sidecar.yaml"));
    let path = dir.path().join("sidecar.yaml");
    fs::write(&path, &pod).unwrap();
    let Some(output) = validate(&path) else { return };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Secret\nPod\n");
    // A name that is misspelled, a value of another type, a field that is missing.
    for (from, to, said) in [
        ("restartPolicy: Always", "restartPolice: Always", "spec.initContainers[0] must not"),
        ("runAsUser: 1000", "runAsUser: root", "spec.securityContext.runAsUser must be integer"),
        ("- name: shm\n      emptyDir", "- emptyDir", "spec.volumes[1] must contain ['name']"),
    ] {
        assert!(pod.contains(from), "{from}");
        fs::write(&path, pod.replacen(from, to, 1)).unwrap();
        let output = validate(&path).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(said), "{errors}");
    }
}
