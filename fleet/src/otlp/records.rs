//! Items of a log as log records of OTLP.
//!
//! A message has its text as body, and as attributes what the conventions of OpenTelemetry have or
//! discuss: its template and its arguments (`log.record.template`,
//! `log.record.template.parameter.0`), the place in the sources, the thread. Arguments with names
//! are attributes by these, too. A loss is a record of its own, with the severity of a warning.
//!
//! Invariants: an item has the same `log.record.uid` whenever it is sent, and no other one has it;
//! memory is that of the messages, threads and processes of the trace.

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use protolog_core::{Arg, ArgumentNames, Level};
use protolog_reader::{Entry, Item, Log, Loss, Message, Rendering, Thread, Values};

use super::encode::{
    any_field, attribute, bytes_field, fixed64_field, log_record as record, varint_field,
};
use super::metrics::{Metrics, Row, RowNumber};
use super::resource::{Labels, program};
use super::trace_ids::{hex_id, ids};

/// The scope of losses that belong to no group.
const LOSSES: &str = "protolog.losses";

/// Takes the records: with a resource, a scope, and the encoded `LogRecord`.
pub(super) trait Records {
    fn push(&mut self, resource: &Arc<[u8]>, scope: &Arc<str>, record: &[u8]);

    /// The counters of items, if there are any.
    fn metrics(&mut self) -> Option<&mut Metrics>;
}

/// Makes the records of one trace.
pub(super) struct Recorder {
    labels: Arc<Labels>,
    /// The name that tells the trace from others.
    source: Arc<str>,
    forms: HashMap<u64, Form>,
    threads: HashMap<(Option<u32>, Option<u32>), ThreadForm>,
    resources: HashMap<Vec<u8>, Arc<[u8]>>,
    scopes: HashMap<String, Arc<str>>,
    buffer: Vec<u8>,
    /// Items up to this time were counted by an earlier run.
    counted_until: Option<i64>,
}

/// The values that records of one message share.
struct Form {
    template: String,
    /// The list of the arguments' names.
    names: String,
    location: String,
    scope: Arc<str>,
    /// Severity and attributes.
    encoded: Vec<u8>,
    /// The arguments that are ids of a trace and of a span.
    trace_id: Option<usize>,
    span_id: Option<usize>,
    level: &'static str,
    /// Where it is counted, for each service.
    counted: Vec<Counted>,
}

/// Where messages of one service are counted.
struct Counted {
    service: Arc<str>,
    row: RowNumber,
    /// With the arguments of which they are.
    histograms: Vec<(RowNumber, usize)>,
}

/// The values that records of one thread share.
struct ThreadForm {
    name: Option<String>,
    process: Option<String>,
    service: Arc<str>,
    resource: Arc<[u8]>,
    /// Attributes.
    encoded: Vec<u8>,
    /// The time of the last message and of the last loss, and how many were of that time before.
    last: [(i64, u64); 2],
}

impl Recorder {
    pub(super) fn new(source: &Arc<str>, labels: &Arc<Labels>) -> Self {
        Self {
            labels: labels.clone(),
            source: source.clone(),
            forms: HashMap::new(),
            threads: HashMap::new(),
            resources: HashMap::new(),
            scopes: HashMap::new(),
            buffer: Vec::new(),
            counted_until: None,
        }
    }

    /// Counts only what is later than a time, by the clock of the trace.
    pub(super) fn count_after(&mut self, time: Option<i64>) {
        self.counted_until = time;
    }

