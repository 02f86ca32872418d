//! The views for DuckDB have the answers of `read-log`.

mod common;

use std::fs;

use common::{
    FOREIGN_PIECES, SEARCHES, break_files, conversions, damaged_copies, described, exported, fleet,
    foreign_templates, lines_of, messages_of, query, sites_of, templates_of, trace, try_query,
};
use protolog_testkit::temp_dir;

#[test]
fn the_log_has_the_lines_of_read_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "select message, level, tag, log_group, id, template, thread, boot_time from log
        order by boot_time, tie";
    let Some(lines) = query(&dir.path().join("archive"), sql) else { return };
    let expected = messages_of(trace());
    assert_eq!(lines.lines().count(), expected.len());
    for (line, expected) in lines.lines().zip(expected) {
        let line: Vec<serde_json::Value> = serde_json::from_str(line).unwrap();
        let names = ["message", "level", "tag", "group", "id", "template", "thread", "ts"];
        for (name, value) in names.iter().zip(line) {
            assert_eq!(value, expected[name], "{name} of {expected}");
        }
    }
}

#[test]
fn losses_and_sites_are_summed_up() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let Some(lost) = query(&archive, "select sum(messages) from lost") else { return };
    let mut count = 0;
    for line in lines_of(trace()).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        count += line["count"].as_u64().filter(|_| line["type"] == "loss").unwrap_or(0);
    }
    assert_eq!(lost.trim(), format!("[{count}]"));
    let messages = messages_of(trace());
    let sites = query(&archive, "select sum(messages), count(*) from volume_by_site").unwrap();
    assert_eq!(sites.trim(), format!("[{}, {}]", messages.len(), sites_of(&messages)));
}

/// Of a message that was sampled, the archive says for how many it stands.
#[test]
fn samples_stand_for_what_was_passed_over() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let messages = messages_of(trace());
    let (sampled, usual): (Vec<_>, Vec<_>) =
        messages.iter().partition(|message| message["template"] == "packet %d");
    assert!((100..=167).contains(&sampled.len()), "{}", sampled.len());
    assert!(sampled.iter().all(|message| message["rate"] == "2/3"));
    assert!(usual.iter().all(|message| message["rate"].is_null()));
    let sql = "select (select sum(weight) from log where weight > 1), (select sum(weight) from search('packet 1')),
        sum(estimated), sum(messages) from volume_by_site";
    let Some(line) = query(&dir.path().join("archive"), sql) else { return };
    let [in_log, found, estimated, kept]: [f64; 4] = serde_json::from_str(&line).unwrap();
    let weight = |count: usize| count as f64 * 1.5;
    let is_found = |message: &&&serde_json::Value| {
        message["message"].as_str().unwrap().starts_with("packet 1")
    };
    let expected = [
        weight(sampled.len()),
        weight(sampled.iter().filter(is_found).count()),
        weight(sampled.len()) + usual.len() as f64,
        messages.len() as f64,
    ];
    for (answer, expected) in [in_log, found, estimated, kept].iter().zip(expected) {
        assert!((answer - expected).abs() < 1e-6, "{line}: {expected}");
    }
}

#[test]
fn messages_of_a_request_are_found_by_its_id() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let messages = messages_of(trace());
    let count = |id: &str| messages.iter().filter(|it| it["request"] == id).count();
    assert!(count("GET /7") == 1 && count("GET /8") > 5);
    let sql = "select count(*) filter (request = 'GET /7'), count(*) filter (request = 'GET /8'), count(request) from log";
    let Some(line) = query(&dir.path().join("archive"), sql) else { return };
    let all = messages.iter().filter(|it| it["request"].is_string()).count();
    let counts: [usize; 3] = serde_json::from_str(&line).unwrap();
    assert_eq!(counts, [count("GET /7"), count("GET /8"), all]);
}

/// Every conversion, by the view, and by the function that takes an id.
#[test]
fn messages_are_rendered_as_by_read_log() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), conversions::trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let expected = messages_of(&conversions::trace());
    assert!(expected.len() > 1_500, "{}", expected.len());
    let sql = "select l.message, render(m.id, m.arguments), m.text from log l join messages m using (boot_time, tie)
        order by boot_time, tie";
    let Some(lines) = query(&dir.path().join("archive"), sql) else { return };
    assert_eq!(lines.lines().count(), expected.len());
    let mut rendered = 0;
    for (line, expected) in lines.lines().zip(expected) {
        let [message, by_id, text]: [serde_json::Value; 3] = serde_json::from_str(line).unwrap();
        assert_eq!(message, expected["message"], "{expected}");
        // Floats of many digits have their text in the archive.
        if text.is_null() {
            assert_eq!(by_id, expected["message"], "{expected}");
            rendered += 1;
        }
    }
    assert!(rendered > 1_000, "{rendered}");
}

