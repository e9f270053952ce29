import { inspect, types } from "node:util";
import { hideSecrets } from "../base/redact.js";
import { mimeBundles } from "./show.js";

/** A request of the Debug Adapter Protocol, as a frontend sends it on the control channel. */
interface DebugRequest {
  readonly seq?: number;
  readonly command?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

const mostShownCharacters = 300;
const mostParts = 1000;
/** Objects that a frontend may open; the list starts anew when a cell has run. */
const mostHeld = 10_000;

/**
 * The part of the debug protocol that a Variables view needs: it shows the variables of the cells, opens them
 * and renders one as a cell would. There are no breakpoints.
 * Source: https://jupyter-client.readthedocs.io/en/stable/messaging.html#debug-request
 */
export class VariablesView {
  readonly #variables: () => ReadonlyMap<string, unknown>;
  #held: object[] = [];
  #isStarted = false;

  /** @param variables of the cells, by name */
  constructor(variables: () => ReadonlyMap<string, unknown>) {
    this.#variables = variables;
  }

  /** The content of the `debug_reply`. */
  async answer(request: DebugRequest): Promise<object> {
    const { seq = 0, command = "" } = request;
    const reply = { type: "response", seq, request_seq: seq, command };
    try {
      return { ...reply, success: true, body: await this.#body(command, request.arguments ?? {}) };
    } catch (error) {
      return { ...reply, success: false, message: hideSecrets((error as Error).message), body: {} };
    }
  }

  async #body(command: string, options: Readonly<Record<string, unknown>>): Promise<object> {
    switch (command) {
      case "initialize":
        return { supportsConfigurationDoneRequest: true };
      case "attach":
        this.#isStarted = true;
        return {};
      case "disconnect":
        this.#isStarted = false;
        this.#held = [];
        return {};
      case "configurationDone":
        return {};
      case "debugInfo":
        return {
          isStarted: this.#isStarted,
          hashMethod: "Murmur2",
          hashSeed: 0,
          tmpFilePrefix: "cell-",
          tmpFileSuffix: ".ts",
          breakpoints: [],
          stoppedThreads: [],
          richRendering: true,
          exceptionPaths: [],
          copyToGlobals: false,
        };
      case "setBreakpoints": // A frontend sends the notebook's cells, without any.
      case "setExceptionBreakpoints":
        return { breakpoints: [] };
      case "modules": // JupyterLab asks after each cell.
        return { modules: [], totalModules: 0 };
      case "inspectVariables":
        this.#held = [];
        return { variables: this.#shown([...this.#variables()]) };
      case "variables": {
        const parent = this.#held[Number(options["variablesReference"]) - 1];
        return { variables: parent === undefined ? [] : this.#shown(partsOf(parent)) };
      }
      case "richInspectVariables": {
        const name = String(options["variableName"]);
        const variables = this.#variables();
        if (!variables.has(name)) {
          throw new Error(`Can't show ${name}: no cell that has run declares it.`);
        }
        const { data, metadata } = (await mimeBundles(variables.get(name)))[0]!;
        return { data, metadata };
      }
      default:
        throw new Error(
          `Can't answer ${command}: the kernel shows variables and has no breakpoints.`,
        );
    }
  }

  #shown(parts: readonly (readonly [string, unknown])[]): object[] {
    return parts.slice(0, mostParts).map(([name, value]) => {
      const { type, text } = inWords(value);
      return { name, value: text, type, evaluateName: name, variablesReference: this.#hold(value) };
    });
  }

  /** A number by which a frontend asks for the parts of `value`; 0 for a value without parts. */
  #hold(value: unknown): number {
    const isOpen = typeof value === "object" && value !== null && !types.isProxy(value);
    if (!isOpen || this.#held.length >= mostHeld || partsOf(value).length === 0) return 0;
    return this.#held.push(value);
  }
}

/** JupyterLab shows the value of what has one of these types, and the type of everything else. */
const PRIMITIVES: Readonly<Record<string, string>> = {
  number: "float",
  string: "str",
  boolean: "bool",
};

/** The type of a value and one line of it. Getters aren't run. */
function inWords(value: unknown): { type: string; text: string } {
  const type = typeName(value);
  const options = { depth: 1, breakLength: Infinity, maxArrayLength: 20, maxStringLength: 200 };
  let text: string;
  try {
    text = inspect(value, options).replace(/\s+/g, " ");
  } catch {
    text = "a value that throws an error when it is read";
  }
  const shown = hideSecrets(text);
  return {
    type,
    text: shown.length > mostShownCharacters ? `${shown.slice(0, mostShownCharacters)}…` : shown,
  };
}

function typeName(value: unknown): string {
  if (typeof value !== "object" || value === null || types.isProxy(value)) {
    return value === null ? "null" : (PRIMITIVES[typeof value] ?? typeof value);
  }
  const prototype = Object.getPrototypeOf(value) as object | null;
  const made = prototype && Object.getOwnPropertyDescriptor(prototype, "constructor");
  const maker: unknown = made?.value;
  return typeof maker === "function" && maker.name !== "" ? maker.name : "object";
}

/** The own properties of an object, without getters; of a Map or a Set its entries. */
function partsOf(value: object): [string, unknown][] {
  if (value instanceof Map) {
    return [...value].slice(0, mostParts).map(([key, one]) => [inWords(key).text, one]);
  }
  if (value instanceof Set) {
    return [...value].slice(0, mostParts).map((one, at) => [`${at}`, one]);
  }
  const names = Object.keys(value).slice(0, mostParts);
  return names.flatMap((name): [string, unknown][] => {
    const descriptor = Object.getOwnPropertyDescriptor(value, name);
    return descriptor && "value" in descriptor ? [[name, descriptor.value as unknown]] : [];
  });
}
