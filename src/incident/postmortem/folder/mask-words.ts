import { maskText } from "../secrets.js";
import type { Draft } from "../record.js";
import type { Evidence } from "../record.js";

/** The words of a postmortem with addresses masked; the names of people stay as they are. */
export function maskWords(draft: Draft): Draft {
  const all = (texts: readonly string[]): string[] => texts.map(maskText);
  return {
    ...draft,
    title: maskText(draft.title),
    status: maskText(draft.status),
    summary: all(draft.summary),
    impact: all(draft.impact),
    rootCauses: all(draft.rootCauses),
    trigger: all(draft.trigger),
    detection: all(draft.detection),
    resolution: all(draft.resolution),
    wentWell: all(draft.wentWell),
    wentWrong: all(draft.wentWrong),
    lucky: all(draft.lucky),
    findings: draft.findings.map(({ text, evidence }) => ({
      text: maskText(text),
      evidence: evidence.map(maskEvidence),
    })),
    timeline: draft.timeline.map(({ time, event, evidence }) => ({
      time,
      event: maskText(event),
      evidence: evidence.map(maskEvidence),
    })),
    actions: draft.actions.map((each) => ({
      ...each,
      what: maskText(each.what),
      type: maskText(each.type),
      reference: each.reference === null ? null : maskText(each.reference),
    })),
  };
}

/** A link that holds an address is one no longer. */
function maskEvidence(evidence: Evidence): Evidence {
  if (!("link" in evidence)) return evidence;
  const text = maskText(evidence.link);
  return text === evidence.link ? evidence : { text };
}
