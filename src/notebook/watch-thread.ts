import { once, type EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";

const parentCheckMilliseconds = 1000;

/** 1 while a cell's synchronous code may run. Shared with the thread below. */
const synchronous = new Int32Array(new SharedArrayBuffer(4));

/** Says whether a cell's synchronous code may run from now on: V8 ends that code itself on SIGINT. */
export function setSynchronous(runs: boolean): void {
  Atomics.store(synchronous, 0, runs ? 1 : 0);
}

// What waits in `listen` is told of a signal by Node, unless the main thread's own watch, which is newer,
// takes it. `base` stays while `listen` begins anew, so that there is somebody to tell at any time.
const watcher = `
const { parentPort, workerData } = require("node:worker_threads");
const vm = require("node:vm");
const { synchronous, parent, every } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));
const wait = new vm.Script("probelabWait()");
const base = new vm.Script("probelabListen()");
const tell = () => parentPort.postMessage(null);
const watched = { breakOnSigint: true };
globalThis.probelabWait = () => {
  while (process.ppid === parent) Atomics.wait(never, 0, 0, every);
  process.kill(process.pid, "SIGKILL");
};
globalThis.probelabListen = () => {
  for (;;) {
    try {
      wait.runInThisContext(watched);
    } catch {
      // A watch that began before this wait was passed over: it is the newest now.
      if (Atomics.load(synchronous, 0) === 1) process.kill(process.pid, "SIGINT");
      else tell();
    }
  }
};
tell();
for (;;) {
  try {
    base.runInThisContext(watched);
  } catch {
    tell();
  }
}
`;

/**
 * Starts a thread that notices what this one can't while a cell runs. To be awaited before the first cell.
 *
 * It ends the process when its parent is gone, also in an endless loop. (A pipe that closes is only noticed
 * between two turns of the event loop.)
 *
 * It calls the listeners of SIGINT for every signal, but those that end a cell's synchronous code. Node's
 * own way is not enough: it takes the listeners off while `vm` runs code with `breakOnSigint`, and a signal
 * that comes where that begins or ends is lost, or ends the process with all variables. A thread that
 * always watches closes these gaps.
 */
export async function startWatchThread(): Promise<void> {
  keepHandlerOff();
  const thread = new Worker(watcher, {
    eval: true,
    workerData: { synchronous, parent: process.ppid, every: parentCheckMilliseconds },
    resourceLimits: { maxOldGenerationSizeMb: 8, stackSizeMb: 1 },
  });
  await once(thread, "message");
  thread.on("message", () => process.emit("SIGINT", "SIGINT"));
  thread.unref();
}

/** Keeps Node from installing a handler for listeners of SIGINT, a cell's too: it would replace the thread's. */
function keepHandlerOff(): void {
  const events: EventEmitter = process;
  type Install = (name: string | symbol) => void;
  for (const install of events.listeners("newListener") as Install[]) {
    if (install.name !== "startListeningIfSignal") continue;
    events.off("newListener", install);
    events.on("newListener", (name: string | symbol) => {
      if (name !== "SIGINT") install(name);
    });
  }
}
