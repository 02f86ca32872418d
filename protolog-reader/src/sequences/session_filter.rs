//! The filters of a trace's sessions.

use protolog_core::control::matches_group;
use protolog_core::schema::{filter, filter_group, sequence_info};
use protozero::{DecodeError, Field};

/// The filter of a session: the levels that it records, as sets with a bit for each severity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionFilter {
    pub(crate) default_levels: u8,
    /// Names as the program wrote them, with their levels; none for names of groups whose stack
    /// traces are recorded.
    pub(crate) groups: Vec<(String, Option<u8>)>,
    /// Groups may come with their first message.
    pub(crate) is_open: bool,
}

/// The filter of all sessions so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommonFilter {
    /// No session has one.
    #[default]
    None,
    One(SessionFilter),
    /// Sessions have different ones.
    Several,
}

impl CommonFilter {
    /// Takes the filter of a further session, if its `SEQUENCE_INFO` has one.
    pub(crate) fn note(&mut self, info: Field<'_>) {
        let Ok(Some(new)) = SessionFilter::of(info) else { return };
        match self {
            Self::None => *self = Self::One(new),
            Self::One(old) if *old != new => *self = Self::Several,
            _ => {}
        }
    }

    /// The filter, if there is one and all sessions have it.
    pub(crate) fn one(&self) -> Option<&SessionFilter> {
        if let Self::One(filter) = self { Some(filter) } else { None }
    }
}

impl SessionFilter {
    /// The filter in a `SEQUENCE_INFO`.
    fn of(info: Field<'_>) -> Result<Option<Self>, DecodeError> {
        let mut found = None;
        for field in info.as_message()? {
            let field = field?;
            if field.number == sequence_info::FILTER {
                found = Some(Self::parse(field)?);
            }
        }
        Ok(found)
    }

    fn parse(field: Field<'_>) -> Result<Self, DecodeError> {
        let mut parsed = Self::default();
        for field in field.as_message()? {
            let field = field?;
            match field.number {
                filter::DEFAULT_LEVELS => parsed.default_levels = field.as_u32()? as u8,
                filter::IS_OPEN => parsed.is_open = field.as_bool()?,
                filter::GROUP => {
                    let (mut name, mut levels) = (String::new(), None);
                    for field in field.as_message()? {
                        let field = field?;
                        match field.number {
                            filter_group::NAME => {
                                name = String::from_utf8_lossy(field.as_bytes()?).into_owned();
                            }
                            filter_group::LEVELS => levels = Some(field.as_u32()? as u8),
                            _ => {}
                        }
                    }
                    parsed.groups.push((name, levels));
                }
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// Names that something was to be recorded of and that stand for none of these groups.
    pub(crate) fn unknown<'a>(&'a self, groups: &[&str]) -> impl Iterator<Item = &'a str> {
        let wanted = self.groups.iter().filter(|(_, levels)| *levels != Some(0));
        let names = wanted.map(|(name, _)| name.as_str());
        names.filter(|name| !groups.iter().any(|group| matches_group(name, group)))
    }
}
