//! A log for people, for machines and for the Perfetto UI.

pub(crate) mod json;
pub(crate) mod perfetto_ui;
pub(crate) mod summary;
pub(crate) mod text;
