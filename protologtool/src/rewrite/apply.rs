//! Original and plan in, new text out. Pure.

use super::Plan;

/// The original with the edits of `plan` made. A plan made for another text is cut to this one's length rather than
/// panicking.
pub fn apply(original: &[u8], plan: &Plan) -> Vec<u8> {
    let growth: usize = plan.edits().iter().map(|edit| edit.text.len()).sum();
    let mut out = Vec::with_capacity(original.len() + growth);
    let mut at = 0;
    for edit in plan.edits() {
        let start = edit.range.start.min(original.len());
        out.extend_from_slice(&original[at..start]);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.range.end.min(original.len());
    }
    out.extend_from_slice(&original[at..]);
    out
}
