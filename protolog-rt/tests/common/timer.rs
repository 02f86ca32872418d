//! A timer that interrupts one thread with a signal. Included by the test binaries that do so,
//! since it calls libc.

/// Sends SIGUSR1 to this thread at intervals.
pub(crate) struct Timer(libc::timer_t);

impl Timer {
    pub(crate) fn start(microseconds: u32) -> Self {
        // SAFETY: `sigevent` has only integers and raw pointers, for which zero is valid.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGUSR1;
        // SAFETY: no arguments, no effects.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = std::ptr::null_mut();
        // SAFETY: the pointers are to an event and a timer of ours.
        let made =
            unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
        assert_eq!(made, 0);
        let every = libc::timespec { tv_sec: 0, tv_nsec: libc::c_long::from(microseconds) * 1_000 };
        let times = libc::itimerspec { it_interval: every, it_value: every };
        // SAFETY: the timer exists; the pointers are to times of ours and null.
        let set = unsafe { libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()) };
        assert_eq!(set, 0);
        Self(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: `start` created the timer, and only this function deletes it.
        unsafe { libc::timer_delete(self.0) };
    }
}
