import { count } from "../../../chart/draw-rows.js";
import { cleanText } from "../../../chart/label.js";
import { formatInstant } from "../../../time/time-zone.js";
import { stateLine } from "./state-line.js";
import type { RedrawnFile, Verification } from "./verify.js";

/** A verification for a console: what is right in a line, what is wrong file by file. */
export function verificationText(verification: Verification): string {
  const { manifest, files, redrawn, undrawn, intact } = verification;
  const { title, savedAt, versions } = manifest;
  const wrong = files.filter(({ state }) => state === "changed" || state === "missing");
  const added = files.filter(({ state }) => state === "added");
  const kept = files.length - wrong.length - added.length;
  const lines = [
    `${clean(title)}, saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${clean(versions["probelab"] ?? "")}`,
    stateLine("ok", `${count(kept, "file has", "files have")} the bytes that were saved`),
    ...wrong.map(({ path, state }) => stateLine(state.toUpperCase(), path)),
    ...added.map(({ path }) => stateLine("added", `${path} (not part of the postmortem)`)),
    ...(undrawn === undefined ? redrawnLines(redrawn) : [stateLine("UNDRAWN", clean(undrawn))]),
    intact ? "The postmortem is as it was saved." : "The postmortem is not as it was saved.",
  ];
  return `${lines.join("\n")}\n`;
}

function redrawnLines(redrawn: readonly RedrawnFile[]): string[] {
  const isSame = ({ state }: RedrawnFile) => state === "same" || state === "same picture";
  const isChart = ({ path }: RedrawnFile) => path.endsWith(".png");
  const charts = redrawn.filter((file) => isChart(file) && isSame(file));
  const others = redrawn.filter((file) => !isChart(file) && isSame(file));
  const elsewhere = redrawn.filter(({ state }) => state === "other version");
  return [
    ...(charts.length > 0
      ? [
          stateLine(
            "ok",
            `${count(charts.length, "chart", "charts")} drawn again from data/: the same pictures`,
          ),
        ]
      : []),
    ...(others.length > 0
      ? [
          stateLine(
            "ok",
            `${count(others.length, "other file", "other files")} written again from data/: the same`,
          ),
        ]
      : []),
    ...redrawn
      .filter(({ state }) => state === "differs")
      .map(({ path, share }) =>
        stateLine(
          "DIFFERS",
          `${path} is not what the data gives${share === undefined ? "" : ` (${percent(share)} of the pixels)`}`,
        ),
      ),
    ...(elsewhere.length > 0
      ? [
          stateLine(
            "skipped",
            `${count(elsewhere.length, "file", "files")} that other versions of probelab or Node write with other bytes`,
          ),
        ]
      : []),
  ];
}

function clean(text: string): string {
  return cleanText(text, 200);
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}
