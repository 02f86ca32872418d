//! Rules of single calls that come with a session: limits.
//!
//! Invariant: a rule that can't be read is an error of the start, before anything has happened.

use crate::error::Error;
use crate::level::SettingSource;
use crate::level::rules::{self, Rule};
use crate::session::builder::Builder;
use protolog_core::control::limit::Limit;
use protolog_core::control::selector::Selector;
use protolog_core::control::site_rule::SiteSetting;

impl Builder {
    /// Limits each call that `selector` takes to `limit`, as in `100/s`, or `2/m burst 10` with
    /// more at once. Messages beyond it are not written, their arguments not evaluated, and the
    /// trace says how many there were, of which group, and when
    /// ([`LossCause::Limited`](crate::LossCause::Limited)).
    ///
    /// It is a rule of the program, from the start of the session on, like that of an operator: it
    /// holds for all sessions and the text output, until another one of the same selector comes.
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
        self.rules.push((selector.into(), limit.into(), LimitOf::Call));
        self
    }

    /// As [`Self::limit`], for all calls together that `selector` takes in a group.
    pub fn group_limit(mut self, selector: impl Into<String>, limit: impl Into<String>) -> Self {
        self.rules.push((selector.into(), limit.into(), LimitOf::Group));
        self
    }

    /// Returns the rules.
    pub(super) fn take_rules(&mut self) -> Result<Vec<Rule>, Error> {
        let rule = |(selector, limit, of): (String, String, LimitOf)| {
            let error = |problem, help| Error::BadRule { problem, help };
            let selector =
                Selector::parse(&selector).map_err(|it| error(it.to_string(), it.help()))?;
            let limit = Limit::parse(&limit).ok_or_else(|| {
                let help = "write a number and a time, as in `100/s`, `2/m burst 10` or `30/h`";
                error(format!("invalid limit `{limit}`"), help)
            })?;
            let setting = match of {
                LimitOf::Call => SiteSetting { limit: Some(Some(limit)), ..SiteSetting::default() },
                LimitOf::Group => {
                    SiteSetting { group_limit: Some(Some(limit)), ..SiteSetting::default() }
                }
            };
            Ok(Rule::new(&selector, setting, SettingSource::Other))
        };
        std::mem::take(&mut self.rules).into_iter().map(rule).collect()
    }
}

/// The messages that a limit is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum LimitOf {
    /// Those of each call.
    Call,
    /// Those of a group.
    Group,
}

/// Applies the rules of a session that starts.
pub(super) fn apply(all: Vec<Rule>) {
    rules::apply(all);
}
