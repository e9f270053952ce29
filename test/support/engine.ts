import type { TestProject } from "vitest/node";
import { restrictedServer } from "./restricted-server.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the run's engine answers: who fills its tables, and who may only read them. */
    engine: { readonly url: string; readonly reader: string };
  }
}

/** Starts one engine for all files of a run; a file makes a database of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await restrictedServer({
    analyst: { settings: {}, grants: ["GRANT SELECT ON *.*"] },
  });
  project.provide("engine", { url: server.url, reader: server.as("analyst") });
  return async () => server[Symbol.asyncDispose]();
}
