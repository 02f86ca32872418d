//! Admission of browsers: a code that works once, and a key that it makes.
//!
//! A code goes to a browser behind the `#` of an address, which browsers keep to themselves. The
//! page proves that it has the code, and both sides make a key of it, which the page keeps for its
//! origin. Each request then carries a random number and its authentication code (HMAC-SHA256)
//! under the key, and each answer an authentication code that includes the number of its request.
//!
//! Invariants:
//! - Neither code nor key is ever sent over the port. A stranger who takes the port gets proofs of
//!   requests, which are worth nothing when this process has ended, and nothing that a stranger
//!   answers passes for an answer of this process.
//! - A code makes one key, within its time. It is gone when it was used, and so is its redirect
//!   file.
//! - There is no cookie: browsers send those to every port of a host.

use crate::exit::Failure;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The scheme in the header `Authorization`.
const SCHEME: &str = "Protolog ";

/// The most requests that change something: each takes memory for the rest of the run.
const MOST_CHANGES: usize = 100_000;

/// Stands in place of a key's name where a proof is made with a code.
const BY_CODE: &str = "code";

/// Codes that wait for a browser, and keys of those that came.
#[derive(Default)]
pub(super) struct Admission {
    state: Mutex<Outstanding>,
}

#[derive(Default)]
struct Outstanding {
    codes: Vec<Code>,
    keys: Vec<SessionKey>,
    /// The numbers of requests that changed something.
    used: HashSet<String>,
}

/// A code that was not used yet.
struct Code {
    secret: String,
    until: Instant,
    /// The directory with the file that hands the code over, which is removed with it.
    _redirect: Option<TempDir>,
}

/// A secret that a browser and this process share.
#[derive(Clone)]
pub(super) struct SessionKey {
    name: String,
    secret: String,
}

/// A request as far as it is authenticated.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// The tag of the data that the browser has.
    pub(super) tag: &'a str,
    /// The value of `Authorization`.
    pub(super) proof: &'a str,
}

/// A request whose proof is right.
pub(super) struct Admitted {
    key: SessionKey,
    nonce: String,
}

impl Admission {
    /// Makes a code for one browser. `redirect` writes the file that hands it over, if there is to
    /// be one.
    pub(super) fn issue(
        &self,
        lifetime: Duration,
        redirect: impl FnOnce(&str) -> Option<TempDir>,
    ) -> Result<String, Failure> {
        let secret = random_text()?;
        let code = Code {
            until: Instant::now() + lifetime,
            _redirect: redirect(&secret),
            secret: secret.clone(),
        };
        self.state().codes.push(code);
        Ok(secret)
    }

    /// Makes a key for the browser that proves that it has a code, which is used up by that.
    pub(super) fn open(&self, claim: &Claim<'_>) -> Option<Admitted> {
        let (by, nonce, code) = claim.parts()?;
        let mut state = self.state();
        state.drop_late_codes();
        let at = state
            .codes
            .iter()
            .position(|it| by == BY_CODE && claim.is_by(&it.secret, nonce, code))?;
        let used = state.codes.remove(at);
        let make = |purpose: &str| text(mac(&used.secret, &[purpose, nonce]));
        let mut name = make("name");
        name.truncate(16);
        let key = SessionKey { name, secret: make("key") };
        state.keys.push(key.clone());
        Some(Admitted { key, nonce: nonce.to_owned() })
    }

    /// Checks the proof of a request. That of one which may change something works once: somebody
    /// on the way, as at the other end of `ssh -L`, could repeat it.
    pub(super) fn verify(&self, claim: &Claim<'_>) -> Option<Admitted> {
        let (by, nonce, code) = claim.parts()?;
        let mut state = self.state();
        let key = state.keys.iter().find(|key| key.name == by)?;
        let admitted = Admitted { key: key.clone(), nonce: nonce.to_owned() };
        claim.is_by(&key.secret, nonce, code).then_some(())?;
        if claim.changes() {
            let is_new = state.used.len() < MOST_CHANGES && state.used.insert(nonce.to_owned());
            is_new.then_some(())?;
        }
        Some(admitted)
    }

    /// Adds a key without a code.
    #[cfg(any(test, fuzzing))]
    pub(super) fn add_key(&self) -> SessionKey {
        let key = SessionKey { name: "0123456789abcdef".into(), secret: "secret".into() };
        self.state().keys.push(key.clone());
        key
    }

    /// Returns whether no browser has come yet.
    pub(super) fn is_unused(&self) -> bool {
        self.state().keys.is_empty()
    }

    /// Removes codes whose time is over.
    pub(super) fn expire(&self) {
        self.state().drop_late_codes();
    }

    /// Removes all codes.
    pub(super) fn close(&self) {
        self.state().codes.clear();
    }

    fn state(&self) -> MutexGuard<'_, Outstanding> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outstanding {
    fn drop_late_codes(&mut self) {
        let now = Instant::now();
        self.codes.retain(|code| code.until > now);
    }
}

impl<'a> Claim<'a> {
    /// Returns whether such a request may change something.
    pub(super) fn changes(&self) -> bool {
        self.method != "GET"
    }

    /// The name of the key, the number of the request, and the authentication code.
    fn parts(&self) -> Option<(&'a str, &'a str, [u8; 32])> {
        let mut parts = self.proof.strip_prefix(SCHEME)?.split('.');
        let (by, nonce, code) = (parts.next()?, parts.next()?, parts.next()?);
        let is_nonce = nonce.len() == 32 && nonce.bytes().all(|it| it.is_ascii_hexdigit());
        let whole = is_nonce && parts.next().is_none();
        whole.then_some(())?;
        Some((by, nonce, bytes(code)?))
    }

