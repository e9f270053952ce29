/** Set in the process of a notebook that runs without anyone watching. */
export const headlessVariable = "PROBELAB_HEADLESS";

/** True in a notebook that runs without anyone watching: progress is left out of its outputs. */
export function isHeadless(): boolean {
  return process.env[headlessVariable] === "1";
}
