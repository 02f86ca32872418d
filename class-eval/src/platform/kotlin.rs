//! The methods that kotlinc's code calls on its own: checks of parameters, comparisons, an enum's
//! entries.

use super::{Answer, Args, Entry, answer, new_string, void};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::text;

pub(super) const TABLE: &[Entry] = &[
    (
        "kotlin/jvm/internal/Intrinsics.checkNotNullParameter(Ljava/lang/Object;Ljava/lang/String;)V",
        check,
    ),
    (
        "kotlin/jvm/internal/Intrinsics.checkParameterIsNotNull(Ljava/lang/Object;Ljava/lang/String;)V",
        check,
    ),
    (
        "kotlin/jvm/internal/Intrinsics.checkNotNullExpressionValue(Ljava/lang/Object;Ljava/lang/String;)V",
        check,
    ),
    (
        "kotlin/jvm/internal/Intrinsics.checkExpressionValueIsNotNull(Ljava/lang/Object;Ljava/lang/String;)V",
        check,
    ),
    ("kotlin/jvm/internal/Intrinsics.checkNotNull(Ljava/lang/Object;)V", |_, a| {
        a.object(0)?;
        void()
    }),
    ("kotlin/jvm/internal/Intrinsics.checkNotNull(Ljava/lang/Object;Ljava/lang/String;)V", check),
    ("kotlin/jvm/internal/Intrinsics.areEqual(Ljava/lang/Object;Ljava/lang/Object;)Z", |m, a| {
        answer(m.equal(a.at(0)?, a.at(1)?)?)
    }),
    (
        "kotlin/jvm/internal/Intrinsics.stringPlus(Ljava/lang/String;Ljava/lang/Object;)Ljava/lang/String;",
        |m, a| {
            let mut out = Vec::new();
            m.append(&mut out, a.at(0)?, "Ljava/lang/String;")?;
            m.append(&mut out, a.at(1)?, "Ljava/lang/Object;")?;
            new_string(m, out)
        },
    ),
    (
        "kotlin/enums/EnumEntriesKt.enumEntries([Ljava/lang/Enum;)Lkotlin/enums/EnumEntries;",
        |m, a| super::util::list(m, a, "kotlin/enums/EnumEntries"),
    ),
];

/// The first argument must not be null; the second describes it.
fn check(machine: &mut Machine<'_>, a: Args<'_>) -> Answer {
    if a.at(0)?.reference()?.is_none() {
        let what = text::to_string(&a.text(1, machine)?);
        return Err(Fault::thrown("java.lang.NullPointerException", what));
    }
    void()
}
