import { once, type EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";

const parentCheckMilliseconds = 1000;

// Places of what both threads know; 1 is true.
const SYNCHRONOUS = 0;
const PENDING = 1;
const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));

/** Says whether the part of a cell before its first await may run from now on: V8 ends it itself on SIGINT. */
export function setSynchronous(runs: boolean): void {
  Atomics.store(shared, SYNCHRONOUS, runs ? 1 : 0);
}

/** Calls the listeners of SIGINT where one came that they were not told of yet. */
export function tellInterrupt(): void {
  if (Atomics.load(shared, PENDING) === 0) return;
  if (Atomics.exchange(shared, PENDING, 0) === 1) process.emit("SIGINT", "SIGINT");
}

// What waits in `listen` is told of a signal by Node, unless the main thread's own watch, which is newer,
// takes it. `base` stays while `listen` begins anew, so that there is somebody to tell at any time.
const watcher = `
const { parentPort, workerData } = require("node:worker_threads");
const vm = require("node:vm");
const { shared, parent, every } = workerData;
const [SYNCHRONOUS, PENDING] = [0, 1];
const never = new Int32Array(new SharedArrayBuffer(4));
const sleep = (milliseconds) => Atomics.wait(never, 0, 0, milliseconds);
const wait = new vm.Script("probelabWait()");
const base = new vm.Script("probelabListen()");
const watched = { breakOnSigint: true };
let missed = false;
function heard() {
  Atomics.store(shared, PENDING, 1);
  if (Atomics.load(shared, SYNCHRONOUS) === 0) parentPort.postMessage(null);
  else if (Atomics.exchange(shared, PENDING, 0) === 1) {
    // For the main thread's watch: here it is the newest, or comes in a moment.
    sleep(1);
    process.kill(process.pid, "SIGINT");
    sleep(5);
  }
}
globalThis.probelabWait = () => {
  while (process.ppid === parent) sleep(every);
  // What the cells started ends with it, where it leads a group of its own.
  try { process.kill(-process.pid, "SIGKILL"); } catch {}
  process.kill(process.pid, "SIGKILL");
};
globalThis.probelabListen = () => {
  for (;;) {
    if (missed) {
      missed = false;
      heard();
    }
    try {
      wait.runInThisContext(watched);
    } catch {
      missed = true;
    }
  }
};
parentPort.postMessage(null);
for (;;) {
  try {
    base.runInThisContext(watched);
  } catch {
    missed = true;
  }
}
`;

/**
 * Starts a thread that notices what this one can't while a cell runs. To be awaited before the first cell.
 *
 * It ends the process when its parent is gone, also in an endless loop. (A pipe that closes is only noticed
 * between two turns of the event loop.)
 *
 * It calls the listeners of SIGINT for every signal, but those that end the part of a cell before its first
 * await. Node's own way is not enough: it takes the listeners off while `vm` runs code with `breakOnSigint`,
 * and a signal that comes where that begins or ends is lost, or ends the process with all variables. A
 * thread that always watches closes these gaps. What it tells is read in the next turn of the event loop, or
 * by the code of a cell that asks (`tellInterrupt`).
 */
export async function startWatchThread(): Promise<void> {
  keepHandlerOff();
  const thread = new Worker(watcher, {
    eval: true,
    workerData: { shared, parent: process.ppid, every: parentCheckMilliseconds },
    resourceLimits: { maxOldGenerationSizeMb: 8, stackSizeMb: 1 },
  });
  await once(thread, "message");
  thread.on("message", tellInterrupt);
  thread.unref();
}

/**
 * Keeps Node from installing a handler for listeners of SIGINT, a cell's too: it would replace the thread's.
 * Node installs it when it is told of a new listener, so it isn't told of these.
 */
function keepHandlerOff(): void {
  const events: EventEmitter = process;
  type Told = (name: string | symbol, ...rest: unknown[]) => void;
  for (const told of events.listeners("newListener") as Told[]) {
    events.off("newListener", told);
    events.on("newListener", (name: string | symbol, ...rest: unknown[]) => {
      if (name !== "SIGINT") told(name, ...rest);
    });
  }
}
