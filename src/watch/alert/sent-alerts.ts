import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { readPlain } from "../../files/read-plain.js";
import { writeWhole } from "../../files/write-whole.js";
import {
  channelId,
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

/** The channels of alerts, and the folder that remembers what was sent. */
export interface Delivery {
  readonly folder: string;
  readonly channels: readonly Channel[];
  /** An alert that is raised on is sent again after so long. */
  readonly windowMs: number;
}

/** An open alert as it is kept; times in milliseconds since 1970. */
interface OpenAlert {
  readonly message: AlertMessage;
  readonly since: number;
  readonly raised: number;
  /** By channel: what it took last, and when. */
  readonly sent: Record<
    string,
    { readonly severity: AlertMessage["severity"]; readonly at: number }
  >;
}

/** Sends an alert to each channel that needs to have it now. */
export async function raise(delivery: Delivery, message: AlertMessage): Promise<AlertOutcome[]> {
  const key = keyOf(message);
  const { folder, channels, windowMs } = delivery;
  const now = Date.now();
  const before = await readOpen(folder, key);
  const isOn = before !== undefined && Math.abs(now - before.raised) <= windowMs;
  const since = isOn ? before.since : now;
  const expires = new Date(now + windowMs);
  const sent = { ...(isOn && before.sent) };
  const outcomes = await Promise.all(
    channels.map(async (channel): Promise<AlertOutcome> => {
      const [id, outcome] = [channelId(channel), { key, channel: channel.name }];
      const last = sent[id];
      const isAlertmanager = channel.kind === "alertmanager";
      const isRecent = last !== undefined && Math.abs(now - last.at) < windowMs;
      // Alertmanager repeats alerts itself, and ends those that are not raised on.
      if (isRecent && message.severity >= last.severity && !isAlertmanager) {
        return { ...outcome, state: "sent before", why: utc(new Date(last.at)) };
      }
      const notice = { message, since: new Date(since), isRepeat: last !== undefined };
      const failure = await post(channel, notice, expires);
      if (failure !== undefined) return { ...outcome, state: "failed", why: failure };
      const old = last && { ...before!.message, severity: last.severity };
      // With other labels it is another alert there.
      if (isAlertmanager && old && !isDeepStrictEqual(labelsOf(old), labelsOf(message))) {
        await post(channel, { message: old, since: new Date(since), end: new Date(now) }, expires);
      }
      sent[id] = { severity: message.severity, at: now };
      return { ...outcome, state: "sent" };
    }),
  );
  const isKnown = Object.keys(sent).length > 0;
  if (isKnown) await writeOpen(folder, { message, since, raised: now, sent });
  return outcomes;
}

/** Sends the end of an alert to each channel that took it. */
export async function resolve(delivery: Delivery, key: string): Promise<AlertOutcome[]> {
  const { folder, channels, windowMs } = delivery;
  const open = await readOpen(folder, key);
  if (open === undefined) return [];
  const end = new Date();
  const sent = { ...open.sent };
  const taken = channels.filter((channel) => sent[channelId(channel)] !== undefined);
  const outcomes = await Promise.all(
    taken.map(async (channel): Promise<AlertOutcome> => {
      const message = { ...open.message, severity: sent[channelId(channel)]!.severity };
      const notice = { message, since: new Date(open.since), end };
      const why = await post(channel, notice, new Date(+end + windowMs));
      if (why !== undefined) return { key, channel: channel.name, state: "failed", why };
      delete sent[channelId(channel)];
      return { key, channel: channel.name, state: "sent" };
    }),
  );
  // What failed is tried again by the next run that resolves it.
  if (outcomes.some(({ state }) => state === "failed")) await writeOpen(folder, { ...open, sent });
  else await rm(pathOf(folder, key), { force: true, recursive: true }).catch(() => undefined);
  return outcomes;
}

function pathOf(folder: string, key: string): string {
  return join(folder, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
}

/** Undefined also for a damaged file: the alert is then sent once more. */
async function readOpen(folder: string, key: string): Promise<OpenAlert | undefined> {
  try {
    const open = JSON.parse((await readPlain(pathOf(folder, key)))!) as OpenAlert;
    return keyOf(open.message) === key ? open : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers what was sent. If that fails, as on a full disk, the alert is sent once more. */
async function writeOpen(folder: string, open: OpenAlert): Promise<void> {
  const path = pathOf(folder, keyOf(open.message));
  await writeWhole(path, `${JSON.stringify(open)}\n`).catch(() => undefined);
}
