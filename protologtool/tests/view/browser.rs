//! A real browser, over its debugging protocol: JSON messages that end with a zero, through two
//! pipes.
//!
//! Invariant: a failed script, or one that the page's policy refuses, fails the test.

use base64::{Engine, engine::general_purpose::STANDARD};
use protolog_testkit::serde_json::{self, Value, json};
use protolog_testkit::{TempDir, temp_dir, tool};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that the page may take for anything, on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

/// Chromium's flags: without a window, without its own business on the network, and without hosts
/// but this one.
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,900 --remote-debugging-pipe \
    --host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.*'";

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Value,
    last: u64,
    complaints: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium; none if the machine has none.
    pub(crate) fn start() -> Option<Self> {
        let program = tool("chromium")?;
        let profile = temp_dir();
        // The protocol's pipes are the descriptors 3 and 4.
        let line = format!(
            "exec \"$0\" {FLAGS} --user-data-dir=\"$1\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"
        );
        let mut process = Command::new("sh")
            .args(["-c", &line])
            .arg(program)
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start Chromium");
        let to = process.stdin.take().expect("a pipe");
        let from = BufReader::new(process.stdout.take().expect("a pipe"));
        let complaints = Vec::new();
        let mut browser = Self {
            process,
            to,
            from,
            session: Value::Null,
            last: 0,
            complaints,
            _profile: profile,
        };
        browser.new_tab();
        Some(browser)
    }

    fn attach(&mut self, target: &Value) {
        // Asked of the browser itself.
        self.session = Value::Null;
        let target = json!({"targetId": target, "flatten": true});
        self.session = self.call("Target.attachToTarget", &target)["sessionId"].clone();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(domain, &json!({}));
        }
    }

    /// Waits for a window whose address begins so, and goes on with it.
    pub(crate) fn switch_to(&mut self, address: &str) {
        let begun = Instant::now();
        let is_it = |target: &&Value| {
            target["type"] == "page"
                && target["url"].as_str().unwrap_or_default().starts_with(address)
        };
        loop {
            let targets = self.call("Target.getTargets", &json!({}));
            if let Some(found) =
                targets["targetInfos"].as_array().expect("targets").iter().find(is_it)
            {
                return self.attach(&found["targetId"]);
            }
            assert!(begun.elapsed() < LIMIT, "no window of `{address}`: {targets}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens another tab, and goes on with it.
    pub(crate) fn new_tab(&mut self) {
        self.session = Value::Null;
        let page = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        self.attach(&page["targetId"]);
    }

    /// Opens an address.
    pub(crate) fn go_to(&mut self, url: &str) {
        self.call("Page.navigate", &json!({"url": "about:blank"}));
        self.call("Page.navigate", &json!({"url": url}));
    }

    /// Opens an address, and waits until the page shows its log.
    pub(crate) fn open(&mut self, url: &str) {
        self.go_to(url);
        self.wait_for("document.documentElement?.dataset.ready === 'true'");
    }

    /// The value of an expression, or of what it promises.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        self.eval_if_there(expression).unwrap_or_else(|| panic!("`{expression}`: the page went"))
    }

    /// The same; none if the page went away meanwhile for another one.
    fn eval_if_there(&mut self, expression: &str) -> Option<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let reply = match self.try_call("Runtime.evaluate", &params) {
            Ok(reply) => reply,
            Err(error) if error["message"] == "Inspected target navigated or closed" => {
                return None;
            }
            Err(error) => panic!("`{expression}`: {error}"),
        };
        assert!(reply.get("exceptionDetails").is_none(), "`{expression}`: {reply}");
        Some(reply["result"]["value"].clone())
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("`{expression}` is {value}")).to_owned()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.eval_if_there(expression) != Some(Value::Bool(true)) {
            if begun.elapsed() > LIMIT {
                let shown = self.text("document.body?.innerText ?? ''");
                let targets = self.call("Target.getTargets", &json!({}));
                panic!("`{expression}` did not become true; {targets}; the page says\n{shown}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key, as a person does.
    pub(crate) fn press(&mut self, key: &str) {
        let mut params = json!({"type": "keyDown", "key": key});
        if key.chars().count() == 1 {
            params["text"] = key.into();
        }
        // By their codes alone, the browser's own actions go.
        match key {
            "Enter" => (params["windowsVirtualKeyCode"], params["text"]) = (13.into(), "\r".into()),
            "Escape" => params["windowsVirtualKeyCode"] = 27.into(),
            _ => {}
        }
        self.call("Input.dispatchKeyEvent", &params);
        params["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", &params);
    }

    /// Clicks the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        // Keys and clicks that come before a page is drawn for the first time do not reach it.
        self.settle();
        let place = self.eval(&format!(
            "(() => {{ const box = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &params);
        }
    }

    /// Drags from one place in an element to another, each a part of its width.
    pub(crate) fn drag(&mut self, selector: &str, from: f64, to: f64) {
        let place = self.eval(&format!(
            "(() => {{ const box = document.querySelector({selector:?}).getBoundingClientRect(); \
             return [box.x, box.width, box.y + box.height / 2]; }})()"
        ));
        let x = |part: f64| place[0].as_f64().unwrap() + place[1].as_f64().unwrap() * part;
        for (kind, x) in
            [("mousePressed", x(from)), ("mouseMoved", x(to)), ("mouseReleased", x(to))]
        {
            let params = json!({"type": kind, "x": x, "y": place[2], "button": "left", "buttons": 1, "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &params);
        }
    }

    /// Fails if the page threw an error, or did what its policy forbids.
    pub(crate) fn assert_clean(&mut self) {
        self.eval("1");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }

    /// The errors so far, where some are expected.
    pub(crate) fn take_complaints(&mut self) -> Vec<String> {
        self.eval("1");
        std::mem::take(&mut self.complaints)
    }

    /// A picture of the page, as PNG.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        STANDARD.decode(picture["data"].as_str().expect("base64")).expect("base64")
    }

    /// Shows the page as in a window of this size, in pixels.
    pub(crate) fn set_size(&mut self, width: u32, height: u32) {
        let params =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &params);
    }

    /// Sets the time zone of the page.
    pub(crate) fn set_zone(&mut self, zone: &str) {
        self.call("Emulation.setTimezoneOverride", &json!({"timezoneId": zone}));
    }

    /// Waits until what was asked for is drawn.
    pub(crate) fn settle(&mut self) {
        self.eval(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
    }

    /// Sets the user's preference, `light` or `dark`.
    pub(crate) fn set_scheme(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Nodes of the page as screen readers get them, without those that are left out.
    pub(crate) fn accessibility(&mut self) -> Vec<Value> {
        let mut nodes = self.accessibility_tree();
        nodes.retain(|node| node["ignored"] == false);
        nodes
    }

    /// The same, with those that are left out.
    pub(crate) fn accessibility_tree(&mut self) -> Vec<Value> {
        let tree = self.call("Accessibility.getFullAXTree", &json!({}));
        tree["nodes"].as_array().expect("nodes").clone()
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let reply = self.try_call(method, params);
        reply.unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    fn try_call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("write to Chromium");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("read from Chromium");
            assert_eq!(bytes.pop(), Some(0), "Chromium has ended");
            let reply: Value = serde_json::from_slice(&bytes).expect("JSON");
            if reply["id"] == self.last {
                let error = reply.get("error").cloned();
                return error.map_or_else(|| Ok(reply["result"].clone()), Err);
            }
            if matches!(
                reply["method"].as_str(),
                Some("Runtime.exceptionThrown" | "Log.entryAdded")
            ) {
                self.complaints.push(reply["params"].to_string());
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
