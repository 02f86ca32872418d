// The text that is looked for. A message's text is pieces of its template and arguments in turn, so
// most messages are decided without putting theirs together. A template that has the text, or can't
// have it, decides for all its messages; in between, only those arguments are read that can have
// it. Texts of arguments are searched once each, as bytes.
//
// Invariant: an item matches exactly if `test` says so of its whole text.

/** Bytes of texts that are searched at once. */
const CHUNK = 1 << 20;
/** The answers that are kept for an item. */
const UNKNOWN = 0, NO = 1, YES = 2;
/**
 * The facts of a text: the needle is in it; or a part of the needle is at an end of it, so that one
 * may begin or end there, or go through it.
 */
const HIT = 1, EDGE = 2;

/**
 * A search for a text, or for a regular expression between slashes; with an error where that is
 * none.
 */
function parseSearch(text) {
  const none = { text, test: null, find: null, error: null };
  if (text === "") return none;
  const regex = /^\/(.*)\/([i]?)$/.exec(text);
  try {
    const source = regex ? regex[1] : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    // Without a capital letter, either case will do.
    // `^` and `$` are of each line that a message has, as for `read-log --grep`.
    const flags = regex ? `${regex[2]}m` : /\p{Lu}/u.test(text) ? "" : "i";
    const one = new RegExp(source, flags), find = new RegExp(source, flags + "g");
    return { ...none, test: (string) => one.test(string), find, needle: regex ? literalOf(source) : text, isWhole: !regex, ignoresCase: flags.includes("i") };
  } catch (error) {
    return { ...none, error: error.message };
  }
}

/**
 * The longest text that all matches of a regular expression contain, as far as that is easily seen;
 * empty for none.
 */
