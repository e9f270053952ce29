import { connect } from "../lab/connect.js";
import type { Check } from "./check.js";

/** Opens the database of the measurements, as a notebook would. */
export async function checkDatabase(): Promise<Check> {
  const name = "Database";
  try {
    await using lab = await connect();
    return { name, state: "ok", found: lab.source };
  } catch (error) {
    return {
      name,
      state: "failure",
      found: error instanceof Error ? error.message : String(error),
      remedy:
        "Set PROBELAB_MEASUREMENTS to https://host:8443/database or to embedded:DIR with a folder that you may write to; with neither, run npm install anew, so that the embedded engine (chdb) is there.",
    };
  }
}
