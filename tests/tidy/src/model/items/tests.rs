//! Items found in small files.

use super::{Definition, Items, items};

fn read(text: &str) -> Items {
    items(&syn::parse_file(text).unwrap())
}

fn names(definitions: &[Definition]) -> Vec<&str> {
    definitions.iter().map(|it| it.name.as_str()).collect()
}

#[test]
fn trees_of_imports_are_taken_apart() {
    let found = read("pub(crate) use a::{b::{self, C as D}, e::*};\nuse ::f;\n");
    let paths: Vec<_> = found
        .paths
        .iter()
        .map(|path| (path.line, path.segments.join("::"), path.alias.as_deref().unwrap_or("")))
        .collect();
    let expected = [(1, "a::b", "b"), (1, "a::b::C", "D"), (1, "a::e", "*"), (2, "f", "f")];
    assert_eq!(paths, expected.map(|(line, path, alias)| (line, path.to_owned(), alias)));
}

#[test]
fn paths_in_code_are_found() {
    let found = read(
        "fn f(x: &'static str) -> a::B<c::D> { x.e(); g::h!(); <T as i::J>::k(); }\n\
         macro_rules! n { () => { use $crate::o::P as _; $crate::l::m(); .x::y; ::z::w } }\n",
    );
    let paths: Vec<String> = found.paths.iter().map(|path| path.segments.join("::")).collect();
    assert_eq!(paths, ["a::B", "c::D", "g::h", "i::J::k"]);
}

#[test]
fn types_of_members_and_templates_are_none() {
    let found = read(
        "struct A<T>(T);\nenum B { C(D) }\nimpl E for A { type F = u8; fn g() { struct H; } }\n\
         trait I { type J; }\nmacro_rules! k { () => { struct L; } }\ntype M = N;\n",
    );
    let expected = ["A", "B", "H", "I", "M"];
    assert_eq!(names(&found.types), expected);
    assert_eq!(found.types[1].words, ["C", "D"]);
}

#[test]
fn statics_say_their_types() {
    let found = read(
        "static A: Mutex<[u8; 3]> = Mutex::new([0; 3]);\nfn f() -> &'static u8 { static mut B: C = D; }\n\
         thread_local! { static E: Mutex<u8> = F; }\n",
    );
    assert_eq!(names(&found.statics), ["A", "B"]);
    assert_eq!(found.statics[0].words, ["Mutex", "u8"]);
}

#[test]
fn items_of_tests_are_marked() {
    let found = read(
        "struct A;\n#[cfg(test)]\nmod tests {\n    use super::*;\n    struct B;\n}\n#[cfg(test)]\nuse a::C;\nuse a::D;\n\
         #[cfg(all(test, unix))]\nstruct E {\n    f: G,\n}\n#[cfg(unix)]\nstruct H;\n",
    );
    let types: Vec<_> = found.types.iter().map(|it| (it.name.as_str(), it.is_test)).collect();
    assert_eq!(types, [("A", false), ("B", true), ("E", true), ("H", false)]);
    let paths: Vec<_> = found.paths.iter().map(|it| (it.segments.join("::"), it.is_test)).collect();
    let expected = [("super", true), ("a::C", true), ("a::D", false)];
    assert_eq!(paths, expected.map(|(path, test)| (path.to_owned(), test)));
    assert_eq!(found.types[3].cfg.as_deref(), Some("#[cfg(unix)]"));
}

#[test]
fn modules_say_where_they_are() {
    let found =
        read("mod a;\n#[path = \"x/y.rs\"]\nmod b;\nmod c { mod d {} }\n#[cfg(test)]\nmod e;\n");
    let modules: Vec<_> = found
        .modules
        .iter()
        .map(|it| (it.path.join("::"), it.is_inline, it.is_test, it.file.as_deref()))
        .collect();
    let expected = [
        ("a", false, false, None),
        ("b", false, false, Some("x/y.rs")),
        ("c", true, false, None),
        ("c::d", true, false, None),
        ("e", false, true, None),
    ];
    let expected = expected.map(|(path, inline, test, file)| (path.to_owned(), inline, test, file));
    assert_eq!(modules, expected);
}
