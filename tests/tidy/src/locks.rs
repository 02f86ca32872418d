//! No `static` of the runtime holds a lock that the fork handlers do not know.
//!
//! A child of a process with threads gets locks as they were at the fork, and those that another
//! thread held are never released. So each lock of the whole process registers itself with the fork
//! handlers, and the type that does is the only one for statics.

use super::model::{Definition, Target};
use super::{Finding, Place};

/// The crate that programs link, and the type that its statics use.
const PACKAGE: &str = "protolog-rt";
const ALLOWED: &str = "ForkLock";

/// The standard library's types that one thread can hold while another forks.
const LOCKS: [&str; 6] = ["Mutex", "RwLock", "Condvar", "Once", "LazyLock", "Barrier"];

/// One finding per static.
pub(super) fn check(targets: &[Target]) -> Vec<Place> {
    let product = |target: &&Target| target.is_product && target.package == PACKAGE;
    targets.iter().filter(product).flat_map(check_crate).collect()
}

fn check_crate(target: &Target) -> Vec<Place> {
    let types = target.definitions(|items| &items.types);
    let mut found = Vec::new();
    for (file, definition) in target.definitions(|items| &items.statics) {
        let Some(lock) = lock_in(definition, &types) else { continue };
        let what = format!(
            "the static `{}` holds {lock}; make it a `{ALLOWED}`, which forks know",
            definition.name
        );
        let finding = Finding { line: definition.line, what };
        found.push(Place { file: file.to_owned(), finding });
    }
    found
}

/// The lock in the type of a static, or in a type of the crate that it names.
fn lock_in(definition: &Definition, types: &[(&str, &Definition)]) -> Option<String> {
    if definition.words.iter().any(|word| word == ALLOWED) {
        return None;
    }
    let own = |words: &[String]| {
        words.iter().find(|word| LOCKS.contains(&word.as_str())).map(|lock| format!("a `{lock}`"))
    };
    own(&definition.words).or_else(|| {
        let named = types.iter().filter(|(_, it)| definition.words.contains(&it.name));
        let mut locks = named.filter_map(|(_, it)| {
            let fields_are_known = it.words.iter().any(|word| word == ALLOWED);
            let lock = own(&it.words).filter(|_| !fields_are_known)?;
            Some(format!("{lock}, in `{}`", it.name))
        });
        locks.next()
    })
}

#[cfg(test)]
mod tests {
    use super::super::check_found;
    use super::super::model::{Target, sources};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let sources = sources(&format!("== protolog-rt/src/lib.rs\nmod a;\nmod sys;\n{text}"));
        let target = Target::read(super::PACKAGE, "protolog-rt/src/lib.rs", true, &sources);
        check_found(&super::check(&[target]), expected);
    }

    #[test]
    fn a_static_lock_is_refused_even_within_a_type() {
        check(
            "== protolog-rt/src/a.rs\nstatic A: Mutex<Vec<u8>> = Mutex::new(Vec::new());\n\
             struct Table {\n    entries: RwLock<u8>,\n}\nfn f() {\n    static B: [Table; 2] = T;\n}\n",
            &[
                "protolog-rt/src/a.rs:1: the static `A` holds a `Mutex`; make it a `ForkLock`, which forks know",
                "protolog-rt/src/a.rs:6: the static `B` holds a `RwLock`, in `Table`; make it a `ForkLock`, which forks know",
            ],
        );
    }

    #[test]
    fn locks_that_forks_know_and_locks_of_threads_and_tests_are_not() {
        check(
            "== protolog-rt/src/a.rs\nstatic A: ForkLock<u8> = ForkLock::new(1);\nstruct T { lock: ForkLock<Mutex<u8>> }\n\
             static B: T = T::new();\nstatic C: AtomicU8 = AtomicU8::new(1);\n\
             thread_local! { static D: Mutex<u8> = X; }\n#[cfg(test)]\nmod tests { static E: Mutex<u8> = X; }\n",
            &[],
        );
    }
}