function literalOf(source) {
  // Escapes of characters by number, and references, are left alone, and so are alternatives at the
  // outermost level.
  if (/\\[^bBdDsSwWnrtfv\W]/.test(source)) return "";
  let longest = "", run = "", depth = 0;
  const end = () => { if (run.length > longest.length) longest = run; run = ""; };
  for (const [token] of source.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g)) {
    if (token === "|" && depth === 0) return "";
    if (token === "(") { end(); depth++; } else if (token === ")") { depth--; } else if (depth > 0) continue;
    else if (/^(?:[*?]|\{)/.test(token)) { run = run.slice(0, -1); end(); }
    else if (token === "+") end();
    else if (/^(?:[.^$]|\\\w|\[)/.test(token)) end();
    else run += token.length > 1 ? token[1] : token;
  }
  end();
  return longest;
}

class LogSearch {
  /** A search that `parseSearch` made, in these data. */
  constructor(search, data) {
    this.search = search;
    this.data = data;
    this.known = new Uint8Array(data.n);
    const isPlain = /^[\x20-\x7e]+$/.test(search.needle);
    /**
     * The text that each match has, in small letters where case is ignored; empty if that is not
     * known.
     */
    this.needle = isPlain ? this.folded(search.needle) : "";
    this.ends = endsOf(this.needle, search.ignoresCase);
    this.hits = new Uint8Array(data.meta.texts);
    this.losses = data.meta.losses.map((text) => search.test(text));
    this.hasHits = this.isReady = false;
  }

  folded(text) { return this.search.ignoresCase ? text.toLowerCase() : text; }

  /**
   * Searches texts and templates. `pause` is called now and then, with the part that is done; its
   * answer false ends it.
   */
  async prepare(pause) {
    if (this.isReady) return true;
    if (this.needle !== "" && !await this.searchTexts(pause)) return false;
    this.plans = this.data.meta.messages.map(({ pieces }, message) => this.plan(pieces, message));
    return this.isReady = true;
  }

  /** Finds the texts of arguments that have the needle, or a part of it at an end. */
  async searchTexts(pause) {
    const { needle, data } = this, { textAt, textSize, textBytes } = data, count = textAt.length, decoder = new TextDecoder("latin1");
    for (let from = 0, text = 0, edge = 0; from < textBytes.length; from += CHUNK) {
      if (!await pause(from / textBytes.length)) return false;
      // One byte is one character here, so that places are those of the bytes.
      const part = this.folded(decoder.decode(textBytes.subarray(from, from + CHUNK + needle.length - 1)));
      for (let at = part.indexOf(needle); at >= 0; ) {
        while (text < count && textAt[text] + textSize[text] <= from + at) text++;
        if (text === count) break;
        // Not over the end of a text, or its size.
        const isIn = textAt[text] <= from + at && from + at + needle.length <= textAt[text] + textSize[text];
        if (isIn) this.hits[text] |= HIT;
        this.hasHits ||= isIn;
        at = part.indexOf(needle, isIn ? textAt[text] + textSize[text] - from : at + 1);
      }
      // An empty one may stand at the end of all bytes.
      const end = from + CHUNK < textBytes.length ? from + CHUNK : Infinity;
      for (; edge < count && textAt[edge] < end; edge++) if (this.isEdgeOf(edge)) this.hits[edge] |= EDGE;
    }
    return true;
  }

  /**
   * Returns whether a match may begin or end in a text, or go through it. Its first and last byte
   * tell most.
   */
  isEdgeOf(text) {
    const { ends, data } = this, at = data.textAt[text], size = data.textSize[text];
    return size === 0 || (ends[data.textBytes[at]] & FIRST) !== 0 || (ends[data.textBytes[at + size - 1]] & LAST) !== 0;
  }

  /**
   * The way to decide about the messages of a template: `all` or none of them match; one of these
   * arguments has to; or their text says it.
   */
  plan(pieces, message) {
    const { search, needle } = this, fixed = pieces.map((piece) => this.folded(piece));
    if (pieces.length === 1) return { all: search.test(pieces[0]) };
    if (search.isWhole && pieces.some((piece) => search.test(piece))) return { all: true };
    if (needle === "" || fixed.some((piece) => piece.includes(needle))) return { byText: true };
    const straddles = canStraddle(fixed, needle), args = [];
    const texts = this.hasHits || straddles, numbers = (straddles ? /[-\d]/ : /^[-\d]+$/).test(needle);
    for (let arg = 0; arg < pieces.length - 1; arg++) {
      const { hasTexts, hasNumbers } = this.data.argKinds(message, arg);
      args.push({ texts: hasTexts && texts, numbers: hasNumbers && numbers });
    }
    while (args.length > 0 && !args.at(-1).texts && !args.at(-1).numbers) args.pop();
    return args.length === 0 ? { all: false } : { args, straddles };
  }

  matches(item) {
    const known = this.known[item];
    if (known !== UNKNOWN) return known === YES;
    const found = this.look(item);
    this.known[item] = found ? YES : NO;
    return found;
  }

  look(item) {
    const { data, search, needle } = this;
    if (data.isLoss(item)) return this.losses[data.message(item)];
    const whole = data.wholeText(item), plan = this.isReady ? this.plans[data.message(item)] : { byText: true };
    if (whole < 0 && plan.all !== undefined) return plan.all;
    const isByText = !this.isReady || needle === "" || whole < 0 && plan.byText;
    const found = isByText ? EDGE : whole >= 0 ? this.hits[whole] & HIT : this.argFound(item, plan);
    // Of a regular expression, only the needle was looked for.
    return found !== 0 && (found === HIT && search.isWhole || search.test(data.text(item)));
  }

  /**
   * The fact of the arguments that says most: the needle is in one, or one may have a part of it.
   */
  argFound(item, { args, straddles }) {
    const { data, needle, ends } = this, reader = data.argsOf(item);
    let found = 0;
    for (const { numbers } of args) {
      const code = reader.next();
      let fact = 0;
      if (code % 2 === 0) fact = this.hits[code / 2];
      else if (numbers) {
        const text = data.arg(code);
        fact = text.includes(needle) ? HIT : (ends[text.charCodeAt(0)] & FIRST) !== 0 || (ends[text.charCodeAt(text.length - 1)] & LAST) !== 0 ? EDGE : 0;
      }
      if ((fact & HIT) !== 0) return HIT;
      if (straddles && fact !== 0) found = EDGE;
    }
    return found;
  }
}

/**
 * What a byte may be for a needle: the first of a text in which a match ends, or the last of one in
 * which a match begins.
 */
const FIRST = 1, LAST = 2;

function endsOf(needle, ignoresCase) {
  const ends = new Uint8Array(256), add = (char, role) => {
    for (const each of ignoresCase ? [char, char.toUpperCase()] : [char]) ends[each.charCodeAt(0)] |= role;
  };
  [...needle].forEach((char, at) => {
    if (at > 0) add(char, FIRST);
    if (at < needle.length - 1) add(char, LAST);
  });
  return ends;
}

/**
 * Returns whether a text may begin in one part of a message and end in another one: its pieces and
 * its arguments, whatever these are.
 */
function canStraddle(pieces, needle) {
  for (let size = 1; size < needle.length; size++) {
    const head = needle.slice(0, size), tail = needle.slice(-size);
    if (pieces.some((piece, at) => at < pieces.length - 1 && piece.endsWith(head) || at > 0 && piece.startsWith(tail))) return true;
  }
  // From one argument to another one, over all that is between.
  return pieces.slice(1, -1).some((piece) => needle.slice(1, -1).includes(piece) && needle.length > 1);
}
