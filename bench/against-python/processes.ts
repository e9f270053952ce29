import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";

/** What a command cost, with all processes that it started; memory is the most that they held at once, in MB. */
export interface Cost {
  readonly seconds: number;
  readonly cpu: number;
  readonly memory: number;
}

/** Runs a command to its end. @throws Error with what it wrote where it fails */
export async function costOf(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Cost> {
  const begun = performance.now();
  // The shell prints the processor time of what it waited for: user and system, of itself and of the command.
  const child = spawn(
    "sh",
    ["-c", '"$@" >&2; code=$?; times; exit $code', "sh", command, ...args],
    {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let times = "";
  let said = "";
  let seconds = NaN;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (times += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
    child.once("exit", () => (seconds = (performance.now() - begun) / 1000));
  });
  let memory = 0;
  const watch = setInterval(() => {
    void heldBy(child.pid ?? 0).then((held) => (memory = Math.max(memory, held)));
  }, 100);
  const code = await ended;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${said}`);
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)].slice(2);
  const cpu = parts.reduce(
    (sum, [, minutes, rest]) => sum + 60 * Number(minutes) + Number(rest),
    0,
  );
  return { seconds, cpu, memory };
}

/** Memory of a process and all that it started, in MB; what they share counts once. */
async function heldBy(root: number): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      return { pid, parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0) };
    }),
  );
  const tree = new Set([root]);
  for (let before = 0; before < tree.size;) {
    before = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  const held = await Promise.all([...tree].map(memoryOf));
  return held.reduce((sum, each) => sum + each, 0);
}

/** The share of memory that is a process's, in MB; 0 for one that has ended. */
export async function memoryOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
}
