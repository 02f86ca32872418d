//! The way in which traces are read.

use std::sync::Arc;

use viewer_config::Dictionary;

use super::resource::Labels;

/// The settings with which traces are read.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) labels: Arc<Labels>,
    /// Traces grow.
    pub(super) follow: bool,
}
