import { Worker } from "node:worker_threads";

const watcher = `
const { workerData } = require("node:worker_threads");
setInterval(() => {
  if (process.ppid !== workerData.parent) process.kill(process.pid, "SIGKILL");
}, workerData.every);
`;

/**
 * Ends this process when its parent is gone, also while a cell is in an endless loop: a thread of its own
 * looks every second. (A pipe that closes is only noticed between two turns of the event loop.)
 */
export function dieWithParent(everyMilliseconds = 1000): void {
  const worker = new Worker(watcher, {
    eval: true,
    workerData: { parent: process.ppid, every: everyMilliseconds },
    resourceLimits: { maxOldGenerationSizeMb: 8, stackSizeMb: 1 },
  });
  worker.unref();
}