/// Whatever is looked for, the messages are found that have it: texts of templates, of arguments,
/// from one to the other, and numbers.
#[test]
fn searches_find_what_read_log_shows() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let messages = messages_of(trace());
    // All at once: DuckDB takes longer to start than to search.
    let questions = SEARCHES.iter().map(|wanted| {
        let text = wanted.replace('\'', "''");
        format!(
            "select (select count(*) from search('{text}')), (select count(*) from search_templates('{text}')),
             (select count(*) from search_argument('{text}')), (select count(distinct message) from search('{text}'))"
        )
    });
    let sql = questions.collect::<Vec<_>>().join(" union all ");
    let Some(found) = query(&archive, &sql) else { return };
    assert_eq!(found.lines().count(), SEARCHES.len());
    for (wanted, found) in SEARCHES.into_iter().zip(found.lines()) {
        let count = |is_one: &dyn Fn(&serde_json::Value) -> bool| {
            messages.iter().filter(|message| is_one(message)).count()
        };
        let has =
            |message: &serde_json::Value| message["message"].as_str().unwrap().contains(wanted);
        let in_template = |message: &serde_json::Value| {
            message["template"].as_str().is_some_and(|it| it.replace("%%", "%").contains(wanted))
        };
        let is_argument = |message: &serde_json::Value| {
            // A float that JSON has no number for is a text there.
            let args = message["args"].as_array().unwrap();
            wanted != "inf" && args.iter().any(|it| it.as_str() == Some(wanted))
        };
        let distinct: std::collections::BTreeSet<&str> = messages
            .iter()
            .filter(|message| has(message))
            .map(|message| message["message"].as_str().unwrap())
            .collect();
        let expected = [count(&has), count(&in_template), count(&is_argument), distinct.len()]
            .map(serde_json::Value::from);
        assert_eq!(found, serde_json::to_string(&expected).unwrap().replace(',', ", "), "{wanted}");
    }
}

/// A file that is damaged fails what asks for its date, and nothing else.
#[test]
fn damaged_files_fail_what_asks_for_their_date() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    let broken = break_files(&archive);
    let sql = "select
        (select count(message) from log where date > '2020-01-10'),
        (select count(*) from search('is full') where date > '2020-01-10'),
        (select count(*) from search_templates('is full') where date > '2020-01-10'),
        (select count(*) from search_argument('/var/log') where date > '2020-01-10'),
        (select count(*) > 0 from lost), (select count(*) > 0 from spans), (select count(*) > 0 from templates)";
    let Some(line) = query(&archive, sql) else { return };
    let full = messages_of(trace());
    let full = full.iter().filter(|it| it["message"].as_str().unwrap().contains("is full")).count();
    let messages = messages_of(trace()).len();
    assert_eq!(line.trim(), format!("[{messages}, {full}, {full}, {full}, true, true, true]"));
    for path in broken {
        let day = path.split('/').find_map(|part| part.strip_prefix("date=")).unwrap();
        let sql = format!("select count(message) from log where date = '{day}'");
        assert!(try_query(&archive, &sql).unwrap().is_err(), "{path}");
    }
}

/// Templates that are damaged take their texts along, and nothing else.
#[test]
fn damaged_templates_fail_no_query() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    let other = [&[0x0a, 2, 0x50, 7], trace()].concat();
    fs::write(dir.path().join("other.pftrace"), other).unwrap();
    for (build, name) in [("a", "app.pftrace"), ("b", "other.pftrace")] {
        let args = ["parquet", "-o", "archive", "--host", "one", "--build", build, name];
        assert!(fleet(&args, dir.path()).status.success());
    }
    let archive = dir.path().join("archive");
    let templates = templates_of(&archive, "a");
    let whole = fs::read(&templates).unwrap();
    let (messages, texts) = (messages_of(trace()).len(), "message is not null and build");
    let sql = format!(
        "select count(*) filter (build = 'a'), count(*) filter ({texts} = 'b'),
            count(*) filter ({texts} = 'a') < 200, (select string_agg(file, ' ') from damaged_templates)
        from log"
    );
    for bytes in damaged_copies(&whole) {
        fs::write(&templates, bytes).unwrap();
        let Some(line) = query(&archive, &sql) else { return };
        let name = templates.strip_prefix(&archive).unwrap().display();
        assert_eq!(line.trim(), format!("[{messages}, {messages}, true, \"{name}\"]"));
    }
    fs::write(&templates, whole).unwrap();
    let line = query(&archive, &sql).unwrap();
    assert_eq!(line.trim(), format!("[{messages}, {messages}, false, null]"));
}

