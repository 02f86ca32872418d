//! Entries of a log as rows of `messages`.
//!
//! A row has the arguments of its template by kind: `s0` is the first text, `i0` the first integer.
//! Where the values do not fit the template, or where there is none, it has `text` and `args` in
//! their place, as `read-log` shows them. A row with a float of more digits than engines print has
//! `text`, too. One that was sampled stands for `rate_of / rate_kept` messages; in all others both
//! are null.

use foldhash::HashMap;
use protolog_core::{Arg, Conversion, Level, ParamKind, Template, Verb};
use protolog_reader::{Entry, Log, Message, Rate, Rendering, Values};

use super::json::push_args;
use super::schema::FIXED_COLUMNS;
use super::table::Cell;
use super::templates::shown;

/// Makes rows of the entries of one trace.
pub(super) struct MessageRows {
    /// The number of columns for each kind of arguments.
    arguments: [usize; 4],
    templates: HashMap<(u64, usize), TemplateForm>,
    /// The time of the last entry, and the number of entries of that time before the next one.
    last: (Option<i64>, i64),
}

/// The columns that rows of one message share.
struct TemplateForm {
    id: String,
    /// Its conversions; none of a text that is no template.
    conversions: Option<Vec<Conversion>>,
}

/// The names in rows of a trace.
pub(super) struct RowOrigin<'a> {
    pub(super) source: &'a str,
    pub(super) host: Option<&'a str>,
}

impl MessageRows {
    /// For the messages of a log's dictionary.
    pub(super) fn new(log: &Log) -> Self {
        let mut arguments = [1; 4];
        let dictionary = log.dictionary();
        let others = dictionary.ids().flat_map(|id| dictionary.others(id));
        for message in dictionary.messages().chain(others) {
            let counts = counts(message.template());
            arguments.iter_mut().zip(counts).for_each(|(most, count)| *most = count.max(*most));
        }
        Self { arguments, templates: HashMap::default(), last: (None, 0) }
    }

    /// The number of columns for each kind of arguments.
    pub(super) fn arguments(&self) -> [usize; 4] {
        self.arguments
    }

