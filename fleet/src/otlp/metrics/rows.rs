//! Rows of counts, with a name and labels; the number of rows is bounded.
//!
//! Invariants: a row has the same number as long as the table is there; what has no row of its own
//! is counted in the row `other` of its kind, which has the first numbers.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};

/// The kind of a row: the things that it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) enum Kind {
    Messages,
    /// Messages of which it is known how many are lost.
    Lost,
    /// Places where an unknown number is lost.
    Unknown,
    /// Messages that sampling passed over, which are not lost.
    PassedOver,
    /// Values of an argument.
    Argument,
}

impl Kind {
    pub(super) const COUNTERS: [Self; 4] =
        [Self::Messages, Self::Lost, Self::Unknown, Self::PassedOver];

    /// The name in OpenMetrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Messages => "protolog_messages",
            Self::Lost => "protolog_lost_messages",
            Self::Unknown => "protolog_losses_without_count",
            Self::PassedOver => "protolog_passed_over_messages",
            Self::Argument => "protolog_argument",
        }
    }

    /// The name in OTLP.
    pub(super) fn dotted_name(self) -> &'static str {
        match self {
            Self::Messages => "protolog.messages",
            Self::Lost => "protolog.lost_messages",
            Self::Unknown => "protolog.losses_without_count",
            Self::PassedOver => "protolog.passed_over_messages",
            Self::Argument => "protolog.argument",
        }
    }

    pub(super) fn help(self) -> &'static str {
        match self {
            Self::Messages => "Messages by template.",
            Self::Lost => "Messages that are missing.",
            Self::Unknown => "Places where an unknown number is missing.",
            Self::PassedOver => "Messages that sampling passed over; they are not lost.",
            Self::Argument => "Values of chosen arguments.",
        }
    }

    /// The unit in OTLP.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Messages | Self::Lost | Self::PassedOver => "{message}",
            Self::Unknown => "{place}",
            Self::Argument => "",
        }
    }
}

/// A name of a label, with its value.
type Label = (Cow<'static, str>, String);

/// A row: its kind, and what tells it from others of that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) struct Row {
    pub(super) kind: Kind,
    /// The name of the service; none in the row `other`.
    pub(super) service: Option<String>,
    pub(super) labels: Vec<Label>,
}

impl Row {
    pub(in super::super) fn messages(
        service: &str,
        group: &str,
        level: &str,
        template: &str,
    ) -> Self {
        let labels = [("group", group), ("level", level), ("template", template)];
        Self::new(Kind::Messages, service, &labels)
    }

    pub(in super::super) fn lost(service: &str, group: &str, reason: &str) -> Self {
        Self::new(Kind::Lost, service, &[("group", group), ("reason", reason)])
    }

    pub(in super::super) fn unknown(service: &str, reason: &str) -> Self {
        Self::new(Kind::Unknown, service, &[("reason", reason)])
    }

    pub(in super::super) fn passed_over(service: &str, group: &str, level: &str) -> Self {
        Self::new(Kind::PassedOver, service, &[("group", group), ("level", level)])
    }

    pub(super) fn argument(service: &str, argument: usize, template: &str) -> Self {
        let argument = argument.to_string();
        Self::new(Kind::Argument, service, &[("argument", &argument), ("template", template)])
    }

    fn new(kind: Kind, service: &str, labels: &[(&'static str, &str)]) -> Self {
        let label = |(name, value): &(&'static str, &str)| ((*name).into(), (*value).to_owned());
        Self { kind, service: Some(service.to_owned()), labels: labels.iter().map(label).collect() }
    }

    /// Returns whether it is the row of values of this argument.
    pub(super) fn is_argument(&self, argument: usize, template: &str) -> bool {
        self.service.as_deref().is_some_and(|it| *self == Self::argument(it, argument, template))
    }

    pub(super) fn is_other(&self) -> bool {
        self.service.is_none()
    }

    fn other(kind: Kind) -> Self {
        Self { kind, service: None, labels: Vec::new() }
    }
}

/// The number of a row.
pub(in super::super) type RowNumber = usize;

/// See the module.
#[derive(Debug)]
pub(super) struct Table {
    most: usize,
    rows: Vec<Row>,
    numbers: HashMap<Row, RowNumber>,
}

impl Table {
    /// For rows of these kinds: at most so many, beside one of each kind for all others.
    pub(super) fn new(kinds: &[Kind], most: usize) -> Self {
        let rows: Vec<Row> = kinds.iter().map(|kind| Row::other(*kind)).collect();
        Self { most: most + rows.len(), rows, numbers: HashMap::new() }
    }

    /// The number of a row; that of `other` if there are too many.
    pub(super) fn number(&mut self, row: Row) -> RowNumber {
        if let Some(number) = self.numbers.get(&row) {
            return *number;
        }
        let is_other = |it: &Row| it.service.is_none() && it.kind == row.kind;
        if row.service.is_none() || self.rows.len() >= self.most {
            return self.rows.iter().position(is_other).unwrap_or(0);
        }
        self.rows.push(row.clone());
        self.numbers.insert(row, self.rows.len() - 1);
        self.rows.len() - 1
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}
