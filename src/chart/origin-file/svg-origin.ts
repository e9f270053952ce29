import { SaxesParser } from "saxes";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";

const NAMESPACE = "urn:probelab:origin";
const STEP = 65_536;
/** Finding a name's namespace takes as long as the elements are nested. */
const DEEPEST = 10_000;

/**
 * The origins in an SVG: its elements `origin` of the namespace `urn:probelab:origin`, under
 * whatever prefix, each with the title of the `<svg>` that it stands in.
 */
export function svgOrigins(text: string): FoundOrigin[] {
  const last = text.lastIndexOf(NAMESPACE);
  if (last < 0) return [];
  const records: { readonly json: string; readonly svg: { title?: string } }[] = [];
  const pictures: { title?: string }[] = [];
  const path: string[] = [];
  let collected: string | undefined;
  const parser = new SaxesParser({ xmlns: true });
  // Other tools write entities that XML doesn't know; what can be read is read.
  parser.on("error", () => undefined);
  parser.on("opentag", ({ local, uri }) => {
    if (local === "svg") pictures.push({});
    if (uri === NAMESPACE && local === "origin") collected = "";
    if (local === "title" && path.at(-1) === "svg") collected ??= "";
    path.push(local);
    if (path.length > DEEPEST) throw damagedFile("an SVG", "its elements are nested too deeply");
  });
  const take = (part: string): void => {
    if (collected !== undefined) collected += part;
  };
  parser.on("text", take);
  parser.on("cdata", take);
  parser.on("closetag", ({ local, uri }) => {
    path.pop();
    const svg = pictures.at(-1) ?? {};
    if (uri === NAMESPACE && local === "origin") records.push({ json: collected ?? "", svg });
    else if (local === "title" && path.at(-1) === "svg") svg.title = collected ?? "";
    else {
      if (local === "svg") pictures.pop();
      return;
    }
    collected = undefined;
  });
  for (let at = 0; at < text.length; at += STEP) {
    parser.write(text.slice(at, at + STEP));
    if (at > last && collected === undefined) break;
  }
  return records.flatMap(({ json, svg }) => foundOrigin(json, svg.title) ?? []);
}
