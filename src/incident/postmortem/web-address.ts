import { withoutSecrets } from "./secrets.js";

/**
 * A text as the address of a link: `http` or `https`, written as browsers send it, so that no quote,
 * space or other script in it ends it anywhere, without user name and password.
 *
 * @returns undefined where the text is no such address.
 */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.username = "";
  url.password = "";
  const plain = withoutSecrets(url.href);
  return URL.canParse(plain) ? new URL(plain).href.replaceAll("\\", "%5C") : undefined;
}
