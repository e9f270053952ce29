import type * as Yaml from "yaml";
import { shown } from "../shown.js";

/**
 * What is wrong with the first key that is no text: it would become another name in silence, as
 * `1.10` becomes "1.1".
 */
export function keyFault(
  yaml: typeof Yaml,
  document: Yaml.Document,
  text: string,
): string | undefined {
  let fault: string | undefined;
  yaml.visit(document, {
    Pair(_, { key: written }) {
      const key = yaml.isAlias(written) ? written.resolve(document) : written;
      if (yaml.isScalar(key) && typeof key.value === "string") return undefined;
      const [start = 0, end = 0] = (yaml.isNode(written) ? written.range : undefined) ?? [];
      const line = text.slice(0, start).split(/\r\n|[\r\n]/).length;
      fault = told(
        yaml.isScalar(key) ? { value: key.value } : undefined,
        text.slice(start, end),
        line,
      );
      return yaml.visit.BREAK;
    },
  });
  return fault;
}

function told(
  scalar: { readonly value: unknown } | undefined,
  source: string,
  line: number,
): string {
  if (scalar === undefined) return `the key at line ${line} is a list or a map; write a name`;
  if (source.trim() === "") return `the key at line ${line} is empty; write a name`;
  const name = shown(source);
  return `the key ${name.slice(1, -1)} at line ${line} is no text (it is read as ${shown(scalar.value)}); write it in quotes, ${name}`;
}
