//! Where things stand on the page: boxes are compared, not pixels, as fonts differ between
//! machines.

use crate::browser::Browser;
use crate::{AppLog, lock, log_a_thousand, page, record};
use protolog_rt::{e, i};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::{axe, temp_dir};
use std::fs;

/// The boxes of elements: left, top, right, bottom.
fn boxes(browser: &mut Browser, selector: &str) -> Vec<[f64; 4]> {
    let expression = format!(
        "[...document.querySelectorAll({selector:?})].map((element) => element.getBoundingClientRect()).filter((box) => box.width > 0) \
         .map((box) => [box.left, box.top, box.right, box.bottom])"
    );
    serde_json::from_value(browser.eval(&expression)).unwrap()
}

fn one(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let boxes = boxes(browser, selector);
    assert_eq!(boxes.len(), 1, "{selector}: {boxes:?}");
    boxes[0]
}

/// Half a pixel, for rounding.
const NEAR: f64 = 0.5;

fn check(browser: &mut Browser, width: f64, height: f64) {
    // Nothing is wider than the window, or stands below it.
    let page = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]";
    let page: [f64; 2] = serde_json::from_value(browser.eval(page)).unwrap();
    assert!(page[0] <= width && page[1] <= height, "{page:?}");
    // From top to bottom: header, problems, strip, list, details; each begins where the one above
    // ends.
    let parts = ["header", "#problems", "#overview", "#head", "#list", "#detail"]
        .map(|it| one(browser, it));
    for pair in parts.windows(2) {
        assert!((pair[0][3] - pair[1][1]).abs() < NEAR, "{pair:?}");
    }
    assert!((parts[5][3] - height).abs() < NEAR && parts[4][3] - parts[4][1] > 100.0, "{parts:?}");
    // Rows lie below each other, without a gap, and their columns below the titles.
    let titles = boxes(browser, "#head .row > span");
    let rows = boxes(browser, "#rows .row");
    assert!(rows.len() > 5, "{}", rows.len());
    for pair in rows.windows(2) {
        assert!((pair[1][1] - pair[0][1] - 20.0).abs() < NEAR, "{pair:?}");
    }
    let cells = boxes(browser, "#rows .row:first-child > span:not(:empty)");
    let is_below = |cell: &[f64; 4]| titles.iter().any(|title| (title[0] - cell[0]).abs() < NEAR);
    let aligned = cells.iter().filter(|cell| is_below(cell)).count();
    // The place is aligned at its other end.
    assert!(aligned + 1 >= cells.len(), "{titles:?} {cells:?}");
    for pair in cells.windows(2) {
        assert!(pair[0][2] <= pair[1][0] + NEAR, "{pair:?}");
    }
    // The chosen message is to be seen.
    let chosen = one(browser, "#rows .row[aria-selected='true']");
    assert!(chosen[1] >= parts[4][1] - NEAR && chosen[3] <= parts[4][3] + NEAR, "{chosen:?}");
}

/// The least contrast of text to what is behind it, as the guidelines for accessibility have it for
/// small text.
const LEAST_CONTRAST: f64 = 4.5;

