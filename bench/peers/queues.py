"""Loggers in C++ that keep what they are given in a queue, beside protolog as users build it.

They are in no registry. CHECKOUTS is a directory with checkouts of theirs, named `NanoLog`
(PlatformLab/NanoLog), `fmtlog` (MengRao/fmtlog), `quill` (odygrd/quill) and `fmt` (fmtlib/fmt at
11.1.3, for fmtlog); what is not there is left out, and said. The programs are built there.

    python3 bench/peers/queues.py CHECKOUTS [ROUNDS]

prints a row for each shape and logger: the least and the median p50 and the median p99 of the
rounds' bursts, and the median CPU time of a message of a loop, in ns. In a round all take turns.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHAPES = ["two-ints", "int-and-text", "two-ints-and-float", "long-text"]
PEERS = {
    # By bench/peers/cpp/nanolog.cc, fmtlog.cc and quill.cc.
    "NanoLog": ["-INanoLog/runtime", "-LNanoLog/runtime", "-lNanoLog", "-lrt"],
    "fmtlog": ["-Ifmtlog", "-Ifmt/include"],
    "quill": ["-Iquill/include"],
}


def programs(checkouts):
    """The commands that measure, by the name in the table."""
    found = {}
    for profile, name in [("release", "protolog"), ("lto", "protolog, fat LTO")]:
        target = ROOT / "target/bench/user"
        build = ["cargo", "build", "-q", "--profile", profile, "--target-dir", target]
        subprocess.run([*build, "--manifest-path", ROOT / "bench/user/Cargo.toml"], check=True)
        program = target / profile / "protolog-bench-user"
        found[name] = [program, "measure", "protolog"]
        if profile == "release":
            found["protolog, recorder"] = [program, "measure", "recorder"]
    for peer, options in PEERS.items():
        if not (checkouts / peer).is_dir():
            print(f"left out: {peer}, since {checkouts / peer} is not there", file=sys.stderr)
            continue
        if peer == "NanoLog" and not (checkouts / "NanoLog/runtime/libNanoLog.a").exists():
            subprocess.run(["make", "-s", "-C", "NanoLog/runtime", "libNanoLog.a"], cwd=checkouts, check=True)
        source = ROOT / f"bench/peers/cpp/{peer.lower()}.cc"
        program = checkouts / f"measure-{peer.lower()}"
        build = ["g++", "-std=c++17", "-O3", "-DNDEBUG", source, "-o", program, *options, "-pthread"]
        subprocess.run(build, cwd=checkouts, check=True)
        found[peer] = [program, "measure", peer.lower()]
    return found


def measured(command, shape):
    """The figures of one process, which writes to a directory of its own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        run = [*command, shape, f"{directory}/log"]
        output = subprocess.run(run, check=True, cwd=directory, capture_output=True, text=True)
        return json.loads(output.stdout.splitlines()[-1])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) == 3 else 15
    commands = programs(pathlib.Path(sys.argv[1]).resolve())
    figures = {}
    for _ in range(rounds):
        for shape in SHAPES:
            for name, command in commands.items():
                figures.setdefault((shape, name), []).append(measured(command, shape))
    print("| shape | logger | p50, least | p50 | p99 | CPU |\n|---|---|--:|--:|--:|--:|")
    for (shape, name), all_of in figures.items():
        p50, p99 = [[it[part] for it in all_of] for part in ("p50", "p99")]
        cpu = [it["cpu"] / it["looped"] for it in all_of]
        middle = [f"{statistics.median(part):.1f}" for part in (p50, p99, cpu)]
        print(f"| {shape} | {name} | {min(p50):.1f} | {' | '.join(middle)} |")


if __name__ == "__main__":
    main()
