//! The process: its id and its user.
//!
//! The id is asked for with each chunk that a thread takes, and the C library asks the kernel each
//! time. So it is kept on a page that the kernel wipes in every child that has memory of its own,
//! however the child was made.
//!
//! Invariant: *wiped*: a page that holds the id was mapped and marked wiped before anybody could
//! see it, stays mapped, and is used as one atomic only.

use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use protolog_core::control::program_name;

/// The process's id, or 0, on a page that the kernel wipes in a child; null where there is no such
/// page.
static KEPT_ID: AtomicPtr<AtomicU32> = AtomicPtr::new(std::ptr::null_mut());

/// Creates the page that caches the process's id, where the kernel has such pages. Called by one
/// thread at a time; a child may have the page from its parent.
pub(super) fn prepare() {
    if !KEPT_ID.load(Ordering::Relaxed).is_null() {
        return;
    }
    if let Some(page) = wiped_page() {
        KEPT_ID.store(page, Ordering::Release);
    }
}

/// Returns the process's id, mostly without a system call.
#[inline]
pub(crate) fn id() -> u32 {
    // SAFETY: *wiped*: null, or a page that stays mapped, with zeros or an id, which is used as
    // this atomic only.
    let kept = unsafe { KEPT_ID.load(Ordering::Acquire).as_ref() };
    match kept.map(|kept| kept.load(Ordering::Relaxed)) {
        Some(id) if id != 0 => id,
        _ => ask(kept),
    }
}

/// Returns the process's id, as the system says it, also in a child that no handler knows of.
#[inline]
pub(crate) fn asked_id() -> u32 {
    std::process::id()
}

/// Returns the name of the program.
pub(crate) fn program() -> String {
    let path = std::env::current_exe().ok().or_else(|| std::env::args_os().next().map(Into::into));
    let path = path.unwrap_or_default();
    match program_name(&path.to_string_lossy()) {
        "" => "unknown".into(),
        name => name.into(),
    }
}

/// Returns 16 random bytes; of a kernel that has none to give, the time and the process's id.
pub(crate) fn random_id() -> [u8; 16] {
    let mut id = [0; 16];
    if fill_with_random(&mut id) {
        return id;
    }
    let nanos = super::time::nanos(super::time::Clock::Realtime);
    (u128::from(nanos) << 32 | u128::from(std::process::id())).to_ne_bytes()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn fill_with_random(id: &mut [u8; 16]) -> bool {
    // SAFETY: the kernel writes at most 16 bytes to the address, where there are as many.
    let got = unsafe { libc::getrandom(id.as_mut_ptr().cast(), id.len(), libc::GRND_NONBLOCK) };
    got == id.len() as isize
}

#[cfg(target_vendor = "apple")]
fn fill_with_random(id: &mut [u8; 16]) -> bool {
    // SAFETY: the kernel writes 16 bytes to the address, where there are as many.
    unsafe { libc::getentropy(id.as_mut_ptr().cast(), id.len()) == 0 }
}

/// Asks the kernel, and keeps the answer.
#[cold]
#[inline(never)]
fn ask(kept: Option<&AtomicU32>) -> u32 {
    let id = std::process::id();
    if let Some(kept) = kept {
        kept.store(id, Ordering::Relaxed);
    }
    id
}

/// Maps a page of zeros that is zeros again in a child; none on a kernel before 4.14.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn wiped_page() -> Option<*mut AtomicU32> {
    const SIZE: usize = 4096;
    let (protection, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory that is in use.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the page was just mapped, and nobody else has it.
    if unsafe { libc::madvise(page, SIZE, libc::MADV_WIPEONFORK) } == 0 {
        return Some(page.cast());
    }
    // SAFETY: the page was just mapped, and its address is forgotten here.
    unsafe { libc::munmap(page, SIZE) };
    None
}

/// On macOS the C library keeps the id.
#[cfg(target_vendor = "apple")]
fn wiped_page() -> Option<*mut AtomicU32> {
    None
}

/// Returns whether there is a process with this id, other than this one.
pub(crate) fn is_other_process(id: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(id) else { return false };
    if pid <= 0 || id == std::process::id() {
        return false;
    }
    // SAFETY: takes numbers; signal 0 is none.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Returns the id of the user that the process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::geteuid() }
}

/// Returns the id of the user that started the process.
pub(crate) fn real_user() -> u32 {
    // SAFETY: no arguments, no effects.
    unsafe { libc::getuid() }
}

/// Returns a number that tells the process apart from others of this boot with the same id: of its
/// namespace of process ids (containers have one each), and of the time at which it was started.
pub(crate) fn fingerprint() -> Option<u64> {
    let status = std::fs::read("/proc/self/stat").ok()?;
    // After the name, in parentheses, that may hold any bytes: the state is field 3, the time of
    // the start field 22.
    let after = status.iter().rposition(|byte| *byte == b')')? + 1;
    let start = status.get(after..)?.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
    let mut parts = start.skip(22 - 3).take(1).collect::<Vec<_>>().concat();
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    parts.push(b' ');
    parts.extend_from_slice(namespace.as_os_str().as_encoded_bytes());
    Some(protolog_core::hash(&parts))
}

/// Returns whether shared memory ends with the container that the process runs in: it is
/// a file system of the container's own, as container engines make it (`shm`), or the root is one
/// that they put together (`overlay`).
pub(crate) fn has_memory_of_container() -> bool {
    std::fs::read("/proc/self/mountinfo")
        .is_ok_and(|mounts| is_container(&String::from_utf8_lossy(&mounts)))
}

fn is_container(mounts: &str) -> bool {
    let is_of_container = |line: &str| {
        // Where it is, fifth; behind a dash what it is, and what it was mounted from.
        let (place, what) = line.split_once(" - ")?;
        let (kind, from) = what.split_once(' ')?;
        let from = from.split(' ').next()?;
        match place.split(' ').nth(4)? {
            "/" => Some(kind == "overlay"),
            "/dev/shm" => Some(kind == "tmpfs" && from == "shm"),
            _ => None,
        }
    };
    mounts.lines().any(|line| is_of_container(line) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_have_memory_of_their_own() {
        let host = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
                    25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k\n\
                    31 24 0:29 / /mnt/overlay rw - overlay overlay rw,lowerdir=/a\n";
        assert!(!is_container(host) && !is_container("") && !is_container("odd\n - \n"));
        let docker = "573 540 0:48 / /dev/shm rw,nosuid,nodev shared:1 - tmpfs shm rw,size=65536k";
        assert!(is_container(docker) && is_container(&format!("{host}{docker}")));
        assert!(is_container("540 1 0:46 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib"));
    }

    #[test]
    fn a_process_keeps_its_fingerprint() {
        let fingerprint = fingerprint();
        assert_eq!(fingerprint, super::fingerprint());
        assert!(fingerprint.is_some(), "on Linux with /proc");
    }

    #[test]
    fn every_child_knows_its_own_id() {
        prepare();
        assert_eq!(id(), std::process::id());
        // Not by the C library, so that no handler runs.
        let flags = libc::SIGCHLD;
        // SAFETY: without a stack and flags it is a fork.
        let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as libc::pid_t;
        if pid == 0 {
            let own = std::process::id();
            let good = id() == own && id() == own;
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(!good as i32) };
        }
        let mut status = -1;
        // SAFETY: the pointer is to an integer of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
        assert_eq!((status, id()), (0, std::process::id()));
    }
}