    /// Calls `take` with the cells of an entry.
    pub(super) fn with_row<T>(
        &mut self,
        (log, entry): (&Log, &Entry<'_>),
        origin: &RowOrigin<'_>,
        take: impl FnOnce(&[Cell<'_>]) -> T,
    ) -> T {
        let (values, ts) = (entry.values(), entry.time());
        self.last =
            if self.last.0 == Some(ts) { (Some(ts), self.last.1 + 1) } else { (Some(ts), 0) };
        let (id, variant) = (values.message_id(), variant(log, &values));
        let message = values.message();
        let form = self.templates.entry((id, variant));
        let form = form.or_insert_with(|| TemplateForm::new(id, message));
        let args = values.args();
        let is_usual = !values.message_is_guess() && form.fits(&args);
        let is_odd = !is_usual || form.has_long_float(&args);
        let text = is_odd.then(|| values.text(Rendering::Full));
        let list = (!is_usual).then(|| {
            let mut list = String::new();
            push_args(&mut list, &args);
            list
        });
        let (thread, rate) = (entry.thread(), entry.rate());
        let (time, boot_offset) = wall_and_offset(log, ts);
        let mut cells = vec![
            Cell::Int(time),
            boot_offset.into(),
            Cell::Int(self.last.1),
            Cell::Bool(entry.time_is_guess()),
            Cell::Text(origin.source),
            origin.host.into(),
            thread.pid.into(),
            thread.tid.into(),
            entry.process_name().into(),
            thread.name.as_deref().into(),
            Cell::Text(&form.id),
            Cell::Int(variant as i64),
            values.level().map(Level::name).into(),
            Cell::Int(unsigned(&args)),
            Cell::Bool(values.message_is_guess()),
            entry.stack_trace().into(),
            text.as_deref().into(),
            list.as_deref().into(),
            rate.map(Rate::kept).into(),
            rate.map(Rate::of).into(),
            rate.and_then(Rate::by).map(i64::from).into(),
            entry.request().into(),
        ];
        cells.resize(FIXED_COLUMNS + self.arguments.iter().sum::<usize>(), Cell::Null);
        if is_usual {
            place_args(&args, self.arguments, &mut cells[FIXED_COLUMNS..]);
        }
        take(&cells)
    }
}

/// The wall clock at a time of the trace, and how far the trace's clock is ahead of it. Without a
/// relation of the two the time itself, as if the clock had begun in 1970.
pub(super) fn wall_and_offset(log: &Log, ts: i64) -> (i64, Option<i64>) {
    match log.wall_time(ts) {
        Some(wall) => (wall, Some(ts.wrapping_sub(wall))),
        None => (ts, None),
    }
}

impl TemplateForm {
    fn new(id: u64, message: Option<&Message>) -> Self {
        let template = message.and_then(|message| Template::parse(message.template()).ok());
        let conversions = template.map(|template| template.conversions().collect());
        Self { id: shown(id), conversions }
    }

    /// Returns whether these are just the values that the template takes.
    fn fits(&self, args: &[Arg<'_>]) -> bool {
        let Some(conversions) = &self.conversions else { return false };
        let is_of = |(arg, of): (&Arg<'_>, &Conversion)| kind(arg) == of.verb.kind();
        conversions.len() == args.len() && args.iter().zip(conversions).all(is_of)
    }

    /// Returns whether a float has more digits than all engines print rightly.
    fn has_long_float(&self, args: &[Arg<'_>]) -> bool {
        let is_long = |(arg, of): (&Arg<'_>, &Conversion)| {
            let Arg::Float(value) = arg else { return false };
            let decimals = i32::from(of.precision.unwrap_or(6));
            let most = if of.verb == Verb::Fixed { value.abs() } else { 1.0 };
            value.is_finite() && most >= 10_f64.powi(DIGITS - decimals)
        };
        args.iter().zip(self.conversions.iter().flatten()).any(is_long)
    }
}

/// The digits of a float that all engines print rightly.
const DIGITS: i32 = 16;

/// Bit `i` is set if argument `i` is an unsigned integer.
fn unsigned(args: &[Arg<'_>]) -> i64 {
    let bits = args.iter().take(32).enumerate().filter(|(_, arg)| matches!(arg, Arg::Uint(_)));
    bits.fold(0, |all, (at, _)| all | 1 << at)
}

fn kind(arg: &Arg<'_>) -> ParamKind {
    match arg {
        Arg::Str(_) => ParamKind::Str,
        Arg::Int(_) | Arg::Uint(_) => ParamKind::Int,
        Arg::Float(_) => ParamKind::Float,
        Arg::Bool(_) => ParamKind::Bool,
    }
}

/// The place of the message among those with its id.
fn variant(log: &Log, values: &Values<'_>) -> usize {
    let others = log.dictionary().others(values.message_id());
    let Some(message) = values.message().filter(|_| !others.is_empty()) else { return 0 };
    others.iter().position(|other| std::ptr::eq(other, message)).map_or(0, |at| at + 1)
}

fn place_args<'a>(args: &[Arg<'a>], columns: [usize; 4], cells: &mut [Cell<'a>]) {
    let mut next = [0, columns[0], columns[0] + columns[1], columns[0] + columns[1] + columns[2]];
    for arg in args {
        let cell = match *arg {
            Arg::Str(text) => Cell::Text(text),
            Arg::Int(value) => Cell::Int(value),
            Arg::Uint(value) => Cell::Int(value as i64),
            Arg::Float(value) => Cell::Float(value),
            Arg::Bool(value) => Cell::Bool(value),
        };
        let next = &mut next[kind(arg) as usize];
        cells[*next] = cell;
        *next += 1;
    }
}

fn counts(template: &str) -> [usize; 4] {
    let mut counts = [0; 4];
    for conversion in Template::parse(template).into_iter().flat_map(|it| it.conversions()) {
        counts[conversion.verb.kind() as usize] += 1;
    }
    counts
}
