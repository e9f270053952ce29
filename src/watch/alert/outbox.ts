import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "../../files/with-lock.js";
import { remove, writeWhole } from "../../files/write-whole.js";
import { deliver, type Channel, type Delivery } from "./channels.js";
import { keyOf, type AlertMessage, type Notice, type Told } from "./message.js";

/** Where alerts are sent, and what is kept of them until then. */
export interface Outbox {
  /** A folder of its own: a file an alert, written whole before anything is sent. */
  readonly folder: string;
  readonly channels: readonly Channel[];
  /** Channels that take over what one of the others doesn't take. */
  readonly secondary: readonly Channel[];
  /** People are told again of an alert that is raised on after so long; it ends by itself then. */
  readonly windowMs: number;
}

/** What became of one alert at one channel. */
export interface Outcome {
  readonly key: string;
  readonly channel: string;
  /** `known`: told within the window already; `waiting`: is tried again later. */
  readonly state: Delivery["state"] | "known";
  readonly why?: string;
}

type State = Notice["state"];

/** An alert from its first raising until all of its notices are delivered. */
interface Kept {
  message: Told;
  state: State;
  since: string;
  until?: string;
  raised: number;
  expires: string;
  /** When people were owed a notice last. */
  told: string;
  readonly channels: Record<string, Line>;
}

/** What one channel knows of an alert, and is still to be told. */
interface Line {
  owed: State | null;
  knows?: State;
  /** A try whose end nobody knows: one that got no answer, or whose process was killed. */
  unsure?: boolean;
  attempts: number;
  next?: string;
}

/** At once, before another channel takes over. */
const TRIES = 3;
const LONGEST_WAIT_MS = 600_000;

/** Raises alerts: keeps them, tells those channels that don't know them yet. */
export function raise(
  box: Outbox,
  messages: readonly AlertMessage[],
  now: Date,
): Promise<Outcome[]> {
  return change(box, now, async (all) => {
    for (const { chart, ...message } of messages) {
      const key = keyOf(message);
      const before = all.get(key);
      const going = before?.state === "firing" && new Date(before.expires) > now;
      const reminded = !going || +now - Date.parse(before.told) >= box.windowMs;
      const worse = going && message.severity < before.message.severity;
      const kept: Kept = {
        ...{ message, state: "firing", raised: (going ? before.raised : 0) + 1 },
        since: going ? before.since : now.toISOString(),
        expires: new Date(+now + box.windowMs).toISOString(),
        told: reminded || worse ? now.toISOString() : before.told,
        channels: before?.channels ?? {},
      };
      for (const { name, idempotent } of box.channels) {
        const line = (kept.channels[name] ??= { owed: null, attempts: 0 });
        if (reminded || worse || idempotent) owe(line, "firing");
      }
      all.set(key, kept);
      if (chart !== undefined) await keepPicture(box, key, await chart.png());
    }
    return messages.map(keyOf);
  });
}

/** Ends alerts: tells those channels that know them, or should. Keys that nobody raised are left. */
export function resolve(box: Outbox, keys: readonly string[], now: Date): Promise<Outcome[]> {
  return change(box, now, (all) => {
    const found = keys.filter((key) => all.get(key)?.state === "firing");
    for (const key of found) {
      const kept = all.get(key)!;
      kept.state = "resolved";
      kept.until = now.toISOString();
      for (const line of Object.values(kept.channels)) {
        if (line.knows === "firing" || line.owed === "firing") owe(line, "resolved");
      }
    }
    return Promise.resolve(found);
  });
}

/** Tries again what is due. */
export function flush(box: Outbox, now: Date): Promise<Outcome[]> {
  return change(box, now, () => Promise.resolve([]));
}

function owe(line: Line, state: State): void {
  line.owed = state;
  line.attempts = 0;
  delete line.next;
}

async function change(
  box: Outbox,
  now: Date,
  edit: (all: Map<string, Kept>) => Promise<readonly string[]>,
): Promise<Outcome[]> {
  const work = async () => {
    const all = await readAll(box);
    const asked = await edit(all);
    await writeAll(box, all, all.keys());
    const outcomes = await deliverOwed(box, all, now);
    const known = asked.flatMap((key) =>
      Object.entries(all.get(key)?.channels ?? {})
        .filter(([name]) => !outcomes.some((one) => one.key === key && one.channel === name))
        .map(([channel]): Outcome => ({ key, channel, state: "known" })),
    );
    await clear(box, all);
    return [...outcomes, ...known];
  };
  try {
    await mkdir(box.folder, { recursive: true });
  } catch {
    // A full disk must not keep an alert from being sent.
    return work();
  }
  return withLock(join(box.folder, ".lock"), work);
}

