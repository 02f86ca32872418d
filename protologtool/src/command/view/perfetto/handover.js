// Hands the trace to a Perfetto UI in another window: it is asked until it answers that it listens,
// and then gets the bytes.
let ui, title, origin;
const button = document.getElementById("open");
const say = (text) => { document.getElementById("state").textContent = text; };
// The UI checks who sends: on a public page a person may have to agree.
const TIMEOUT = 20000;
let target = null;
let timers = [];

const stop = () => { timers.forEach(clearInterval); timers = []; };

const offer = (text) => {
  stop();
  say(text);
  button.hidden = false;
  document.body.dataset.state = "offered";
};

// A browser lets a page open a window by itself only if its user allows that, and on a click
// always.
const open = () => {
  stop();
  button.hidden = true;
  target = window.open(ui);
  if (!target) return offer("The trace is ready.");
  say(`Waiting for ${origin}.`);
  const begun = Date.now();
  timers = [setInterval(() => {
    if (target.closed) return offer("Its window was closed before the trace was there.");
    if (Date.now() - begun > TIMEOUT) {
      say(`Still waiting for ${origin}: can this machine reach it?`);
      button.hidden = false;
    }
    // No secret, so it may reach what is in the window meanwhile; the trace goes to this origin
    // alone.
    target.postMessage("PING", "*");
  }, 100)];
};

const start = async () => {
  const session = await Session.open();
  ({ ui, title } = JSON.parse(new TextDecoder().decode((await session.ask("GET", "about")).bytes)));
  ({ origin } = new URL(ui));
  document.getElementById("title").textContent = title;
  const { bytes: buffer } = await session.ask("GET", "trace");
  window.addEventListener("message", (event) => {
    const answers = event.source === target && event.origin === origin && event.data === "PONG";
    if (!answers || timers.length === 0) return;
    stop();
    target.postMessage({ perfetto: { buffer, title, fileName: title } }, origin);
    button.hidden = true;
    say(`The trace is open in ${origin}. This page can be closed.`);
    document.body.dataset.state = "open";
    session.ask("POST", "done").catch(() => {});
  });
  button.addEventListener("click", open);
  open();
};
start().catch((error) => say(`The trace can't be read: ${error.message}.`));