    /// Makes the record of an item; a span has none. `observed` is in nanoseconds since 1970.
    pub(super) fn push<'a>(
        &mut self,
        log: &'a Log,
        item: &Item<'a>,
        observed: u64,
        out: &mut dyn Records,
    ) {
        match item {
            Item::Entry(entry) => self.push_entry(log, entry, observed, out),
            Item::Loss(loss) => self.push_loss(log, loss, observed, out),
            Item::SpanBegin(_) | Item::SpanEnd(_) => {}
        }
    }

    /// Passes over an item that was sent before.
    pub(super) fn pass(&mut self, log: &Log, item: &Item<'_>, out: &mut dyn Records) {
        match item {
            Item::Entry(entry) => {
                let of_thread = self.thread(log, entry.thread());
                of_thread.number(MESSAGE, entry.time());
                if out.metrics().is_some() {
                    let (service, values) = (of_thread.service.clone(), entry.values());
                    self.form(log, &values);
                    self.count(&service, (entry.time(), values.message_id()), &values.args(), out);
                }
            }
            Item::Loss(loss) => {
                self.thread(log, log.thread_of(loss)).number(LOSS, loss.time);
                self.count_loss(log, loss, out);
            }
            Item::SpanBegin(_) | Item::SpanEnd(_) => {}
        }
    }

    fn push_entry<'a>(
        &mut self,
        log: &'a Log,
        entry: &Entry<'a>,
        observed: u64,
        out: &mut dyn Records,
    ) {
        let (values, thread) = (entry.values(), entry.thread());
        let (text, args) = (values.text(Rendering::Full), values.args());
        let mut buffer = std::mem::take(&mut self.buffer);
        begin_record(&mut buffer, log, entry.time(), observed);
        let of_thread = self.thread(log, thread);
        let (resource, service) = (of_thread.resource.clone(), of_thread.service.clone());
        let number = of_thread.number(MESSAGE, entry.time());
        buffer.extend_from_slice(&of_thread.encoded);
        let form = self.form(log, &values);
        buffer.extend_from_slice(&form.encoded);
        any_field(&mut buffer, record::BODY, Arg::Str(&text));
        for (index, arg) in args.iter().enumerate() {
            parameter(&mut buffer, index, *arg);
        }
        for (name, value) in values.fields() {
            // Names of ours have a point, as those of the conventions have: no key comes twice.
            if !name.contains('.') {
                attribute(&mut buffer, record::ATTRIBUTES, name, value);
            }
        }
        let id =
            |index: Option<usize>, digits| args.get(index?).and_then(|arg| hex_id(arg, digits));
        if let Some(id) = id(form.trace_id, 32) {
            bytes_field(&mut buffer, record::TRACE_ID, &id);
        }
        if let Some(id) = id(form.span_id, 16) {
            bytes_field(&mut buffer, record::SPAN_ID, &id);
        }
        if let Some(trace) = entry.stack_trace() {
            attribute(&mut buffer, record::ATTRIBUTES, "code.stacktrace", Arg::Str(trace));
        }
        if let Some(rate) = entry.rate() {
            let rate = rate.to_string();
            attribute(&mut buffer, record::ATTRIBUTES, "protolog.rate", Arg::Str(&rate));
        }
        if let Some(request) = entry.request() {
            attribute(&mut buffer, record::ATTRIBUTES, "protolog.request", Arg::Str(request));
        }
        let scope = form.scope.clone();
        self.count(&service, (entry.time(), values.message_id()), &args, out);
        let uid = uid(&self.source, entry.time(), thread, "", number);
        attribute(&mut buffer, record::ATTRIBUTES, "log.record.uid", Arg::Str(&uid));
        out.push(&resource, &scope, &buffer);
        self.buffer = buffer;
    }

    fn push_loss(&mut self, log: &Log, loss: &Loss, observed: u64, out: &mut dyn Records) {
        let (text, thread) = (loss.describe(log.dictionary()), log.thread_of(loss));
        let mut buffer = std::mem::take(&mut self.buffer);
        begin_record(&mut buffer, log, loss.time, observed);
        let of_thread = self.thread(log, thread);
        let (resource, number) = (of_thread.resource.clone(), of_thread.number(LOSS, loss.time));
        buffer.extend_from_slice(&of_thread.encoded);
        put_severity(&mut buffer, Level::Warn);
        any_field(&mut buffer, record::BODY, Arg::Str(&text));
        bytes_field(&mut buffer, record::EVENT_NAME, b"protolog.loss");
        let reason = Arg::Str(loss.reason.name());
        attribute(&mut buffer, record::ATTRIBUTES, "protolog.loss.reason", reason);
        if let Some(count) = loss.count {
            attribute(&mut buffer, record::ATTRIBUTES, "protolog.loss.count", Arg::Uint(count));
        }
        let uid = uid(&self.source, loss.time, thread, "loss-", number);
        attribute(&mut buffer, record::ATTRIBUTES, "log.record.uid", Arg::Str(&uid));
        let group = loss.group.map(|id| log.dictionary().group_name(id));
        let scope = self.scope(group.as_deref().unwrap_or(LOSSES));
        self.count_loss(log, loss, out);
        out.push(&resource, &scope, &buffer);
        self.buffer = buffer;
    }

    /// Counts a message whose form is known.
    fn count(
        &mut self,
        service: &Arc<str>,
        (time, id): (i64, u64),
        args: &[Arg<'_>],
        out: &mut dyn Records,
    ) {
        let (Some(metrics), Some(form)) = (out.metrics(), self.forms.get_mut(&id)) else { return };
        if self.counted_until.is_some_and(|until| time <= until) {
            return;
        }
        let counted = form.counted(service, metrics);
        metrics.add(&self.source, time, counted.row, 1);
        for (histogram, argument) in &counted.histograms {
            if let Some(value) = args.get(*argument) {
                metrics.observe(&self.source, *histogram, *value);
            }
        }
    }

    fn count_loss(&mut self, log: &Log, loss: &Loss, out: &mut dyn Records) {
        let Some(metrics) = out.metrics() else { return };
        if self.counted_until.is_some_and(|until| loss.time <= until) {
            return;
        }
        let (reason, service) =
            (loss.reason.name(), &self.thread(log, log.thread_of(loss)).service);
        let row = match (loss.count, loss.group) {
            (Some(_), Some(id)) => Row::lost(service, &log.dictionary().group_name(id), reason),
            (Some(_), None) => Row::lost(service, "", reason),
            (None, _) => Row::unknown(service, reason),
        };
        let row = metrics.number(row);
        metrics.add(&self.source, loss.time, row, loss.count.unwrap_or(1));
    }

    /// Counts what sampling passed over. It is no record: messages that were kept say for how many
    /// they stand.
    pub(super) fn count_passed_over(&mut self, log: &Log, out: &mut dyn Records) {
        let Some(metrics) = out.metrics() else { return };
        let until = self.counted_until;
        for one in log.passed_over().iter().filter(|one| until.is_none_or(|until| one.time > until))
        {
            let group = one.group.map(|id| log.dictionary().group_name(id));
            let level = one.level.map_or("", Level::name);
            let service = &self.thread(log, log.thread_of_passed_over(one)).service;
            let row = Row::passed_over(service, group.as_deref().unwrap_or(""), level);
            let row = metrics.number(row);
            metrics.add(&self.source, one.time, row, one.count);
        }
    }

    /// The scope of a group.
    fn scope(&mut self, group: &str) -> Arc<str> {
        if let Some(scope) = self.scopes.get(group) {
            return scope.clone();
        }
        self.scopes.entry(group.to_owned()).or_insert(group.into()).clone()
    }

    fn form(&mut self, log: &Log, values: &Values<'_>) -> &Form {
        let (id, message) = (values.message_id(), values.message());
        let is_known = self.forms.get(&id).is_some_and(|form| form.is_of(message));
        if !is_known {
            let group = values.group(log).map_or("", |group| group.name.as_str());
            let scope = self.scope(group);
            self.forms.insert(id, Form::new(id, message, scope));
        }
        &self.forms[&id]
    }

    fn thread(&mut self, log: &Log, thread: &Thread) -> &mut ThreadForm {
        let (key, process) = ((thread.pid, thread.tid), log.process_name(thread));
        let known = self.threads.get(&key);
        if !known
            .is_some_and(|known| known.name == thread.name && known.process.as_deref() == process)
        {
            let program = process.map(program);
            let encoded = self.labels.resource(None, program, thread.pid);
            let resource = self.resources.entry(encoded.clone());
            let resource = resource.or_insert_with(|| encoded.into()).clone();
            let service = self.labels.service_of(program).into();
            let last = known.map_or([(i64::MIN, 0); 2], |known| known.last);
            let form = ThreadForm::new(thread, process, (resource, service), last);
            self.threads.insert(key, form);
        }
        self.threads.get_mut(&key).expect("it was just put there")
    }
}

