//! Groups that C declares: `struct protolog_groups`, and the questions of calls.

use crate::note::{Call, Site};
use crate::result::{Failure, run};
use protolog_core::Level;
use protolog_rt::foreign::{self, GroupInfo, SwitchPage};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The most groups of one enum.
const MOST: u32 = 1024;

/// `struct protolog_groups`.
///
/// Invariant: *groups*: what `PROTOLOG_DEFINE_GROUPS` defines: `page` is a page of words for as
/// many groups as `count` says, `names` and `infos` have so many entries, and all of it is static.
/// Only [`infos_of`] writes to `infos`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Groups {
    pub(crate) size: u32,
    pub(crate) count: u32,
    pub(crate) page: *mut c_void,
    pub(crate) name: *const c_char,
    pub(crate) names: *const *const c_char,
    pub(crate) infos: *const AtomicPtr<c_void>,
}

/// Makes groups known before they log.
///
/// # Contract
/// `groups` is null or that of a `PROTOLOG_DEFINE_GROUPS`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_register_groups(groups: *const Groups) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let infos = unsafe { checked(groups) }?;
        foreign::register_groups(infos);
        Ok(())
    })
}

/// Prints the messages of a group from a level on.
///
/// # Contract
/// As [`protolog_register_groups`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protolog_print_group(
    groups: *const Groups,
    group: u32,
    level: u32,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let infos = unsafe { checked(groups) }?;
        let group = infos.get(group as usize).ok_or_else(|| {
            Failure::argument(&format!("there is no group `{group}`"), "pass `SET_GROUP`")
        })?;
        foreign::print(group, level_or_off(level)?);
        Ok(())
    })
}

/// Returns whether a call is on, of a group that is not registered yet, or has rules for single
/// calls.
///
/// # Contract
/// As [`protolog_register_groups`], and not null; *call* of [`Call`] but for `group_level`.
#[unsafe(export_name = "protolog__ask")]
unsafe extern "C" fn ask(
    groups: *const Groups,
    group: u32,
    level: u32,
    note: *const u8,
    site: *const Site,
) -> c_int {
    // SAFETY: the caller's promise.
    let ask = || unsafe { is_on(groups, group, level, note, site) };
    let errno = crate::printf::errno();
    // A panic would be a fault of ours; then the call is off.
    let is_on = catch_unwind(AssertUnwindSafe(ask)).unwrap_or_default();
    crate::printf::set_errno(errno);
    c_int::from(is_on)
}

/// Returns whether a call of the group may log.
///
/// # Contract
/// As [`protolog_register_groups`], and not null.
#[unsafe(export_name = "protolog__may_log")]
unsafe extern "C" fn may_log(groups: *const Groups, group: u32, level: u32) -> c_int {
    let ask = || {
        // SAFETY: the caller's promise.
        let infos = unsafe { checked(groups) }.ok()?;
        let level = Level::from_severity(u8::try_from(level).ok()?)?;
        Some(infos.get(group as usize)?.is_enabled(level))
    };
    c_int::from(catch_unwind(AssertUnwindSafe(ask)).ok().flatten().unwrap_or_default())
}

/// Returns the level of this number; none for `PROTOLOG_OFF`.
pub(crate) fn level_or_off(level: u32) -> Result<Option<Level>, Failure> {
    let known = u8::try_from(level).ok().and_then(Level::from_severity);
    if known.is_none() && level != Level::ALL.len() as u32 {
        let what = format!("`{level}` is no level");
        return Err(Failure::argument(&what, "pass one of `enum protolog_level`"));
    }
    Ok(known)
}

/// # Safety
/// As [`ask`].
unsafe fn is_on(
    groups: *const Groups,
    group: u32,
    level: u32,
    note: *const u8,
    site: *const Site,
) -> bool {
    // SAFETY: the caller's promise.
    let Ok(infos) = (unsafe { checked(groups) }) else { return false };
    let Some(info) = infos.get(group as usize) else { return false };
    let group_level = (&raw const *info).cast::<u8>().wrapping_add(level as usize % 6);
    let call = Call { note, group_level, site };
    foreign::is_on(call.with_id(crate::printf::id(call)))
}

/// Returns the groups at run time, after checking what can be checked.
///
/// # Safety
/// As [`protolog_register_groups`].
unsafe fn checked(groups: *const Groups) -> Result<&'static [GroupInfo], Failure> {
    // SAFETY: the caller's promise: null, or a static.
    let groups = unsafe { groups.as_ref() }.ok_or_else(|| Failure::null("groups"))?;
    let size = size_of::<Groups>();
    if groups.size as usize != size || !(1..=MOST).contains(&groups.count) {
        let what = format!("the groups have {} bytes, where {size} are known", groups.size);
        return Err(Failure::argument(&what, "compile with the header of this library"));
    }
    if !groups.page.cast::<SwitchPage>().is_aligned() {
        return Err(Failure::argument("the page of groups is not aligned", "use the macros"));
    }
    Ok(infos_of(groups))
}

/// Returns the groups at run time, creating them at the first call. Of two threads that create them
/// at once, one takes those of the other; its own never register.
fn infos_of(groups: &Groups) -> &'static [GroupInfo] {
    // SAFETY: *groups*.
    let infos = unsafe { slice::from_raw_parts(groups.infos, groups.count as usize) };
    let all = |first: *mut c_void| {
        // SAFETY: the first entry is only set, below, to the first of as many as there are entries.
        unsafe { slice::from_raw_parts(first.cast::<GroupInfo>(), infos.len()) }
    };
    let (first, last) = (&infos[0], &infos[infos.len() - 1]);
    if !last.load(Ordering::Acquire).is_null() {
        return all(first.load(Ordering::Acquire));
    }
    let made = created(groups).as_ptr().cast_mut().cast();
    let before = first.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
    let all = all(if let Err(other) = before { other } else { made });
    // In this order the last one is last, whoever stores it.
    for (to, info) in infos.iter().zip(all).skip(1) {
        to.store((&raw const *info).cast_mut().cast(), Ordering::Release);
    }
    all
}

/// Creates groups.
fn created(groups: &Groups) -> &'static [GroupInfo] {
    // SAFETY: *groups*, and the page was found to be aligned; all its words are atomic.
    let page = unsafe { &*groups.page.cast::<SwitchPage>() };
    // SAFETY: *groups*.
    let names = unsafe { slice::from_raw_parts(groups.names, groups.count as usize) };
    let text = |name: *const c_char| {
        // SAFETY: *groups*: names are texts of the macros.
        unsafe { CStr::from_ptr(name) }.to_string_lossy()
    };
    let set = text(groups.name);
    let tags: Vec<_> = names.iter().map(|name| text(*name)).collect();
    let names: Vec<_> = tags.iter().map(|tag| format!("{set}::{tag}")).collect();
    let texts: Vec<_> =
        names.iter().zip(&tags).map(|(name, tag)| (name.as_str(), &**tag)).collect();
    foreign::declare(page, &texts)
}
