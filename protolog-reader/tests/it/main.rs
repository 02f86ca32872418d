//! The tests of this crate, as one program: traces of every kind, damaged ones, recordings, merges.

#[path = "../common/mod.rs"]
mod common;

mod any_bytes;
mod cases;
mod collisions;
mod damage;
mod fast_path;
mod follow;
mod holes;
mod inputs;
mod json;
mod merge;
mod merge_overlap;
mod merge_random;
mod merge_spans;
mod pages;
mod recording;
mod recording_chunks;
mod repeats;
mod slice_names;
mod zstd;
