import { withoutCredentials } from "../../chart/origin-record.js";

/** The text with user names, passwords and secret parameters of its web addresses left out. */
export function withoutSecrets(text: string): string {
  return withoutCredentials(text, Infinity);
}