impl Form {
    fn new(id: u64, message: Option<&Message>, scope: Arc<str>) -> Self {
        let mut encoded = Vec::new();
        if let Some(level) = message.and_then(|message| message.level) {
            put_severity(&mut encoded, level);
        }
        let mut put = |key: &str, value: Arg<'_>| {
            attribute(&mut encoded, record::ATTRIBUTES, key, value);
        };
        put("protolog.message.id", Arg::Str(&format!("{id:016x}")));
        let (template, location) =
            message.map_or(("", ""), |message| (message.template(), message.location.as_str()));
        if message.is_some() {
            put("log.record.template", Arg::Str(template));
        }
        let (file, line) = location.rsplit_once(':').unwrap_or((location, ""));
        if !file.is_empty() {
            put("code.file.path", Arg::Str(file));
        }
        if let Ok(line) = line.parse() {
            put("code.line.number", Arg::Int(line));
        }
        let names = message.map_or(ArgumentNames::NONE, Message::names);
        let [trace_id, span_id] = ids(template, names);
        let (template, location) = (template.to_owned(), location.to_owned());
        let names = names.list().to_owned();
        let level = message.and_then(|message| message.level).map_or("", Level::name);
        let counted = Vec::new();
        Self { template, names, location, scope, encoded, trace_id, span_id, level, counted }
    }

    /// Where messages of a service are counted.
    fn counted(&mut self, service: &Arc<str>, metrics: &mut Metrics) -> &Counted {
        let known = self.counted.iter().position(|it| it.service == *service);
        let at = known.unwrap_or_else(|| {
            let Self { scope, level, template, .. } = self;
            let row = metrics.number(Row::messages(service, scope, level, template));
            let histograms = metrics.histograms_of(service, template);
            self.counted.push(Counted { service: service.clone(), row, histograms });
            self.counted.len() - 1
        });
        &self.counted[at]
    }

    /// Returns whether it is that of a message: several may have one id.
    fn is_of(&self, message: Option<&Message>) -> bool {
        message.map_or(self.template.is_empty() && self.location.is_empty(), |message| {
            let is_of_text = self.template == message.template();
            let has_names = self.names == message.names().list();
            is_of_text && has_names && self.location == message.location
        })
    }
}

