import { plain } from "./ansi.js";
import type { Parameters } from "./parameters.js";
import type { Fault, Objection } from "./worker-messages.js";

/** A code cell of a run, in the numbers of the notebook as it was given. */
export interface RunCell {
  /** Counts the notebook's code cells from 1; the inserted cell has the number of the one before it. */
  readonly number: number;
  /** True for the cell that sets the parameters, which the notebook as given does not have. */
  readonly injected: boolean;
}

const most = 5;

/** What to tell of a notebook that was not run, because TypeScript objects to some of its cells. */
export function objectionMessage(
  objections: readonly Objection[],
  cells: readonly RunCell[],
  of: number,
  parameters: Parameters,
): string {
  const at = (objection: Objection) => cells[objection.cell - 1];
  const injected = objections.find((one) => at(one)?.injected);
  if (injected) {
    const lines = injected.faults.map((fault) => parameterFault(fault, parameters));
    return [...new Set(lines), "Nothing was run."].join("\n");
  }
  const [first, ...more] = objections;
  if (!first) return "";
  const numbers = objections.map((one) => at(one)?.number);
  const last = numbers.pop();
  const which =
    numbers.length === 0
      ? `Cell ${last} of ${of} has a type error`
      : `Cells ${numbers.join(", ")} and ${last} of ${of} have type errors`;
  const list = more.slice(0, most).map((one) => {
    const [fault] = one.faults;
    return `Cell ${at(one)?.number}, line ${fault?.line}: ${one.error.evalue}`;
  });
  if (more.length > most) list.push(`… and ${more.length - most} more cells.`);
  const text = first.error.traceback.map(plain).join("\n");
  return [`${which}; nothing was run.`, text, ...list].join("\n");
}

/** The inserted cell has a comment in its first line, then a line for each parameter. */
function parameterFault({ line, text }: Fault, parameters: Parameters): string {
  const [name, value] = Object.entries(parameters)[line - 2] ?? [];
  if (name === undefined) return `Can't set the parameters: ${text}`;
  const given = JSON.stringify(value);
  const remedy =
    typeof value !== "string" && text.includes("'string'")
      ? `Write text in quotes where it looks like something else: --param '${name}=${JSON.stringify(given)}'.`
      : "Give a value of the type that the notebook's parameters cell declares.";
  return `Can't set the parameter ${name} with --param ${name}=${given}: ${text} ${remedy}`;
}
