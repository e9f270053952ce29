import { once, type EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";

const parentCheckMilliseconds = 1000;

// Indices of the flags that both threads share.
const SYNCHRONOUS = 0;
const PENDING = 1;
const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));

/** Says whether the part of a cell before its first await is running, which V8 itself ends on SIGINT. */
export function setSynchronous(runs: boolean): void {
  Atomics.store(shared, SYNCHRONOUS, runs ? 1 : 0);
}

/** Calls the listeners of SIGINT if a signal came that they have not heard of yet. */
export function callInterruptListeners(): void {
  if (Atomics.load(shared, PENDING) === 0) return;
  if (Atomics.exchange(shared, PENDING, 0) === 1) process.emit("SIGINT", "SIGINT");
}

// Node ends `wait` on a signal, unless the main thread's own watch is newer and takes it. `base` hears a signal
// while `probelabListen` starts `wait` again.
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
    // Sends it on to the main thread's watch, which is the newest now or in a moment.
    sleep(1);
    process.kill(process.pid, "SIGINT");
    sleep(5);
  }
}
globalThis.probelabWait = () => {
  while (process.ppid === parent) sleep(every);
  // Ends what the cells started too, if this process leads a group.
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
 * Starts a thread that notices what this one can't while a cell runs. Await it before the first cell.
 *
 * It ends the process when its parent is gone, even in an endless loop. (A closed pipe is only noticed
 * between two turns of the event loop.)
 *
 * It calls the listeners of SIGINT for every signal, except those that end the part of a cell before its
 * first await. Node alone is not enough: it removes the listeners while `vm` runs code with `breakOnSigint`,
 * and a signal at the moment where that starts or ends is lost, or ends the process with all variables. The
 * main thread calls the listeners in the next turn of the event loop, or when the code of a cell asks
 * (`callInterruptListeners`).
 */
export async function startWatchThread(): Promise<void> {
  keepHandlerOff();
  const thread = new Worker(watcher, {
    eval: true,
    workerData: { shared, parent: process.ppid, every: parentCheckMilliseconds },
    resourceLimits: { maxOldGenerationSizeMb: 8, stackSizeMb: 1 },
  });
  await once(thread, "message");
  thread.on("message", callInterruptListeners);
  thread.unref();
}

/**
 * Keeps Node from installing its handler for listeners of SIGINT, a cell's too: it would replace the thread's.
 * Node does so in a `newListener` listener, so these don't hear of SIGINT.
 */
function keepHandlerOff(): void {
  const events: EventEmitter = process;
  type Listener = (name: string | symbol, ...rest: unknown[]) => void;
  for (const listener of events.listeners("newListener") as Listener[]) {
    events.off("newListener", listener);
    events.on("newListener", (name: string | symbol, ...rest: unknown[]) => {
      if (name !== "SIGINT") listener(name, ...rest);
    });
  }
}
