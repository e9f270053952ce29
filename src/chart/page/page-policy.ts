import { createHash } from "node:crypto";

/**
 * The Content-Security-Policy of a saved page. Nothing is loaded but pictures and fonts that stand in
 * the page itself; of scripts and styles only those given run, known by their hash, so that the same
 * page has the same bytes; no script can make HTML out of text (Trusted Types).
 */
export function pagePolicy(scripts: readonly string[], styles: readonly string[]): string {
  const hashes = (texts: readonly string[]): string =>
    texts.length === 0 ? "'none'" : texts.map((text) => `'sha256-${sha256(text)}'`).join(" ");
  return [
    "default-src 'none'",
    `script-src ${hashes(scripts)}`,
    `style-src ${hashes(styles)}`,
    "img-src data:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
