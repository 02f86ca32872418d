//! More groups than an enum can have, in rewritten code: the page of switches counts always.
use protolog_rt::ProtoLogGroup;

enum Many {
    Net,
}

/// One group for each pair of tokens.
macro_rules! groups {
    ([$($row:tt)*] $columns:tt) => { groups! { @ $($row $columns)* } };
    (@ $($row:tt [$($column:tt)*])*) => { groups! { = $($($column)*)* } };
    (= $($group:tt)*) => {
        protolog_rt::__rewritten_groups! {
            ProtoLogGroup; Many; $( Net, { let _ = $group; 0 }, "Many::Net", "Net", true, false,; )*
        }
    };
}

groups! {
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25]
    [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41]
}

fn main() {}