/// Places of numbers in `last`.
const MESSAGE: usize = 0;
const LOSS: usize = 1;

impl ThreadForm {
    fn new(
        thread: &Thread,
        process: Option<&str>,
        (resource, service): (Arc<[u8]>, Arc<str>),
        last: [(i64, u64); 2],
    ) -> Self {
        let mut encoded = Vec::new();
        if let Some(tid) = thread.tid {
            attribute(&mut encoded, record::ATTRIBUTES, "thread.id", Arg::Uint(tid.into()));
        }
        if let Some(name) = &thread.name {
            attribute(&mut encoded, record::ATTRIBUTES, "thread.name", Arg::Str(name));
        }
        let (name, process) = (thread.name.clone(), process.map(str::to_owned));
        Self { name, process, service, resource, encoded, last }
    }

    /// The number of items of the thread that came before, and are of that time.
    fn number(&mut self, of: usize, time: i64) -> u64 {
        let last = &mut self.last[of];
        *last = if last.0 == time { (time, last.1 + 1) } else { (time, 0) };
        last.1
    }
}

fn begin_record(buffer: &mut Vec<u8>, log: &Log, time: i64, observed: u64) {
    buffer.clear();
    // Without a relation to the wall clock, the time is not known, which is 0.
    if let Some(wall) = log.wall_time(time) {
        fixed64_field(buffer, record::TIME, u64::try_from(wall).unwrap_or(0));
    }
    fixed64_field(buffer, record::OBSERVED_TIME, observed);
}

fn put_severity(buffer: &mut Vec<u8>, level: Level) {
    varint_field(buffer, record::SEVERITY, severity(level));
    bytes_field(buffer, record::SEVERITY_TEXT, level.name().as_bytes());
}

/// The number of a severity in OTLP.
fn severity(level: Level) -> u64 {
    match level {
        Level::Verbose => 1,
        Level::Debug => 5,
        Level::Info => 9,
        Level::Warn => 13,
        Level::Error => 17,
        Level::Wtf => 21,
    }
}

/// Names of the attributes of most arguments.
const PARAMETERS: [&str; 8] = [
    "log.record.template.parameter.0",
    "log.record.template.parameter.1",
    "log.record.template.parameter.2",
    "log.record.template.parameter.3",
    "log.record.template.parameter.4",
    "log.record.template.parameter.5",
    "log.record.template.parameter.6",
    "log.record.template.parameter.7",
];

fn parameter(buffer: &mut Vec<u8>, index: usize, value: Arg<'_>) {
    let key = match PARAMETERS.get(index) {
        Some(key) => Cow::Borrowed(*key),
        None => Cow::Owned(format!("log.record.template.parameter.{index}")),
    };
    attribute(buffer, record::ATTRIBUTES, &key, value);
}

/// The id that tells an item from all others.
fn uid(source: &str, time: i64, thread: &Thread, of: &str, number: u64) -> String {
    let (pid, tid) = (thread.pid.unwrap_or(0), thread.tid.unwrap_or(0));
    format!("{source}-{time:x}-{pid:x}-{tid:x}-{of}{number}")
}