/// Templates as no export writes them take no memory, and fail nothing.
#[test]
fn templates_of_others_are_none() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let archive = dir.path().join("archive");
    if foreign_templates(&archive).is_none() {
        return;
    }
    let sql = "select (select count(*) from log where message is not null),
        (select count(*) from templates where program = 'foreign' and pieces is null),
        len(getvariable('protolog_columns')['messages']) < 150";
    let (messages, foreign) = (messages_of(trace()).len(), FOREIGN_PIECES.len());
    let expected = format!("[{messages}, {foreign}, true]");
    assert_eq!(query(&archive, sql).unwrap().trim(), expected);
}

/// A session that was begun before a program was exported, which takes more arguments than others,
/// says so instead of texts that lack some.
#[test]
fn views_that_know_too_few_arguments_say_so() {
    let dir = temp_dir();
    fs::write(dir.path().join("app.pftrace"), trace()).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let sql = "set variable protolog_columns = map_concat(getvariable('protolog_columns'), map {
            'messages': list_filter(getvariable('protolog_columns')['messages'], lambda it: it <> 'f4 DOUBLE')
        });
        select count(message) from log";
    let Some(answer) = try_query(&dir.path().join("archive"), sql) else { return };
    let error = answer.unwrap_err();
    assert!(
        error.contains("more arguments than when protolog.sql was read; read it again"),
        "{error}"
    );
}

/// Mistakes of others: least and greatest values that are cut off in the middle of a
/// character, or at one that has no next one; long texts; and texts that are patterns elsewhere.
#[test]
fn texts_of_all_kinds_are_found() {
    let long = "x".repeat(5_000);
    let texts = [
        "ü".repeat(300),
        "\u{10ffff}".repeat(100),
        format!("{long}a"),
        format!("{long}b"),
        "a \"quoted\" \\ text".to_owned(),
        "it's".to_owned(),
    ];
    let patterns = ["*", "?", "[a-z]+", "%s"].map(str::to_owned);
    let texts: Vec<String> = texts.into_iter().chain(patterns).collect();
    let mut description = "group(1, \"demo::Log::A\", \"A\")\n\
        message(0x11, INFO, 1, \"one %s end\", \"a.rs:1\") message(0x12, INFO, 1, \"%d, %s and %s\", \"a.rs:2\")\n\
        @1 cleared snapshot(boot=5, real=1795199220000000000)\n"
        .to_owned();
    for (number, text) in texts.iter().enumerate() {
        let (iid, text) = (number + 1, text.replace('\\', "\\\\").replace('"', "\\\""));
        let of_one = format!("@1 needs ts={iid} string({iid}, \"{text}\") log(0x11, ${iid})\n");
        let of_two = format!("@1 needs ts={iid} log(0x12, {iid}, $1, ${iid})\n");
        description.extend([of_one, of_two]);
    }
    let trace = described::trace(&description);
    let (dir, messages) = (temp_dir(), messages_of(&trace));
    fs::write(dir.path().join("app.pftrace"), &trace).unwrap();
    exported(dir.path(), &["app.pftrace"]);
    let questions = texts.iter().map(|text| {
        let text = text.replace('\'', "''");
        format!(
            "select (select count(*) from search('{text}')), (select count(*) from search_argument('{text}'))"
        )
    });
    let sql = questions.collect::<Vec<_>>().join(" union all ");
    let Some(found) = query(&dir.path().join("archive"), &sql) else { return };
    let count = |is_one: &dyn Fn(&serde_json::Value) -> bool| {
        messages.iter().filter(|message| is_one(message)).count()
    };
    assert_eq!(messages.len(), 2 * texts.len());
    for (text, found) in texts.iter().zip(found.lines()) {
        let is_argument = |message: &serde_json::Value| {
            message["args"].as_array().unwrap().iter().any(|it| it.as_str() == Some(text))
        };
        let has = |message: &serde_json::Value| message["message"].as_str().unwrap().contains(text);
        assert!(count(&is_argument) > 0, "{text}");
        assert_eq!(found, format!("[{}, {}]", count(&has), count(&is_argument)), "{text}");
    }
}
