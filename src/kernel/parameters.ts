import { ProbelabError } from "../base/error.js";
import type { CodeCell, Notebook, NotebookCell } from "./notebook-file.js";
import type { Name, Node, Parsed } from "./parse.js";

export type ParameterValue = string | number | boolean | null | readonly unknown[] | object;
export type Parameters = Readonly<Record<string, ParameterValue>>;

/**
 * Sets a notebook's parameters as Papermill does: a cell tagged `injected-parameters` follows the cell
 * tagged `parameters`. A variable that this cell declares with `let` is assigned, others are declared anew;
 * both are checked against the declared type. Where the cell declares a text, a number is taken as its text,
 * as a version such as 3.1 is meant; where it declares a number, `0.50` is one.
 *
 * @throws ProbelabError for a name that the `parameters` cell does not declare, or where there is no such cell
 */
export async function injectParameters(notebook: Notebook, parameters: Parameters): Promise<void> {
  if (Object.keys(parameters).length === 0) return;
  notebook.cells = notebook.cells.filter((cell) => !isInjected(cell));
  const index = notebook.cells.findIndex((cell) => cell.metadata.tags?.includes("parameters"));
  const declared = await declaredVariables(notebook.cells[index]?.source ?? "");
  refuseUnknown(Object.keys(parameters), index < 0 ? undefined : [...declared.keys()]);
  const lines = Object.entries(parameters).map(([name, value]) => {
    const { kind, type, annotation } = declared.get(name)!;
    const text = JSON.stringify(ofType(type, value));
    if (kind === "let") return `${name} = ${text};`;
    if (annotation !== undefined) return `const ${name}: ${annotation} = ${text};`;
    return `const ${name} = ${text}${type === undefined ? "" : ` satisfies ${type}`};`;
  });
  const cell: CodeCell = {
    cell_type: "code",
    id: "injected-parameters",
    metadata: { tags: ["injected-parameters"] },
    source: ["// Parameters", ...lines].join("\n"),
    execution_count: null,
    outputs: [],
  };
  notebook.cells.splice(index + 1, 0, cell);
}

/** True for a cell that sets parameters, put there by this or an earlier run. */
export function isInjected(cell: NotebookCell): boolean {
  return cell.metadata.tags?.includes("injected-parameters") ?? false;
}

/**
 * Reads `name=value`. The value is a number, `true`, `false`, `null`, a quoted string, a list or an object
 * where it is valid JSON, and text otherwise; so is a number with more digits than it needs, such as
 * the version 3.10.
 *
 * @throws ProbelabError where there is no name that a variable may have
 */
export function parseParameter(text: string): [name: string, value: ParameterValue] {
  const [, name = "", value = ""] = /^([A-Za-z_$][\w$]*)=(.*)$/s.exec(text) ?? [];
  if (name === "") {
    throw new ProbelabError(`Can't read the parameter "${text}": write it as name=value.`);
  }
  try {
    const read = JSON.parse(value) as ParameterValue;
    return [name, typeof read === "number" && String(read) !== value ? value : read];
  } catch {
    return [name, value];
  }
}

/** @param declared names of the `parameters` cell, undefined where there is none */
function refuseUnknown(names: readonly string[], declared: readonly string[] | undefined): void {
  const unknown = names.find((name) => !declared?.includes(name));
  if (unknown === undefined) return;
  const why =
    declared === undefined
      ? `no cell of the notebook is tagged "parameters". Declare ${unknown} in one that is`
      : `the notebook's parameters are ${declared.join(", ") || "none"}. Pass one of these, or declare ${unknown} in the cell tagged "parameters"`;
  throw new ProbelabError(`Can't set the parameter "${unknown}": ${why}.`);
}

/** A value as the type that the cell declares. */
function ofType(type: string | undefined, value: ParameterValue): ParameterValue {
  if (type === "string" && typeof value === "number") return String(value);
  if (type !== "number" || typeof value !== "string") return value;
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(value) ? Number(value) : value;
}

/** The names that a cell declares. */
async function declaredVariables(
  code: string,
): Promise<ReadonlyMap<string, { readonly kind: Name["kind"] } & Partial<DeclaredType>>> {
  // Loaded only here: every command would wait for it.
  const { parse } = await import("./parse.js");
  const parsed = parse("parameters.ts", code);
  const types = declaredTypes(parsed);
  const entries = [...parsed.names.values()];
  return new Map(entries.map(({ name, kind }) => [name, { kind, ...types.get(name) }]));
}

/** A variable's type as it is written, and `type`: that, or the type of the literal that it begins as. */
interface DeclaredType {
  readonly annotation: string | undefined;
  readonly type: string | undefined;
}

/** The types that variables are declared with, by name. */
function declaredTypes({ code, body }: Parsed): ReadonlyMap<string, DeclaredType> {
  const variables = body.flatMap(({ declarations = [] }) => declarations);
  return new Map(
    variables.flatMap(({ id, init }) => {
      if (id?.type !== "Identifier") return [];
      const written = id.typeAnnotation?.typeAnnotation;
      const annotation = written ? code.slice(written.start, written.end) : undefined;
      return [[id.name ?? "", { annotation, type: annotation ?? typeOf(init) }] as const];
    }),
  );
}

/** The type of a literal; undefined for anything else. */
function typeOf(node: Node | null | undefined): string | undefined {
  switch (node?.type) {
    case "TemplateLiteral":
      return node.expressions?.length === 0 ? "string" : undefined;
    case "Literal":
      return /^(string|number|boolean)$/.exec(typeof node.value)?.[0];
    case "UnaryExpression":
      return typeOf(node.argument);
    case "ArrayExpression": {
      const [first, ...others] = new Set((node.elements ?? []).map(typeOf));
      return first === undefined || others.length > 0 ? undefined : `${first}[]`;
    }
    default:
      return undefined;
  }
}
