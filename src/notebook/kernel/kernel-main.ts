import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { pendingWork } from "../../base/pending-work.js";
import { CellSession } from "../cell-session.js";
import { printBackgroundErrors, showWarnings } from "../background-errors.js";
import { startWatchThread } from "../watch-thread.js";
import { Kernel } from "./kernel.js";
import { Sockets, type ConnectionInfo } from "./sockets.js";
import { Wire } from "./wire.js";

/** Time for what the cells began to write when the kernel is shut down; Jupyter kills it after 5 s. */
const patienceMilliseconds = 10_000;

/**
 * Starts the kernel that Jupyter asked for, in this process and its working directory.
 *
 * @param connectionFile what Jupyter wrote for it
 */
export async function startKernel(connectionFile: string): Promise<void> {
  const info = JSON.parse(readFileSync(connectionFile, "utf8")) as ConnectionInfo;
  const isWatched = startWatchThread();
  const wire = new Wire(info.key);
  const sockets = new Sockets(info);
  const log = process.stderr.write.bind(process.stderr);
  const session = new CellSession();
  const kernel = new Kernel(
    session,
    {
      reply: (channel, request, type, content) =>
        sockets.reply(channel, wire.write(type, content, request.header, request.identities)),
      publish: (type, content, parent) =>
        sockets.publish(wire.write(type, content, parent?.header, [Buffer.from(type)])),
    },
    () => void end(),
  );
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    kernel.end();
    // What cells began to write is still written, also where they didn't wait for it.
    await Promise.race([pendingWork(), setTimeout(patienceMilliseconds)]);
    sockets.close();
    // Sockets linger until what was sent has arrived; open connections of the notebook don't hold the kernel.
    await setTimeout(100);
    process.exit(0);
  };
  process.on("SIGINT", () => session.interrupt());
  // Jupyter sends it when the kernel doesn't end soon after it was asked to.
  process.on("SIGTERM", () => void end());
  printBackgroundErrors();
  showWarnings();
  await isWatched;
  await sockets.bind();
  sockets.listen((channel, frames) => {
    try {
      kernel.take(channel, wire.read(frames));
    } catch (error) {
      log(`probelab: a message was dropped: ${error instanceof Error ? error.message : ""}\n`);
    }
  });
  sockets.publish(
    wire.write("status", { execution_state: "starting" }, undefined, [Buffer.from("status")]),
  );
}
