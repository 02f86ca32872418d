//! The names of levels beside macros of other loggers that have the same names.
use protolog_rt::ProtoLogGroup;

/// As `log` and `tracing` have them.
mod others {
    macro_rules! print {
        ($text:literal $(, $argument:expr)*) => { println!($text $(, $argument)*) };
    }
    pub(crate) use print as info;
    pub(crate) use print as debug;
}

#[derive(ProtoLogGroup)]
enum AppLog {
    Net,
}

mod by_name {
    use crate::others::info;
    use protolog_rt::levels::*;

    fn log() {
        info!(crate::AppLog::Net, "the macro that is imported by name");
        debug!(crate::AppLog::Net, "one of ours");
    }
}

mod ours_by_name {
    use crate::others::*;
    use protolog_rt::levels::info;

    fn log() {
        info!(crate::AppLog::Net, "one of ours");
        debug!("one of theirs");
    }
}

mod twice {
    use crate::others::info;
    use protolog_rt::levels::info;
}

fn main() {}