/** All channels side by side; then those that take over. */
async function deliverOwed(box: Outbox, all: Map<string, Kept>, now: Date): Promise<Outcome[]> {
  const first = await Promise.all(box.channels.map((one) => deliverTo(one, box, all, now)));
  const failed = first.flat().filter(({ state }) => state !== "sent");
  for (const { key } of failed) {
    const kept = all.get(key)!;
    for (const { name } of box.secondary) {
      const line = (kept.channels[name] ??= { owed: null, attempts: 0 });
      if (line.knows !== kept.state) owe(line, kept.state);
    }
  }
  const second = await Promise.all(box.secondary.map((one) => deliverTo(one, box, all, now)));
  const taken = new Set(second.flat().flatMap(({ key, state }) => (state === "sent" ? [key] : [])));
  for (const { key, channel } of failed) {
    const line = all.get(key)!.channels[channel]!;
    const { idempotent } = box.channels.find(({ name }) => name === channel)!;
    // Somebody knows: telling it once more later would be told twice.
    if (taken.has(key) && !idempotent) line.owed = null;
  }
  await writeAll(box, all, all.keys());
  return [...first.flat(), ...second.flat()];
}

async function deliverTo(
  channel: Channel,
  box: Outbox,
  all: Map<string, Kept>,
  now: Date,
): Promise<Outcome[]> {
  const due = [...all].filter(([, { channels }]) => {
    const line = channels[channel.name];
    return line?.owed != null && (line.next === undefined || new Date(line.next) <= now);
  });
  if (due.length === 0) return [];
  const lines = due.map(([, { channels }]) => channels[channel.name]!);
  const notices = await Promise.all(
    due.map(([key, kept], at) => noticeOf(box, key, kept, lines[at]!, channel)),
  );
  // Where this process is killed now, the next one knows that it may have arrived.
  for (const line of lines) line.unsure = true;
  await writeAll(
    box,
    all,
    due.map(([key]) => key),
  );
  const delivery = await tried(channel, notices);
  for (const line of lines) settle(line, delivery, channel, now);
  const why = "why" in delivery ? { why: delivery.why } : {};
  return due.map(([key]) => ({ key, channel: channel.name, state: delivery.state, ...why }));
}

async function tried(channel: Channel, notices: readonly Notice[]): Promise<Delivery> {
  for (let attempt = 1; ; attempt += 1) {
    const delivery = await deliver(channel.request(notices));
    const again =
      delivery.state === "waiting" || (delivery.state === "unknown" && channel.idempotent);
    const wait = Math.max(
      250 * 2 ** attempt * (0.5 + Math.random() / 2),
      1000 * ((delivery.state === "waiting" ? delivery.waitSeconds : undefined) ?? 0),
    );
    if (!again || attempt === TRIES || wait > 5_000) return delivery;
    await sleep(wait);
  }
}

function settle(line: Line, delivery: Delivery, { idempotent }: Channel, now: Date): void {
  line.attempts += 1;
  line.unsure = delivery.state === "unknown" && !idempotent;
  if (delivery.state === "sent") {
    line.knows = line.owed!;
    line.attempts = 0;
  }
  if (delivery.state === "sent" || delivery.state === "refused") {
    line.owed = null;
    return;
  }
  const asked = 1000 * (("waitSeconds" in delivery ? delivery.waitSeconds : undefined) ?? 0);
  const wait = Math.min(LONGEST_WAIT_MS, Math.max(asked, 5_000 * 2 ** line.attempts));
  line.next = new Date(+now + wait).toISOString();
}

async function noticeOf(
  box: Outbox,
  key: string,
  kept: Kept,
  line: Line,
  channel: Channel,
): Promise<Notice> {
  const picture =
    channel.kind === "push" && line.owed === "firing"
      ? await readFile(fileOf(box, key, ".png")).catch(() => undefined)
      : undefined;
  return {
    ...kept.message,
    state: line.owed!,
    since: new Date(kept.since),
    ...(kept.until !== undefined && { until: new Date(kept.until) }),
    raised: kept.raised,
    expires: new Date(kept.expires),
    repeated: line.unsure === true && !channel.idempotent,
    ...(picture !== undefined && { picture }),
  };
}

function fileOf({ folder }: Outbox, key: string, end: ".json" | ".png"): string {
  return join(folder, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}${end}`);
}

async function readAll(box: Outbox): Promise<Map<string, Kept>> {
  const all = new Map<string, Kept>();
  const names = await readdir(box.folder).catch(() => []);
  for (const name of names.filter((one) => /^[0-9a-f]{32}\.json$/.test(one))) {
    try {
      const kept = JSON.parse(await readFile(join(box.folder, name), "utf8")) as Kept;
      all.set(keyOf(kept.message), kept);
    } catch {
      // Written whole, so that somebody else wrote this one: it is no alert.
    }
  }
  return all;
}

async function writeAll(box: Outbox, all: Map<string, Kept>, keys: Iterable<string>) {
  for (const key of keys) {
    const text = JSON.stringify(all.get(key), null, 1);
    // What can't be kept is sent all the same.
    await writeWhole(fileOf(box, key, ".json"), text).catch(() => undefined);
  }
}

async function keepPicture(box: Outbox, key: string, png: Buffer): Promise<void> {
  await writeWhole(fileOf(box, key, ".png"), png).catch(() => undefined);
}

/** Alerts that are over, and of which nobody is owed a word. */
async function clear(box: Outbox, all: Map<string, Kept>): Promise<void> {
  for (const [key, { state, channels }] of all) {
    if (state === "firing" || Object.values(channels).some(({ owed }) => owed !== null)) continue;
    await remove(fileOf(box, key, ".json"));
    await remove(fileOf(box, key, ".png"));
  }
}
