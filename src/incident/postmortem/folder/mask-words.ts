import { maskText } from "../secrets.js";
import type { Draft } from "../postmortem.js";

/** The words of a postmortem with addresses masked; the names of people and links stay as they are. */
export function maskWords(draft: Draft): Draft {
  const all = (texts: readonly string[]): string[] => texts.map(maskText);
  return {
    ...draft,
    title: maskText(draft.title),
    summary: all(draft.summary),
    impact: all(draft.impact),
    rootCauses: all(draft.rootCauses),
    trigger: all(draft.trigger),
    detection: all(draft.detection),
    resolution: all(draft.resolution),
    wentWell: all(draft.wentWell),
    wentWrong: all(draft.wentWrong),
    lucky: all(draft.lucky),
    findings: draft.findings.map((each) => ({ ...each, text: maskText(each.text) })),
    timeline: draft.timeline.map((each) => ({ ...each, event: maskText(each.event) })),
    actions: draft.actions.map((each) => ({ ...each, what: maskText(each.what) })),
  };
}
