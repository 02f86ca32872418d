//! The layers of each crate that has any: the data of the rule, and nothing else.
//!
//! To add a module, put its path (`control`, or `level::page` for one that lies in another layer
//! than its parent) into the layer that it belongs to; modules below it belong to its layer. To add
//! a crate, add an entry.

/// Layers of one crate, from the bottom to the top. Modules of one layer may import each other
/// (without a cycle of files); those that must not stand in layers of their own. The crate's root
/// is above all of them, and imported by none.
pub(super) struct Layers {
    pub(super) package: &'static str,
    pub(super) layers: &'static [Layer],
}

/// A name for messages, and the modules.
pub(super) type Layer = (&'static str, &'static [&'static str]);

pub(super) const LAYERS: &[Layers] = &[RT, READER, TOOL];

const RT: Layers = Layers {
    package: "protolog-rt",
    layers: &[
        // Atomics, the standard library's or those of the models; for use by every module.
        ("base", &["sync", "error", "names", "paths", "compiled"]),
        // Every system call, behind safe functions.
        ("sys", &["sys"]),
        // Text on its way to people, from wherever it comes.
        ("queued text", &["text_queue"]),
        ("clock", &["clock"]),
        ("losses", &["loss", "stats"]),
        // A call in the binary: constants.
        ("notes", &["note"]),
        // The parts of a call at run time.
        ("calls", &["level", "site", "value", "dictionary", "message_table"]),
        // The write path.
        ("writer", &["writer", "log"]),
        ("session", &["session"]),
        // For a tracing service: sessions that others start, in other processes.
        ("producer", &["producer"]),
        ("output", &["text", "control"]),
        // The outer ring of the API.
        (
            "api",
            &[
                "bridge",
                "dynamic",
                "guests",
                "panic",
                "init",
                "emit",
                "span",
                "request",
                "foreign",
                "arguments",
                "macros",
                "levels",
                "rewritten",
                "shown",
                "__private",
            ],
        ),
    ],
};

const READER: Layers = Layers {
    package: "protolog-reader",
    layers: &[
        // Pieces of text output, which know nothing of a log.
        ("formatting", &["formatting"]),
        // Where bytes come from, and how they are inflated.
        ("bytes", &["bytes"]),
        // Packets on the wire, without the state of their sequence.
        ("packets", &["packets"]),
        ("clocks", &["clocks"]),
        // Holes, the way back to packets, limits.
        ("damage", &["damage"]),
        // The state that packets set for later ones; threads and sessions.
        ("sequences", &["sequences"]),
        ("dictionary", &["dictionary"]),
        ("losses", &["losses"]),
        ("spans", &["spans"]),
        // Several traces as one: facts about them that both a merge and the decoder need.
        ("inputs", &["inputs"]),
        ("merge", &["merge"]),
        // From packets to records.
        ("decode", &["decode"]),
        ("log", &["log"]),
        // The ways to read one: whole, as it grows, page by page.
        ("traces", &["traces", "pages"]),
        // For people, machines and the Perfetto UI.
        ("times", &["times"]),
        ("output", &["output"]),
    ],
};

const TOOL: Layers = Layers {
    package: "protolog-tool",
    layers: &[
        // Values: nothing here knows what it is used for.
        (
            "base",
            &[
                "cells",
                "colors",
                "differences",
                "encoding",
                "exit",
                "first_process",
                "source",
                "call_counts",
                "suggest",
            ],
        ),
        // Everything outside the process: files, environment, output.
        ("system", &["system"]),
        // Problems, and how they are shown.
        ("diagnostic", &["diagnostic"]),
        // Inputs and results of a run, for any language.
        ("model", &["groups", "ids", "call", "lint", "rewrite"]),
        ("languages", &["lang"]),
        // The class that rewritten Android code calls; the way of one source.
        ("pipeline", &["inject", "pipeline"]),
        // Runs over many sources, and their results.
        ("runs", &["args", "binary", "output", "target", "incremental"]),
        // The logs that commands read, and the filter of their entries.
        ("logs", &["logs"]),
        ("commands", &["command"]),
        // Entry points for programs.
        ("entry", &["cli", "worker"]),
    ],
};
