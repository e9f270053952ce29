import { counted } from "../../../base/text.js";
import { cleanText } from "../../../chart/label.js";
import { formatInstant } from "../../../time/time-zone.js";
import { stateLine } from "./state-line.js";
import type { RedrawnFile, Verification } from "./verify.js";

const SHOWN = 5;

/** A verification for a console: what is right in a line, what is wrong file by file. */
export function verificationText(verification: Verification): string {
  const { manifest, files, redrawn, undrawn, intact } = verification;
  const { title, savedAt, versions } = manifest;
  const wrong = files.filter(({ state }) => state === "changed" || state === "missing");
  const added = files.filter(({ state }) => state === "added");
  const kept = files.length - wrong.length - added.length;
  const lines = [
    `${clean(title)}, saved at ${formatInstant(new Date(savedAt), "UTC")} UTC by probelab ${clean(versions["probelab"] ?? "")}`,
    stateLine("ok", `${counted(kept, "file has", "files have")} the bytes that were saved`),
    ...wrong.map(({ path, state }) => stateLine(state.toUpperCase(), path)),
    ...added.map(({ path }) => stateLine("added", `${path} (not part of the postmortem)`)),
    ...(undrawn === undefined
      ? redrawnLines(verification)
      : [stateLine("UNDRAWN", clean(undrawn))]),
    verdict(intact, redrawn, added.length),
  ];
  return `${lines.join("\n")}\n`;
}

function verdict(intact: boolean, redrawn: readonly RedrawnFile[], added: number): string {
  if (!intact) return "The postmortem is not as it was saved.";
  const version = redrawn.filter(({ state }) => state === "other version").length;
  const fonts = redrawn.filter(({ state }) => state === "other fonts").length;
  const but = added > 0 ? `, but for ${counted(added, "added file", "added files")}` : "";
  if (version + fonts === 0) return `The postmortem is as it was saved${but}.`;
  const what = [...(version > 0 ? ["version"] : []), ...(fonts > 0 ? ["machine"] : [])];
  return `The postmortem is as it was saved${but}, as far as this ${what.join(" and ")} can tell: ${counted(version + fonts, "file was", "files were")} compared by hash alone.`;
}

function redrawnLines({ redrawn, fonts }: Verification): string[] {
  const isSame = ({ state }: RedrawnFile) => state === "same" || state === "same picture";
  const isChart = ({ path }: RedrawnFile) => path.endsWith(".png");
  const charts = redrawn.filter((file) => isChart(file) && isSame(file));
  const others = redrawn.filter((file) => !isChart(file) && isSame(file));
  const elsewhere = redrawn.filter(({ state }) => state === "other version");
  const otherFonts = redrawn.filter(({ state }) => state === "other fonts");
  return [
    ...(charts.length > 0
      ? [
          stateLine(
            "ok",
            `${counted(charts.length, "chart", "charts")} drawn again from data/: the same pictures${rounding(charts)}`,
          ),
        ]
      : []),
    ...(others.length > 0
      ? [
          stateLine(
            "ok",
            `${counted(others.length, "other file", "other files")} written again from data/: the same`,
          ),
        ]
      : []),
    ...redrawn
      .filter(({ state }) => state === "differs" || state === "missing")
      .map(({ path, state, pixels }) =>
        stateLine(
          state.toUpperCase(),
          state === "missing"
            ? path
            : `${path} is not what the data gives${pixels === undefined ? "" : ` (${counted(pixels, "pixel differs", "pixels differ")})`}`,
        ),
      ),
    ...(elsewhere.length > 0
      ? [
          stateLine(
            "skipped",
            `${counted(elsewhere.length, "file", "files")} that other versions of probelab or Node write with other bytes`,
          ),
        ]
      : []),
    ...(otherFonts.length > 0 ? [stateLine("skipped", fontsText(otherFonts, fonts))] : []),
  ];
}

function fontsText(files: readonly RedrawnFile[], fonts: Verification["fonts"]): string {
  const { then = [], now = [] } = fonts ?? {};
  const paths = files.slice(0, SHOWN).map(({ path }) => path);
  const more = files.length > SHOWN ? ` and ${files.length - SHOWN} more` : "";
  const [was, is] = [clean(then.join(", ")) || "no known font", clean(now.join(", "))];
  const here =
    is === "" ? "none here has them" : was === is ? "here in another version" : `here with ${is}`;
  return `${paths.join(", ")}${more}: characters that the shipped font has not were drawn with ${was}, ${here}`;
}

function clean(text: string): string {
  return cleanText(text, 200);
}

function rounding(charts: readonly RedrawnFile[]): string {
  const pixels = charts.reduce((sum, chart) => sum + (chart.pixels ?? 0), 0);
  return pixels === 0 ? "" : ` but for ${counted(pixels, "pixel", "pixels")} of rounding`;
}
