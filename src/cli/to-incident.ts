import { Option } from "commander";
import type { Finding } from "../change/finding.js";
import type { Content } from "../incident/figure.js";

/** `--incident <dir>` of a command that answers a question. */
export function incidentOption(): Option {
  return new Option("--incident <dir>", "add the answer with its rows to this incident's folder");
}

/** Adds a sentence to the incident's folder, where one is given. @param evidence its rows and chart. */
export async function addToIncident(
  folder: string | undefined,
  sentence: string,
  ...evidence: readonly Content[]
): Promise<void> {
  if (folder === undefined) return;
  // Loaded when it is needed: every command would wait for it.
  const { openWords } = await import("../incident/living.js");
  (await openWords(folder)).finding(sentence, ...evidence);
}

/** Adds a finding to the incident's folder, where one is given: its sentence, and its chart where it has rows. */
export async function addFinding(folder: string | undefined, finding: Finding): Promise<void> {
  if (folder === undefined) return;
  const { chart } = await import("../chart/chart.js");
  const evidence = finding.result.numRows() > 0 ? [chart.change(finding)] : [];
  await addToIncident(folder, finding.sentence, ...evidence);
}
