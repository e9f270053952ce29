import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { pendingWork } from "../../base/pending-work.js";
import { printBackgroundErrors } from "../background-errors.js";
import { CellSession } from "../cell-session.js";
import { startWatchThread } from "../watch-thread.js";
import { Connection, type ConnectionInfo } from "./connection.js";
import { Kernel } from "./kernel.js";

/** Time to write what the cells started when the kernel is shut down; Jupyter kills it after 5 s. */
const patienceMilliseconds = 10_000;

/**
 * Starts the kernel that Jupyter asked for, in this process and its working directory.
 *
 * @param connectionFile that Jupyter wrote for it
 */
export async function startKernel(connectionFile: string): Promise<void> {
  const info = JSON.parse(readFileSync(connectionFile, "utf8")) as ConnectionInfo;
  const isWatched = startWatchThread();
  const connection = new Connection(info);
  const log = process.stderr.write.bind(process.stderr);
  const session = new CellSession();
  const kernel = new Kernel(session, connection, () => void end());
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    // Jupyter sends SIGTERM while the kernel ends. Without a listener before, it ends a kernel whose cell never
    // lets it read the shutdown request (a loop of microtasks, execSync).
    process.on("SIGTERM", () => undefined);
    kernel.end();
    // Finishes what cells started to write without an await.
    await Promise.race([pendingWork(), setTimeout(patienceMilliseconds)]);
    connection.close();
    // Sockets linger until what was sent has arrived; open connections of the notebook don't hold the kernel.
    await setTimeout(100);
    process.exit(0);
  };
  process.on("SIGINT", () => session.interrupt());
  printBackgroundErrors();
  await isWatched;
  await connection.bind();
  connection.listen(
    (channel, message) => kernel.take(channel, message),
    (reason) => log(`probelab: a message was dropped: ${reason}\n`),
  );
  connection.publish("status", { execution_state: "starting" }, undefined);
}
