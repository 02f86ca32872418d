//! Splicing text: an [`Edit`] is a value, a [`Plan`] is a sorted and disjoint list of them, [`fn@apply`] is a pure function.
//!
//! No tree is ever printed back, so every byte outside an edit stays as it is. Text that is replaced keeps its line ends
//! and comments, so that no line moves.

mod apply;
mod edit;
mod plan;

pub use apply::apply;
pub use edit::Edit;
pub use plan::{Overlap, Plan, PlanBuilder};
