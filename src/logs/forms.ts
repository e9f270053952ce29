import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { PrintedSql } from "../query/sql.js";

/**
 * How a deployment's log lines tell what is asked of them: for each, the name of a ready form, a
 * pattern in RE2's syntax with named groups (`(?P<report>…)`), or a list of them. A line is read by
 * the first that fits; missing: by all ready ones.
 */
export interface LogForms {
  /**
   * A submitted report. Ready: `collector`, `combined`, `json`. Groups: `report`, its id; `status`,
   * the answer's HTTP status (200 to 299 is accepted; a line without one counts as accepted);
   * `detail`, what a refusal says.
   */
  readonly submission?: string | readonly string[];
  /** A list of URLs that check-in gave. Ready: `api`, `json`. Group: `urls`, its length. */
  readonly checkIn?: string | readonly string[];
}

/** A form as it is asked with. */
export interface Form {
  /** The name of a ready form, or the pattern itself. */
  readonly name: string;
  readonly pattern: string;
  /** Place of each named group among the pattern's groups, from 1. */
  readonly groups: ReadonlyMap<string, number>;
}

/** What may stand before a line's own text: a prefix such as `api[12]: ` or `2026-05-01 12:00:00 INFO `. */
const PREFIX = "(?:^|[\\]):|] |\\b(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|debug|info|notice) )";
/** A report's path, wherever the service lives; what follows the id (`/close`) is no submission. */
const PATH = '[^ "?]*/report/(?P<report>[^ "?/:,]+)/?(?:\\?[^ "]*)?';

const READY = {
  submission: {
    // POST /report/ID from 203.0.113.9: 200, 3 measurements
    collector: `${PREFIX}POST ${PATH}(?:(?: .*?(?:: |[-=]> ?|\\bstatus[=:] ?)|:? )(?P<detail>(?P<status>[1-5][0-9]{2})(?:[ ,;].*)?)$|[ :].*$|$)`,
    // The common and combined forms of Apache and nginx, a virtual host before them or not:
    // 203.0.113.9 - - [01/May/2026:12:00:00 +0000] "POST /report/ID HTTP/1.1" 200 157 "-" "probe/3.20"
    combined: `"POST ${PATH}(?: HTTP/[0-9.]+)?" (?P<detail>(?P<status>[1-5][0-9]{2}))\\b`,
    // {"method": "POST", "path": "/report/ID", "status": 200} or "request": "POST /report/ID HTTP/1.1"
    json: `^[^{]*\\{.*(?:"POST".*"|"POST )${PATH}(?: HTTP/[0-9.]+)?"(?:.*"status(?:_code)?" ?: ?"?(?P<detail>(?P<status>[1-5][0-9]{2}))\\b)?`,
  },
  checkIn: {
    // check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: 100 URLs
    api: `${PREFIX}check-in .*?\\b(?P<urls>[0-9]+) URLs`,
    // {"path": "/api/v1/check-in", …, "urls": 100}
    json: `^[^{]*\\{.*\\bcheck-in\\b.*"(?:urls|url_count|urls_count|num_urls)" ?: ?"?(?P<urls>[0-9]+)\\b`,
  },
} as const;

const GROUPS = { submission: "report", checkIn: "urls" } as const;

/**
 * The forms of a configuration, checked.
 *
 * @throws ProbelabError for an unknown line, a ready form that there is not, or a pattern without
 *   the group that is asked for.
 */
export function checkForms(forms: LogForms): LogForms {
  refuseUnknown(forms, Object.keys(READY), "use tables.logs.forms");
  for (const line of ["submission", "checkIn"] as const) formsOf(line, forms);
  return forms;
}

/**
 * SQL for the place, from 1, of the first form that fits a message; 0 where none does.
 *
 * @param message SQL of a text that is not null.
 */
export function formSql(forms: readonly Form[], message: string): PrintedSql {
  const cases = forms.map((_, at) => `match(${message}, {form_${at}:String}), ${at + 1}`);
  const parameters = Object.fromEntries(forms.map(({ pattern }, at) => [`form_${at}`, pattern]));
  return { sql: `multiIf(${cases.join(", ")}, 0)`, parameters };
}

/**
 * SQL for what a named group holds in a message, by the form that fits it; empty where it holds
 * nothing, or the form has no such group. Its parameters are those of `formSql`.
 *
 * @param form SQL of what `formSql` gives.
 */
export function groupSql(
  forms: readonly Form[],
  group: string,
  message: string,
  form: string,
): string {
  const cases = forms.flatMap(({ groups }, at) => {
    const place = groups.get(group);
    return place === undefined
      ? []
      : [`${form} = ${at + 1}, extractGroups(${message}, {form_${at}:String})[${place}]`];
  });
  return cases.length === 0 ? "''" : `multiIf(${cases.join(", ")}, '')`;
}

/** The forms of a line, in the order in which they are tried. */
export function formsOf(line: keyof typeof READY, forms: LogForms): Form[] {
  const ready: Readonly<Record<string, string>> = READY[line];
  const names: unknown = forms[line] ?? Object.keys(ready);
  const list = typeof names === "string" ? [names] : names;
  const setting = `tables.logs.forms.${line}`;
  const remedy = `Name a ready form (${Object.keys(ready).join(", ")}), or give a pattern with the group (?P<${GROUPS[line]}>…), or a list of them.`;
  if (!Array.isArray(list) || list.length === 0) {
    throw new ProbelabError(
      `Can't use ${setting}: ${JSON.stringify(names) ?? String(names)}. ${remedy}`,
    );
  }
  return list.map((name: unknown) => {
    const known = typeof name === "string" && Object.hasOwn(ready, name);
    const pattern = known ? ready[name] : name;
    const groups = typeof pattern === "string" ? namedGroups(pattern) : new Map<string, number>();
    if (typeof name !== "string" || typeof pattern !== "string" || !groups.has(GROUPS[line])) {
      throw new ProbelabError(
        `Can't use ${JSON.stringify(name)} in ${setting}: it is no ready form and has no group (?P<${GROUPS[line]}>…). ${remedy}`,
      );
    }
    return { name, pattern, groups };
  });
}

/** The named groups of a pattern and their places among all that capture, from 1. */
function namedGroups(pattern: string): Map<string, number> {
  const groups = new Map<string, number>();
  let place = 0;
  // An escape, a quoted span, a class (whose first character may be a bracket), or an opening bracket.
  const parts =
    /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\((?:\?P?<(\w+)>|(\?))?/g;
  for (const [part, name, plain] of pattern.matchAll(parts)) {
    if (!part.startsWith("(") || plain !== undefined) continue;
    place += 1;
    if (name !== undefined) groups.set(name, place);
  }
  return groups;
}
