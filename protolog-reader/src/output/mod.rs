//! A log for people, for machines and for the Perfetto UI.

pub(crate) mod earlier_ui;
pub(crate) mod json;
mod json_fast;
mod json_fields;
mod json_members;
mod json_parts;
mod json_spans;
pub(crate) mod perfetto_ui;
mod slice_names;
pub(crate) mod summary;
mod task_tracks;
pub(crate) mod text;
