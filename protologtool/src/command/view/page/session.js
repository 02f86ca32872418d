// The way to the server that a page came from: admission.rs has the rules. What is asked bears a
// proof of a key that is never sent, and so does what is answered. The key stays with the origin,
// for other tabs and for when the page is loaded again.

const CODE = /^#code=([0-9a-f]{32})$/, KEPT = "protolog";

const toHex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The authentication code of texts. */
async function authentication(secret, parts) {
  const encoder = new TextEncoder(), algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(parts.join("\n"))));
}

/**
 * An answer without a proof: it is not of the server that the page came from, or that does not know
 * the page.
 */
class Unproven extends Error {}

class Session {
  constructor(name, secret) {
    this.name = name;
    this.secret = secret;
  }

  /** The session that a code in the address begins, or else the one of this origin. */
  static async open() {
    if (!globalThis.crypto?.subtle) throw new Error("open it as 127.0.0.1 or localhost");
    // An address with another code, opened in this tab, only changes what is behind the `#`.
    addEventListener("hashchange", (event) => {
      if (!CODE.test(location.hash)) return;
      event.stopImmediatePropagation();
      location.reload();
    });
    const code = CODE.exec(location.hash)?.[1], kept = Session.kept();
    if (code === undefined) {
      if (kept === null) throw new Error(NOT_ADMITTED);
      return new Session(...kept.split("."));
    }
    history.replaceState(null, "", location.pathname);
    const nonce = randomText(), name = (await authentication(code, ["name", nonce])).slice(0, 16);
    const session = new Session(name, await authentication(code, ["key", nonce]));
    const proof = await authentication(code, ["request", nonce, "POST", "/session", ""]);
    const reply = await send("POST", "session", { Authorization: `Protolog code.${nonce}.${proof}` });
    if (!await session.isOf(reply, nonce)) throw new Error(`the code in the address was used, or is too old. ${NOT_ADMITTED}`);
    try { localStorage.setItem(KEPT, `${name}.${session.secret}`); } catch { /* The browser keeps nothing: this tab has it. */ }
    return session;
  }

  static kept() {
    try { return localStorage.getItem(KEPT); } catch { return null; }
  }

  /** The answer to a request, with its bytes; an error if it is nobody's or somebody else's. */
  async ask(method, path, tag = "") {
    const nonce = randomText(), proof = await authentication(this.secret, ["request", nonce, method, `/${path}`, tag]);
    const headers = { Authorization: `Protolog ${this.name}.${nonce}.${proof}` };
    if (tag !== "") headers["If-None-Match"] = tag;
    const reply = await send(method, path, headers);
    // Before its bytes are taken, of which there may be any number.
    if (!await this.isOf(reply, nonce)) throw new Unproven(NOT_ADMITTED);
    const bytes = await reply.arrayBuffer();
    if (toHex(await crypto.subtle.digest("SHA-256", bytes)) !== reply.headers.get("Protolog-Digest")) throw new Unproven("the answer was changed on its way");
    return { status: reply.status, tag: tagOf(reply), bytes };
  }

  /** Returns whether the head of an answer to a request has the right proof. */
  async isOf(reply, nonce) {
    const { status, headers } = reply;
    const proof = await authentication(this.secret, ["answer", nonce, status, tagOf(reply), headers.get("Protolog-Digest")]);
    return headers.get("Protolog-Proof") === proof;
  }
}

const NOT_ADMITTED = "press Enter in the terminal of `protologtool view`, and open the address that it prints";

const randomText = () => toHex(crypto.getRandomValues(new Uint8Array(16)));

const tagOf = (reply) => reply.headers.get("ETag") ?? "";

/** Sends a request, without what else the browser knows of this host. */
function send(method, path, headers) {
  return fetch(path, { method, headers, cache: "no-store", credentials: "omit", redirect: "error" });
}
