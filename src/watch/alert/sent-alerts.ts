import { createHash } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readPlain } from "../../base/files/read-plain.js";
import { withLock } from "../../base/files/with-lock.js";
import { writeWhole } from "../../base/files/write-whole.js";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { DAY, HOUR } from "../../time/span.js";
import {
  CHANNELS,
  channelId,
  isAddress,
  keyOf,
  labelsOf,
  post,
  utc,
  type AlertMessage,
  type Channel,
} from "./channels.js";

/** The outcome of an alert at a channel. */
export interface AlertOutcome {
  readonly key: string;
  readonly channel: string;
  /** `sent before`: the channel took it within the window, so it is not sent again. */
  readonly state: "sent" | "sent before" | "failed";
  /** When it was sent before, or why it failed. */
  readonly why?: string;
}

/** What became of an alert at each channel. */
export interface Delivered {
  readonly outcomes: readonly AlertOutcome[];
  /** What the reader must know beside: a damaged state file was set aside. */
  readonly note?: string;
}

/** The channels of alerts, and the folder that remembers what was sent. */
export interface Delivery {
  readonly folder: string;
  readonly channels: readonly Channel[];
  /** An alert that is raised on is sent again after so long. */
  readonly windowMs: number;
  /** When the next scheduled run may raise it again, in milliseconds since 1970; 0 where none is known. */
  readonly nextRun: number;
}

/** The last moment that a Date can hold. */
const LAST_TIME = 8.64e15;

/** An open alert as it is kept; times in milliseconds since 1970. */
const SCHEMA = lazySchemas((z) => {
  const severity = z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]);
  const address = z.string().refine(isAddress);
  const links = z.object({ notebook: address, page: address, runbook: address }).catchall(address);
  const message = z.object({
    title: z.string(),
    text: z.string(),
    severity,
    links,
    key: z.string().exactOptional(),
  });
  // By channel: what it took last, and when; 0 where it may have taken it.
  const time = z.number().min(0).max(LAST_TIME);
  const sent = z.record(z.string(), z.object({ severity, at: time }));
  return z.object({ message, since: time, raised: time, sent });
});
type OpenAlert = ReturnType<ReturnType<typeof SCHEMA>["parse"]>;

/** An alert that was neither raised nor resolved for so long is a new one when it is raised. */
const FORGOTTEN = DAY;
/** So long after its period begins a run may end. */
const SLACK = HOUR;

/** Sends an alert to each channel that needs to have it now. */
export function raise(delivery: Delivery, message: AlertMessage): Promise<Delivered> {
  const key = keyOf(message);
  return alone(delivery, key, async ({ open: before, ...read }) => {
    const { folder, channels, windowMs, nextRun } = delivery;
    const now = Date.now();
    const pause = Math.abs(now - (before?.raised ?? 0));
    // Until the next run can raise it again.
    const holds = Math.max(windowMs, nextRun + SLACK - now);
    const isOn = before !== undefined && pause <= Math.max(FORGOTTEN, holds);
    const since = isOn ? Math.min(before.since, now) : now;
    const expires = new Date(now + holds);
    // A channel that took an earlier alert is owed its end, whatever becomes of this one.
    const sent = { ...before?.sent };
    const outcomes = await Promise.all(
      channels.map(async (channel): Promise<AlertOutcome> => {
        const [id, outcome] = [channelId(channel), { key, channel: channel.name }];
        const last = sent[id];
        const { repeats } = CHANNELS[channel.kind];
        const isRecent = last !== undefined && Math.abs(now - last.at) < windowMs;
        if (isRecent && message.severity >= last.severity && !repeats) {
          return { ...outcome, state: "sent before", why: utc(new Date(last.at)) };
        }
        const notice = { message, since: new Date(since), isRepeat: isOn && last !== undefined };
        const failure = await post(channel, notice, expires);
        // A channel that didn't answer may have shown it: it gets the alert again, and its end.
        if (failure?.isUnsure) sent[id] ??= { severity: message.severity, at: 0 };
        if (failure) return { ...outcome, state: "failed", why: failure.why };
        const old = last && { ...before!.message, severity: last.severity };
        // With other labels it is another alert there.
        if (repeats && old && !isDeepStrictEqual(labelsOf(old), labelsOf(message))) {
          await post(
            channel,
            { message: old, since: new Date(since), end: new Date(now) },
            expires,
          );
        }
        sent[id] = { severity: message.severity, at: now };
        return { ...outcome, state: "sent" };
      }),
    );
    const isKnown = Object.keys(sent).length > 0;
    if (isKnown) await writeOpen(folder, { message, since, raised: now, sent });
    return { ...read, outcomes };
  });
}

/** Sends the end of an alert to each channel that took it. */
export function resolve(delivery: Delivery, key: string): Promise<Delivered> {
  return alone(delivery, key, async ({ open, ...read }) => {
    if (open === undefined) return { ...read, outcomes: [] };
    const { folder, channels, windowMs } = delivery;
    const end = new Date();
    // An alert that was raised by a clock ahead ends when it began: its channels take no earlier end.
    const since = new Date(Math.min(open.since, +end));
    const sent = { ...open.sent };
    const taken = channels.filter((channel) => sent[channelId(channel)] !== undefined);
    const outcomes = await Promise.all(
      taken.map(async (channel): Promise<AlertOutcome> => {
        const message = { ...open.message, severity: sent[channelId(channel)]!.severity };
        const failure = await post(channel, { message, since, end }, new Date(+end + windowMs));
        if (failure) return { key, channel: channel.name, state: "failed", why: failure.why };
        delete sent[channelId(channel)];
        return { key, channel: channel.name, state: "sent" };
      }),
    );
    // What failed is tried again by the next run that resolves it.
    if (outcomes.some(({ state }) => state === "failed"))
      await writeOpen(folder, { ...open, sent });
    else await rm(pathOf(folder, key), { force: true, recursive: true }).catch(() => undefined);
    return { ...read, outcomes };
  });
}

/** Reads what is kept of an alert and works on it while nobody else does. */
async function alone(
  { folder }: Delivery,
  key: string,
  work: (read: { open: OpenAlert | undefined; note?: string }) => Promise<Delivered>,
): Promise<Delivered> {
  const path = pathOf(folder, key);
  let began = false;
  const run = async () => {
    began = true;
    return work(await readOpen(path, key));
  };
  try {
    return await withLock(`${path}.lock`, run);
  } catch (error) {
    if (began) throw error;
    // A folder that can't be written holds back no alert.
    return run();
  }
}

function pathOf(folder: string, key: string): string {
  return join(folder, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
}

/** What is kept of an alert. What doesn't fit is set aside, and the alert is sent once more. */
async function readOpen(path: string, key: string) {
  try {
    const text = await readPlain(path);
    if (text === undefined) return { open: undefined };
    const open = SCHEMA().parse(JSON.parse(text));
    if (keyOf(open.message) === key) return { open };
  } catch {
    // Named below.
  }
  const aside = `${path}.damaged`;
  await rename(path, aside).catch(() => undefined);
  return {
    open: undefined,
    note: `What was kept of this alert couldn't be read and is set aside as ${aside}, so channels may show it twice.`,
  };
}

/** Remembers what was sent. If that fails, as on a full disk, the alert is sent once more. */
async function writeOpen(folder: string, open: OpenAlert): Promise<void> {
  const path = pathOf(folder, keyOf(open.message));
  await writeWhole(path, `${JSON.stringify(open)}\n`).catch(() => undefined);
}