    fn is_by(&self, secret: &str, nonce: &str, code: [u8; 32]) -> bool {
        let made = mac(secret, &["request", nonce, self.method, self.path, self.tag]);
        // In constant time.
        made.verify_slice(&code).is_ok()
    }
}

impl Admitted {
    /// The authentication code of the answer: nobody else can give it, nor this one to another
    /// request.
    pub(super) fn sign(&self, status: u16, tag: &str, digest: &str) -> String {
        text(mac(&self.key.secret, &["answer", &self.nonce, &status.to_string(), tag, digest]))
    }
}

/// The authentication code of texts without line ends.
fn mac(secret: &str, parts: &[&str]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(secret.as_bytes()).expect("a key of any length will do");
    mac.update(parts.join("\n").as_bytes());
    mac
}

/// The header that proves a request, as a page makes it.
#[cfg(any(test, fuzzing))]
pub(super) fn proof_of(key: &SessionKey, claim: &Claim<'_>) -> String {
    let Claim { method, path, tag, .. } = *claim;
    let nonce = "000102030405060708090a0b0c0d0e0f";
    let code = text(mac(&key.secret, &["request", nonce, method, path, tag]));
    format!("Authorization: {SCHEME}{}.{nonce}.{code}", key.name)
}

fn text(mac: Hmac<Sha256>) -> String {
    hex(&mac.finalize().into_bytes())
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Option<[u8; 32]> {
    let is_hex = hex.len() == 64 && hex.bytes().all(|it| it.is_ascii_hexdigit());
    is_hex.then_some(())?;
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}

/// 128 random bits, as text.
fn random_text() -> Result<String, Failure> {
    let mut random = [0; 16];
    random_bytes(&mut random)?;
    Ok(hex(&random))
}

/// Fills `bytes` with random ones that nobody can guess.
pub(super) fn random_bytes(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::new(format!("no random numbers: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const NONCE: &str = "000102030405060708090a0b0c0d0e0f";

    /// The proof that a browser makes.
    fn proof(by: &str, secret: &str, of: [&str; 3]) -> String {
        let [method, path, tag] = of;
        let code = text(mac(secret, &["request", NONCE, method, path, tag]));
        format!("{SCHEME}{by}.{NONCE}.{code}")
    }

    fn open(admission: &Admission, secret: &str) -> Option<Admitted> {
        let proof = proof(BY_CODE, secret, ["POST", "/session", ""]);
        let claim = Claim { method: "POST", path: "/session", tag: "", proof: &proof };
        admission.open(&claim)
    }

    #[test]
    fn a_code_makes_one_key_in_time() {
        let admission = Admission::default();
        let code = admission.issue(MINUTE, |_| None).unwrap();
        let late = admission.issue(Duration::ZERO, |_| None).unwrap();
        assert!(open(&admission, NONCE).is_none() && admission.is_unused());
        assert!(open(&admission, &late).is_none(), "its time is over");
        assert!(open(&admission, &code).is_some());
        assert!(open(&admission, &code).is_none(), "it was used");
        let closed = admission.issue(MINUTE, |_| None).unwrap();
        admission.close();
        assert!(open(&admission, &closed).is_none());
    }

    #[test]
    fn a_proof_is_of_one_request_and_one_key() {
        let admission = Admission::default();
        let code = admission.issue(MINUTE, |_| None).unwrap();
        let key = open(&admission, &code).unwrap().key;
        let check = |of: [&str; 3], proof: &str| {
            let [method, path, tag] = of;
            admission.verify(&Claim { method, path, tag, proof }).is_some()
        };
        let of = ["GET", "/data", "\"1\""];
        let right = proof(&key.name, &key.secret, of);
        assert!(check(of, &right));
        for other in [["POST", "/data", "\"1\""], ["GET", "/", "\"1\""], ["GET", "/data", ""]] {
            assert!(!check(other, &right), "{other:?}");
        }
        for wrong in [
            String::new(),
            right.replace("Protolog", "Bearer"),
            right.replace(NONCE, &NONCE.replace('1', "2")),
            right.replace(&key.name, "0000000000000000"),
            format!("{right}0"),
            format!("{right}.0"),
            right[..right.len() - 1].to_owned(),
            proof(&key.name, &code, of),
            proof(BY_CODE, &code, of),
        ] {
            assert!(!check(of, &wrong), "{wrong}");
        }
    }

    #[test]
    fn a_proof_of_a_change_works_once() {
        let admission = Admission::default();
        let code = admission.issue(MINUTE, |_| None).unwrap();
        let key = open(&admission, &code).unwrap().key;
        let check = |method: &str, path: &str| {
            let proof = proof(&key.name, &key.secret, [method, path, ""]);
            admission.verify(&Claim { method, path, tag: "", proof: &proof }).is_some()
        };
        assert!(check("GET", "/data") && check("GET", "/data"));
        assert!(check("POST", "/switch/1/site/2/on"));
        assert!(!check("POST", "/switch/1/site/2/on") && !check("POST", "/switch/1/site/2/off"));
        assert!(check("GET", "/data"));
    }

    #[test]
    fn the_redirect_goes_with_its_code() {
        let admission = Admission::default();
        let directory = || tempfile::tempdir().unwrap();
        let (used, late) = (directory(), directory());
        let paths = [used.path().to_owned(), late.path().to_owned()];
        let code = admission.issue(MINUTE, |_| Some(used)).unwrap();
        admission.issue(Duration::ZERO, |_| Some(late)).unwrap();
        assert!(paths.iter().all(|path| path.exists()));
        open(&admission, &code).unwrap();
        assert!(!paths.iter().any(|path| path.exists()));
    }
}
