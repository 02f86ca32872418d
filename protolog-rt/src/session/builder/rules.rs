//! Rules of single calls that come with a session: switches, limits, rates of sampling, merging.
//!
//! Invariant: a rule that can't be read is an error of the start, before anything has happened. One
//! that takes no call is none, since its calls may come with a library, and a line says so.

use crate::error::Error;
use crate::level::rules::{self, Rule};
use crate::level::{self, SettingSource};
use crate::session::builder::Builder;
use crate::session::packets::dictionary::all_groups;
use crate::text_queue;
use protolog_core::control::byte_limit::ByteLimit;
use protolog_core::control::limit::{self, Limit};
use protolog_core::control::rate::Rate;
use protolog_core::control::selector::{Call, Selector};
use protolog_core::control::site_rule::{
    BY_ARGUMENT, BY_ARGUMENT_HELP, SiteSetting, WORDS_HELP as SITE_WORDS_HELP,
};

impl Builder {
    /// Switches the calls that `selector` takes, by the words of a rule as in `PROTOLOG`: `on` for
    /// recorded, whatever their group is, `off`, `text`, `notext`, `notrace` or `default`, with
    /// commas between. A condition on an argument (`arg1 == 42`, also `!=`, `<`, `<=`, `>`, `>=`)
    /// switches those of their messages whose argument is such an integer; all others are as their
    /// group is.
    ///
    /// It is a rule of the program, as that of [`Self::limit`].
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, d};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-site-{}.pftrace", std::process::id()));
    /// let builder = Session::builder().file(&path);
    /// let session = builder.site("\"request %d\" and arg1 == 42", "on").start()?;
    /// for number in 0..1000 {
    ///     d!(AppLog::Net, "request %d", number);
    /// }
    /// assert_eq!(session.stop()?.messages, 1);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn site(mut self, selector: impl Into<String>, words: impl Into<String>) -> Self {
        self.rules.push((selector.into(), words.into(), RuleOf::Switch));
        self
    }

    /// Limits each call that `selector` takes to `limit`, as in `100/s`, or `2/m burst 10` with
    /// more at once. Messages beyond it are not written, their arguments not evaluated, and the
    /// trace says how many there were, of which group, and when
    /// ([`LossCause::Limited`](crate::LossCause::Limited)).
    ///
    /// It is a rule of the program, from the start of the session on, like that of an operator: it
    /// holds for all sessions and the text output, until another one of the same selector comes. If
    /// it takes no call that is known, a line on standard error says so.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, LossCause, w};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-limit-{}.pftrace", std::process::id()));
    /// let builder = Session::builder().file(&path).enable_all();
    /// let session = builder.limit("AppLog::Net and warn", "1/h burst 10").start()?;
    /// for attempt in 0..1000 {
    ///     w!(AppLog::Net, "no answer after %d attempts", attempt);
    /// }
    /// let summary = session.stop()?;
    /// assert_eq!(summary.messages, 10);
    /// assert_eq!((summary.losses[0].cause, summary.losses[0].count), (LossCause::Limited, 990));
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn limit(mut self, selector: impl Into<String>, limit: impl Into<String>) -> Self {
        self.rules.push((selector.into(), limit.into(), RuleOf::Call));
        self
    }

    /// As [`Self::limit`], for all calls together that `selector` takes in a group.
    pub fn group_limit(mut self, selector: impl Into<String>, limit: impl Into<String>) -> Self {
        self.rules.push((selector.into(), limit.into(), RuleOf::Group));
        self
    }

    /// Limits the bytes that this session writes by time, of all messages together: `1MiB/s`, or
    /// `1 MiB/s burst 8 MiB` with more at once. What does not pass is counted by group, with the
    /// times of the first and the last ([`LossCause::Limited`](crate::LossCause::Limited)), and the
    /// trace says where. Pinned messages ([`Self::pin`]) always pass, and other sessions are not
    /// concerned.
    ///
    /// Bytes are those that threads write; the trace has a few more of each message, and fewer if
    /// it is compressed. Threads take them for a chunk at a time, up to 4 KiB, and give back what
    /// they have not used: so a message that passes costs what it does without a limit, and the
    /// limit is exceeded by at most a chunk for each thread. A message that is larger than a burst
    /// passes when nothing has for a while. A burst is of no more than comes in a hundred years.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, LossCause, d};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-bytes-{}.pftrace", std::process::id()));
    /// let session =
    ///     Session::builder().file(&path).enable_all().limit_bytes("1KiB/s burst 64KiB").start()?;
    /// for packet in 0..100_000 {
    ///     d!(AppLog::Net, "packet %d", packet);
    /// }
    /// let summary = session.stop()?;
    /// assert!(summary.bytes < 96 << 10);
    /// assert_eq!(summary.losses[0].cause, LossCause::Limited);
    /// assert_eq!(summary.messages + summary.lost(), 100_000);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn limit_bytes(mut self, limit: impl Into<String>) -> Self {
        self.byte_limit = Some(limit.into());
        self
    }

    /// Samples the calls that `selector` takes: each message is kept by chance, with the
    /// probability `rate`, as in `1/100` or `1%`. Others evaluate no argument and write nothing;
    /// the trace says how many there were, by group and level
    /// ([`Summary::passed_over`](crate::Summary::passed_over)), and each message that was kept says
    /// at which rate, so that `protologtool read-log --estimate` tells how many it stands for.
    /// Messages of WARN and worse are all kept, unless the selector names their level, as `warn`
    /// does.
    ///
    /// `1/100 by arg1` keeps all messages with one of 100 values of their first argument, and none
    /// of the others, the same in each program: pass the id of a request there, or its trace id,
    /// and requests are kept as wholes. Arguments have numbers from 1 to 15; a message without that
    /// argument is kept.
    ///
    /// `1/512KiB` samples bytes, as a heap profiler does: of 524,288 bytes that are logged one is
    /// kept by chance, and with it the whole message. So long messages are kept more often, in
    /// proportion to what they cost, and one of more than 4.6 times as many bytes always. The
    /// arguments are evaluated.
    ///
    /// It is a rule of the program, from the start of the session on, like that of an operator: it
    /// holds for all sessions and the text output, until another one of the same selector comes. If
    /// it takes no call that is known, a line on standard error says so.
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, d, w};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-sample-{}.pftrace", std::process::id()));
    /// let builder = Session::builder().file(&path).enable_all();
    /// let session = builder.sample("AppLog::Net", "1%").start()?;
    /// for packet in 0..10_000 {
    ///     d!(AppLog::Net, "packet %d", packet);
    ///     w!(AppLog::Net, "packet %d is late", packet);
    /// }
    /// let summary = session.stop()?;
    /// let passed_over = summary.passed_over[0].count;
    /// assert_eq!(summary.messages + passed_over, 20_000);
    /// assert!((9_700..10_000).contains(&passed_over));
    /// assert_eq!(summary.lost(), 0);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn sample(mut self, selector: impl Into<String>, rate: impl Into<String>) -> Self {
        self.rules.push((selector.into(), rate.into(), RuleOf::Sample));
        self
    }

    /// Merges identical consecutive messages of each call that `selector` takes: of those that a
    /// thread logs with the same arguments within a second, the first is written, and the others
    /// are counted. The trace has their number, and when the first and the last were logged
    /// ([`LossCause::Repeated`](crate::LossCause::Repeated)), so nothing is lost but the time of
    /// each: `protologtool read-log` shows the number beside the message. A call in a loop is in
    /// the log once a second.
    ///
    /// Arguments are compared as they are, up to 224 bytes; a message with more is always written.
    /// Calls that are sampled are not merged, and a limit is asked after this. The text output
    /// prints each message.
    ///
    /// It is a rule of the program, as that of [`Self::limit`].
    ///
    /// ```
    /// # use protolog_rt::{ProtoLogGroup, Session, LossCause, w};
    /// # #[derive(ProtoLogGroup)]
    /// # enum AppLog { Net }
    /// # let path = std::env::temp_dir().join(format!("protolog-repeat-{}.pftrace", std::process::id()));
    /// let session = Session::builder().file(&path).enable_all().repeat("AppLog::Net").start()?;
    /// for _ in 0..1000 {
    ///     w!(AppLog::Net, "no answer from %s", "10.0.0.7");
    /// }
    /// let summary = session.stop()?;
    /// assert_eq!(summary.lost(), 0);
    /// assert_eq!(summary.losses[0].cause, LossCause::Repeated);
    /// assert_eq!(summary.messages + summary.losses[0].count, 1000);
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), protolog_rt::Error>(())
    /// ```
    pub fn repeat(mut self, selector: impl Into<String>) -> Self {
        self.rules.push((selector.into(), "repeat".to_owned(), RuleOf::Switch));
        self
    }

    /// Returns the limit of its bytes, if it has one.
    pub(super) fn read_byte_limit(&self) -> Result<Option<ByteLimit>, Error> {
        let read = |text: &String| {
            ByteLimit::parse(text).ok_or_else(|| Error::BadRule {
                problem: format!("invalid limit of bytes `{text}`"),
                help: "write bytes and a time, as in `1MiB/s` or `100KiB/m burst 1MiB`; a burst is at most what comes in 100 years",
            })
        };
        self.byte_limit.as_ref().map(read).transpose()
    }

    /// Returns the rules.
    pub(super) fn take_rules(&mut self) -> Result<Vec<Rule>, Error> {
        let rule = |(selector, value, of): (String, String, RuleOf)| {
            let error = |problem, help| Error::BadRule { problem, help };
            let selector =
                Selector::parse(&selector).map_err(|it| error(it.to_string(), it.help()))?;
            let call_limit = || {
                Limit::parse(&value)
                    .map(Some)
                    .ok_or_else(|| error(format!("invalid limit `{value}`"), limit::HELP))
            };
            let rate = || {
                Rate::parse(&value)
                    .map(Some)
                    .ok_or_else(|| error(format!("invalid rate `{value}`"), Rate::help(&value)))
            };
            let mut setting = SiteSetting::default();
            match of {
                RuleOf::Call => setting.limit = Some(call_limit()?),
                RuleOf::Group => setting.group_limit = Some(call_limit()?),
                RuleOf::Sample => setting.sample = Some(rate()?),
                RuleOf::Switch => {
                    setting = SiteSetting::parse(&value)
                        .map_err(|word| error(format!("unknown word `{word}`"), SITE_WORDS_HELP))?;
                }
            }
            if selector.is_by_arguments() && setting.is_of_calls() {
                return Err(error(BY_ARGUMENT.to_owned(), BY_ARGUMENT_HELP));
            }
            Ok(Rule::of_start(&selector, setting, SettingSource::Other))
        };
        std::mem::take(&mut self.rules).into_iter().map(rule).collect()
    }
}

