//! Templates of the class that rewritten code calls: what is read from them, what is put in, and
//! bad ones.

use crate::case::{Release, fixtures, groups};
use protolog_testkit::expect_file;
use protologtool::diagnostic::{Style, render};
use protologtool::inject::{ImplTemplate, Values};
use protologtool::lang::jvm::dialect::{Android, Guard, MaskType};
use protologtool::source::{Source, line_ends};

fn read(text: &str) -> Result<ImplTemplate, String> {
    let source = Source::new("ProtoLogImpl.java", text.as_bytes().to_vec());
    ImplTemplate::read(&source).map_err(|problems| {
        problems.iter().map(|problem| render(problem, &source, Style::default())).collect()
    })
}

#[test]
fn the_class_that_is_made() {
    for release in Release::ALL {
        let path = fixtures().join(release.name()).join("generated.txt");
        expect_file(&path, &String::from_utf8(release.implementation().bytes).unwrap());
    }
}

#[test]
fn a_template_determines_the_form_of_calls() {
    let form = |release: Release| Android { methods: None, ..release.template().form() };
    assert_eq!(form(Release::Android17), Android::ANDROID_17);
    assert_eq!(form(Release::Android16), Android::ANDROID_16);
    // The class can be asked, so that arguments need not be evaluated for nobody.
    assert_eq!(
        form(Release::Android15),
        Android { guard: Guard::IsEnabled, ..Android::ANDROID_15 }
    );
    let bare =
        "class ProtoLogImpl { static void d(G group, long id, int mask, Object... args) {} }";
    let expected =
        Android { guard: Guard::None, passes_text: false, mask: MaskType::Int, methods: None };
    assert_eq!(Android { methods: None, ..read(bare).unwrap().form() }, expected);
}

#[test]
fn line_ends_stay() {
    let text = "package a;\r\nclass T {\r\n  @ProtoLogToolInjected(LOG_GROUPS) static M m;\r\n  static void d(G g, long id, long mask, Object... args) {}\r\n}\r\n";
    let class =
        read(text).unwrap().generate(7, &Android::ANDROID_16, &Values::default(), &groups());
    let class = class.unwrap();
    assert_eq!((class.class.as_str(), class.path.as_str()), ("a.T_7", "gen/a/T_7.java"));
    assert!(line_ends(&class.bytes).all(|end| class.bytes[end] == *b"\r\n"));
}

#[test]
fn what_is_there_is_replaced_or_kept() {
    let text = "final class T { T() { T.d(null, 0, 0); }\n\
        @ProtoLogToolInjected(value = Value.LEGACY_OUTPUT_FILE_PATH) public static final String a = \"x\", b;\n\
        static void d(G g, long id, int mask, Object... args) {} }";
    let values = Values { legacy_output: Some("/data/\"x\".winscope"), ..Values::default() };
    let class = read(text).unwrap().generate(7, &Android::ANDROID_15, &values, &groups()).unwrap();
    assert_eq!(
        String::from_utf8(class.bytes).unwrap(),
        text.replace("class T", "class T_7")
            .replace("T() {", "T_7() {")
            .replace("a = \"x\", b", r#"a = "/data/\"x\".winscope", b = "/data/\"x\".winscope""#)
    );
}

#[test]
fn the_path_of_the_dictionary_is_needed_where_it_is_used() {
    let template = Release::Android16.template();
    let failure =
        template.generate(1, &Android::ANDROID_16, &Values::default(), &groups()).unwrap_err();
    assert!(failure.to_string().contains("set `--viewer-config-file-path`"), "{failure}");
}

#[test]
fn bad_templates() {
    let log = "static void d(G g, long id, long mask, Object... args) {}";
    for (text, expected) in [
        ("class A { ".to_owned(), "can't parse the template"),
        (String::new(), "a template has exactly one class"),
        (format!("class A {{ {log} }} class B {{}}"), "a template has exactly one class"),
        (
            format!("class A {{ @ProtoLogToolInjected(SOMETHING) static X x; {log} }}"),
            "unknown value `SOMETHING` of `@ProtoLogToolInjected`",
        ),
        ("class A { void d(G g, long id, long mask) {} }".to_owned(), "no static log methods"),
        (
            "class A { static void d(G g, int id, int mask, String text, Object... args) {} }"
                .to_owned(),
            "`d(G, int, int, String, Object...)` is no log method",
        ),
        (
            format!("class A {{ @ProtoLogToolInjected(CACHE_UPDATER) static X x; {log} }}"),
            "a cache needs a static method `isEnabled(instance, group, level)`",
        ),
    ] {
        let errors = read(&text).expect_err(&text);
        assert!(errors.contains(expected) && errors.contains("help: "), "{errors}");
    }
}
