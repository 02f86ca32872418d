//! Many programs for a while: sessions come and go and overlap, the service is killed and started
//! again, programs are killed and replaced. Each session's trace has exactly what was logged in it.

mod reconnects;

use crate::child::RunningChild;
use crate::service::{Service, all};
use std::time::{Duration, Instant};

/// The seconds that it takes; a few where nobody says.
const SECONDS: &str = "PROTOLOG_SOAK_SECONDS";

const PROGRAMS: usize = 6;
const JOB: &str = "threads=3 count=400 size=300";

/// A program, and how much of what it logged has been compared.
struct Program {
    child: RunningChild,
    seen: usize,
}

impl Program {
    fn start(service: &Service, number: usize) -> Self {
        Self { child: service.child(JOB, &format!("program-{number}")), seen: 0 }
    }

    /// Its messages since the last call.
    fn news(&mut self) -> Vec<String> {
        let logged = self.child.logged();
        logged[std::mem::replace(&mut self.seen, logged.len())..].to_vec()
    }
}

/// Sends all of them a line.
fn ask(programs: &mut [Program], line: &str) {
    for it in programs {
        it.child.ask(line);
    }
}

/// Waits until all have done what they were asked.
fn wait(programs: &mut [Program]) {
    for it in programs {
        it.child.expect("done");
    }
}

/// Has all of them do something, at the same time.
fn tell(programs: &mut [Program], line: &str) {
    ask(programs, line);
    wait(programs);
}

#[test]
fn sessions_services_and_programs_come_and_go_and_nothing_is_lost() {
    let Some(mut service) = Service::start() else { return };
    let seconds = std::env::var(SECONDS).ok().and_then(|it| it.parse().ok()).unwrap_or(4);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut programs: Vec<_> = (0..PROGRAMS).map(|at| Program::start(&service, at)).collect();
    for round in 0_usize.. {
        tell(&mut programs, "connected");
        tell(&mut programs, "sessions 0");
        // Nobody records it.
        tell(&mut programs, "log count=50");
        for it in &mut programs {
            it.news();
        }

        let whole = service.session(&all());
        tell(&mut programs, "sessions 1");
        tell(&mut programs, "log");
        let mut of_whole: Vec<_> = programs.iter_mut().map(Program::news).collect();
        let mut later = service.session(&all());
        tell(&mut programs, "sessions 2");
        // All at once, while the service is asked to flush.
        ask(&mut programs, "log");
        later.flush(Duration::from_secs(30)).expect("flush");
        wait(&mut programs);
        let of_both: Vec<_> = programs.iter_mut().map(Program::news).collect();
        service.stop(later).check(&of_both);
        of_whole.extend(of_both);
        tell(&mut programs, "sessions 1");
        service.stop(whole).check(&of_whole);

        if Instant::now() >= end {
            println!("{round} rounds, {} programs", PROGRAMS + round);
            break;
        }
        if round % 2 == 1 {
            // What is recorded then is lost with it.
            let _lost = service.session(&all());
            tell(&mut programs, "sessions 1");
            ask(&mut programs, "log count=20000");
            service.restart();
            wait(&mut programs);
        }
        let next = Program::start(&service, PROGRAMS + round);
        let killed = std::mem::replace(&mut programs[round % PROGRAMS], next);
        killed.child.kill();
    }
    for it in programs {
        it.child.end();
    }
}
