import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { readPlain } from "../../files/read-plain.js";
import { withLock } from "../../files/with-lock.js";
import { writeWhole } from "../../files/write-whole.js";
import { channelId, labelsOf, post, type Channel } from "./channels.js";
import { keyOf, utc, type AlertMessage } from "./message.js";

/** The outcome of an alert at a channel. */
export interface AlertOutcome {
  readonly key: string;
  readonly channel: string;
  /** `sent before`: the channel took it within the window, so it is not sent again. */
  readonly state: "sent" | "sent before" | "failed";
  /** When it was sent before, or why it failed. */
  readonly why?: string;
}

/** The channels of alerts, and the folder that remembers what was sent. */
export interface Delivery {
  readonly folder: string;
  readonly channels: readonly Channel[];
  /** An alert that is raised on is sent again after so long. */
  readonly windowMs: number;
}

const schemas = lazySchemas(({ z }) => {
  const severity = z.literal([1, 2, 3, 4]);
  const message = z.object({
    title: z.string(),
    text: z.string(),
    severity,
    links: z.record(z.string(), z.url()),
    key: z.string().optional(),
  });
  const state = z.object({
    message,
    since: z.coerce.date(),
    raised: z.coerce.date(),
    sent: z.record(z.string(), z.object({ severity, at: z.coerce.date() })),
  });
  return { state };
});

/** A standing alert as it is kept: a channel is in it once it took the alert, and not before. */
interface Standing {
  readonly message: AlertMessage;
  readonly since: Date;
  readonly raised: Date;
  readonly sent: Record<string, { readonly severity: AlertMessage["severity"]; readonly at: Date }>;
}

/** Sends an alert to each channel that needs to have it now. */
export function raise(delivery: Delivery, message: AlertMessage): Promise<AlertOutcome[]> {
  const key = keyOf(message);
  const { folder, channels, windowMs } = delivery;
  return alone(folder, key, async () => {
    const now = new Date();
    const before = await readStanding(folder, key);
    const isOn = before !== undefined && Math.abs(+now - +before.raised) <= windowMs;
    const since = isOn ? before.since : now;
    const expires = new Date(+now + windowMs);
    const sent = { ...(isOn && before.sent) };
    const outcomes = await Promise.all(
      channels.map(async (channel): Promise<AlertOutcome> => {
        const [id, outcome] = [channelId(channel), { key, channel: channel.name }];
        const last = sent[id];
        const isAlertmanager = channel.kind === "alertmanager";
        const isRecent = last !== undefined && Math.abs(+now - +last.at) < windowMs;
        // Alertmanager repeats alerts itself, and ends those that are not raised on.
        if (isRecent && message.severity >= last.severity && !isAlertmanager) {
          return { ...outcome, state: "sent before", why: utc(last.at) };
        }
        const notice = { message, since, isRepeat: last !== undefined };
        const failure = await post(channel, notice, expires);
        if (failure !== undefined) return { ...outcome, state: "failed", why: failure };
        const old = last && { ...before!.message, severity: last.severity };
        // With other labels it is another alert there.
        if (isAlertmanager && old && !isDeepStrictEqual(labelsOf(old), labelsOf(message))) {
          await post(channel, { message: old, since, end: now }, expires);
        }
        sent[id] = { severity: message.severity, at: now };
        return { ...outcome, state: "sent" };
      }),
    );
    const isKnown = Object.keys(sent).length > 0;
    if (isKnown) await writeStanding(folder, { message, since, raised: now, sent });
    return outcomes;
  });
}

/** Sends the end of an alert to each channel that took it. */
export function resolve(delivery: Delivery, key: string): Promise<AlertOutcome[]> {
  const { folder, channels, windowMs } = delivery;
  return alone(folder, key, async () => {
    const standing = await readStanding(folder, key);
    if (standing === undefined) return [];
    const now = new Date();
    const sent = { ...standing.sent };
    const taken = channels.filter((channel) => sent[channelId(channel)] !== undefined);
    const outcomes = await Promise.all(
      taken.map(async (channel): Promise<AlertOutcome> => {
        const message = { ...standing.message, severity: sent[channelId(channel)]!.severity };
        const notice = { message, since: standing.since, end: now };
        const why = await post(channel, notice, new Date(+now + windowMs));
        if (why !== undefined) return { key, channel: channel.name, state: "failed", why };
        delete sent[channelId(channel)];
        return { key, channel: channel.name, state: "sent" };
      }),
    );
    // What failed is tried again by the next run that resolves it.
    if (outcomes.some(({ state }) => state === "failed")) {
      await writeStanding(folder, { ...standing, sent });
    } else await rm(pathOf(folder, key), { force: true, recursive: true }).catch(() => undefined);
    return outcomes;
  });
}

const LOCK_MS = 30_000;

/** One at a time for a key. Where it can't be locked, work goes on: better twice than never. */
async function alone<T>(folder: string, key: string, work: () => Promise<T>): Promise<T> {
  let hasBegun = false;
  const locked = () => {
    hasBegun = true;
    return work();
  };
  try {
    return await withLock(pathOf(folder, key).replace(/json$/, "lock"), locked, LOCK_MS);
  } catch (error) {
    if (hasBegun) throw error;
    return work();
  }
}

function pathOf(folder: string, key: string): string {
  return join(folder, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
}

/** Undefined also for a damaged file: the alert is then sent once more. */
async function readStanding(folder: string, key: string): Promise<Standing | undefined> {
  try {
    const text = await readPlain(pathOf(folder, key));
    const standing = schemas().state.parse(JSON.parse(text ?? "null")) as Standing;
    return keyOf(standing.message) === key ? standing : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers what was sent. If that fails, as on a full disk, the alert is sent once more. */
async function writeStanding(folder: string, standing: Standing): Promise<void> {
  const path = pathOf(folder, keyOf(standing.message));
  await writeWhole(path, `${JSON.stringify(standing)}\n`).catch(() => undefined);
}
