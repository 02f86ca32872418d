//! Android's dialects, as pairs of texts, as programs, and as a build rule.
//!
//! `cases/*.txt` hold sources and what becomes of them in both dialects (`UPDATE_EXPECT=1` rewrites
//! that). All are compiled with the class that is made of a template in the shape of the release's,
//! and run in both states of the guard: they must do what the unprocessed sources do. `facts` pins
//! what AOSP's own tests expect. `rule` is a build rule of Android, word for word.
//! `fixtures/framework` is a small Android.

#[path = "../harness/cases.rs"]
mod cases;
#[path = "../harness/trace.rs"]
mod trace;
#[path = "../harness/unit.rs"]
mod unit;

mod case;
#[path = "../kotlin/compiler.rs"]
mod compiler;
mod facts;
mod flags;
mod pairs;
mod rule;
mod run;
mod soong;
mod template;
mod wrappers;