/// The kinds of rules that come with a session.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuleOf {
    /// A limit of each call.
    Call,
    /// A limit of all calls in a group.
    Group,
    /// A rate.
    Sample,
    /// Switches, by the words of a rule.
    Switch,
}

/// Applies the rules of a session that starts, and says which of them take no call.
pub(super) fn apply(new: Vec<Rule>) {
    let selectors: Vec<_> = new.iter().map(|rule| rule.selector.clone()).collect();
    rules::apply(new);
    // Groups of bridges come with their first message.
    let known = if selectors.is_empty() || level::has_observers() { None } else { all_groups() };
    let Some(groups) = known else { return };
    let with_calls = rules::groups_with_calls();
    for rule in rules::rules().iter().filter(|rule| selectors.contains(&rule.selector)) {
        // In a group without calls that are known, messages may come at run time, of which neither
        // module nor file is known.
        let may_come = |group: &String| {
            let call = Call { group, module: "\0", file: "\0", ..Call::default() };
            let selector = Selector::parse(&rule.selector);
            !with_calls.contains(group) && selector.is_ok_and(|it| it.may_take(&call))
        };
        if rule.calls == 0 && !groups.iter().any(may_come) {
            let problem = rule.problem.clone().unwrap_or_else(|| {
                format!(
                    "no call of this program is taken by `{}`\n\
                     help: see `protologtool configuration site list`",
                    rule.selector
                )
            });
            let text = format!("protolog: {problem}\n");
            text_queue::write_line(text.as_bytes());
        }
    }
}
