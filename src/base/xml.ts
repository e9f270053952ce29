// Characters that XML 1.0 forbids even when escaped, and halves of surrogate pairs.
const ILLEGAL =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

/** The text with what no XML document may hold replaced by U+FFFD. */
export function legalXml(text: string): string {
  return text.replace(ILLEGAL, "\ufffd");
}

/** Text for an element's content or an attribute in double or single quotes, of XML or HTML. */
export function escapeXml(text: string): string {
  return legalXml(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** The text of an element's content or an attribute as `escapeXml` and Vega write it. */
export function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (entity, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES.get(name) ?? entity) : String.fromCodePoint(Number(code)),
  );
}