/// The contrasts of the texts of these elements, by the guidelines' formula.
const CONTRAST: &str = r"
(() => {
  const parts = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const light = (color) => {
    const [r, g, b] = color.slice(0, 3).map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll('header *, #side *, #head *, #rows *, #detail *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && element.getClientRects().length > 0)
    .filter((element) => !element.closest('.none'))
    .map((element) => {
      const [one, other] = [light(parts(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
      return [(one + 0.05) / (other + 0.05), `${element.tagName}.${element.className} in ${element.parentElement.className}: ${element.textContent.slice(0, 30)}`];
    });
})()";

#[test]
fn parts_of_the_page_stand_where_they_belong() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let dir = temp_dir();
    let trace = record(&dir, || {
        log_a_thousand();
        i!(AppLog::Net, "%s", "long ".repeat(2000));
        e!(AppLog::Cache, "%d %d %d %d %d %d", 1, 2, 3, 4, 5, 6);
    });
    browser.open(&page(&dir, &trace));
    // An argument of ten thousand bytes is cut off, which is a loss: the page says so.
    let problems = browser.text("document.getElementById('problems').textContent");
    assert!(problems.contains("truncated"), "{problems}");
    for scheme in ["light", "dark"] {
        browser.set_scheme(scheme);
        for (width, height) in [(1400, 900), (1000, 600), (640, 800)] {
            browser.set_size(width, height);
            for key in ["End", "k", "E"] {
                browser.press(key);
                browser.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
                check(&mut browser, width.into(), height.into());
            }
            let contrasts: Vec<(f64, String)> =
                serde_json::from_value(browser.eval(CONTRAST)).unwrap();
            assert!(contrasts.len() > 50, "{}", contrasts.len());
            let faint: Vec<_> = contrasts.iter().filter(|it| it.0 < LEAST_CONTRAST).collect();
            assert!(faint.is_empty(), "{scheme}: {faint:#?}");
        }
    }
    browser.assert_clean();
}

/// The rules that the page breaks, each with the elements. The box that scrolls is no stop of its
/// own: the grid around it has the focus, and its keys.
const AXE: &str = "axe.run(document, { resultTypes: ['violations'] })\
    .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.filter(({ target }) => id !== 'scrollable-region-focusable' || target[0] !== '#list') }))\
    .filter(({ nodes }) => nodes.length > 0).map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => [html.slice(0, 200), failureSummary])]))";

#[test]
fn no_rule_of_axe_is_broken() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    let Some(axe) = axe() else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let dir = temp_dir();
    let url = page(&dir, &record(&dir, log_a_thousand));
    let mut all = Vec::new();
    for (scheme, width, height) in [("light", 1400, 900), ("dark", 1400, 900), ("light", 640, 480)]
    {
        browser.set_size(width, height);
        browser.set_scheme(scheme);
        browser.open(&url);
        browser.eval(&format!("{axe}; 1"));
        let mut check = |browser: &mut Browser, state: &str| {
            browser.settle();
            let broken = browser.eval(AXE);
            all.extend(
                (broken != json!([])).then(|| format!("{scheme} {width} {state}: {broken:#}")),
            );
        };
        check(&mut browser, "opened");
        browser.press("End");
        check(&mut browser, "with details");
        browser.eval("protolog.searchFor('/(/').then(() => 1)");
        check(&mut browser, "with a wrong expression");
        browser.eval("protolog.searchFor('wal').then(() => 1)");
        check(&mut browser, "with matches");
        browser.press("?");
        check(&mut browser, "with the keys");
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    browser.assert_clean();
}

#[test]
fn roles_and_names_are_those_of_a_grid() {
    let _lock = lock();
    let Some(mut browser) = Browser::start() else { return };
    browser.set_zone("UTC");
    let dir = temp_dir();
    browser.open(&page(&dir, &record(&dir, log_a_thousand)));
    browser.press("End");
    browser.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let nodes = browser.accessibility();
    let of = |role: &str| -> Vec<&Value> {
        nodes.iter().filter(|node| node["role"]["value"] == role).collect()
    };
    let names = |role: &str| -> Vec<String> {
        of(role)
            .iter()
            .map(|node| node["name"]["value"].as_str().unwrap_or("").to_owned())
            .collect()
    };
    assert_eq!(names("grid"), ["Messages"]);
    let columns = ["Time UTC", "Delta", "Thread", "Level", "Group", "Message", "Location"];
    assert_eq!(names("columnheader"), columns);
    assert!(of("gridcell").len() > 50);
    // Rows stand in groups of the grid, and nothing without a role between: what can have the focus
    // is never left out.
    let tree = browser.accessibility_tree();
    let parent = |node: &Value| {
        let of = |id: &Value| tree.iter().find(|it| it["nodeId"] == *id);
        let mut above = of(&node["parentId"]);
        while above.is_some_and(|it| it["ignored"] == true) {
            above = of(&above.unwrap()["parentId"]);
        }
        above.map_or("", |it| it["role"]["value"].as_str().unwrap_or(""))
    };
    assert_eq!(of("rowgroup").iter().map(|it| parent(it)).collect::<Vec<_>>(), ["grid", "grid"]);
    // The others are those of the details' table.
    let rows: Vec<_> =
        of("row").iter().map(|row| parent(row)).filter(|it| *it != "table").collect();
    assert!(rows.len() > 10 && rows.iter().all(|it| *it == "rowgroup"), "{rows:?}");
    // All that can be pressed has a name.
    for role in ["button", "checkbox", "searchbox"] {
        assert!(!of(role).is_empty(), "{role}");
        assert!(names(role).iter().all(|name| !name.is_empty()), "{role}: {:?}", names(role));
    }
    assert_eq!(
        browser.eval("document.getElementById('table').getAttribute('aria-rowcount')"),
        "1001"
    );
    let active = "document.getElementById(document.getElementById('table').getAttribute('aria-activedescendant'))";
    assert_eq!(browser.text(&format!("{active}.getAttribute('aria-rowindex')")), "1001");
    assert_eq!(browser.text("document.activeElement.id"), "table");
}
