import { ProbelabError } from "../../base/error.js";
import { keepSecret, redact } from "../../base/redact.js";
import { body, headline, keyOf, linksOf, oneLine, SEVERITIES, type Notice } from "./message.js";

/** Where alerts go. Made by `alert.chat`, `alert.push`, `alert.alertmanager` or the configuration. */
export interface Channel {
  readonly kind: "chat" | "push" | "alertmanager";
  /** For reports and for telling channels of a kind apart; never its address, which may be a secret. */
  readonly name: string;
  /** True where the same notice may be sent any number of times: the receiver knows it again. */
  readonly idempotent: boolean;
  /** The notices of one moment, as one request. */
  request(notices: readonly Notice[]): Request;
}

/** What channels take besides their address. */
export interface ChannelOptions {
  /** For reports; default: its kind. */
  readonly name?: string;
  /** An access token, sent as a Bearer token. */
  readonly token?: string;
}

/** One HTTP POST. */
export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** What became of a request. */
export type Delivery =
  | { readonly state: "sent" }
  /** It didn't arrive, or the receiver couldn't take it now. */
  | { readonly state: "waiting"; readonly why: string; readonly waitSeconds?: number }
  /** The receiver will never take it. */
  | { readonly state: "refused"; readonly why: string }
  /** It went out and no answer came: it may have arrived. */
  | { readonly state: "unknown"; readonly why: string };

const TIMEOUT_MS = 10_000;
/** Failures before a byte of the request was written. */
const NOT_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|CERT_.*|.*_CERT.*|ERR_TLS_.*|ERR_SSL_.*)$/;

/**
 * A webhook that takes what Slack's take: `{ "text": "…" }`, with `*bold*` and `<url|name>`.
 *
 * @example
 * await alert.send(message, { channels: [alert.chat("https://chat.example.org/hooks/xyz")] });
 */
export function chatChannel(url: string, { name = "chat", token }: ChannelOptions = {}): Channel {
  const address = checkAddress("chat", url, token);
  const plain = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const one = (notice: Notice) => {
    const { tag } =
      notice.state === "resolved" ? { tag: "white_check_mark" } : SEVERITIES[notice.severity];
    const links = linksOf(notice).map(
      ([label, link]) => `<${plain(link).replaceAll("|", "%7C")}|${plain(label)}>`,
    );
    return `:${tag}: *${plain(headline(notice))}*\n${plain(body(notice))}\n${links.join(" · ")}`;
  };
  return {
    ...{ kind: "chat", name, idempotent: false },
    request: (notices) => ({
      url: address.url,
      headers: { "content-type": "application/json", ...address.authorization },
      body: JSON.stringify({ text: notices.map(one).join("\n\n") }),
    }),
  };
}

/**
 * A topic of ntfy: title, priority, tags, the page to open with a click, the links as buttons, and
 * the chart as attachment. Source: https://docs.ntfy.sh/publish/
 * @example
 * await alert.send(message, { channels: [alert.push("https://ntfy.example.org/probelab")] });
 */
export function pushChannel(url: string, { name = "push", token }: ChannelOptions = {}): Channel {
  const address = checkAddress("push", url, token);
  return {
    ...{ kind: "push", name, idempotent: false },
    request(notices) {
      const [first] = notices;
      const firing = notices.filter(({ state }) => state === "firing");
      const severity = Math.min(
        ...(firing.length > 0 ? firing : notices).map((one) => one.severity),
      );
      const { priority, tag } = SEVERITIES[severity as 1 | 2 | 3 | 4];
      const title = notices.length === 1 ? headline(first!) : `${notices.length} alerts`;
      const text =
        notices.length === 1
          ? body(first!)
          : notices.map((one) => `${headline(one)}\n${body(one)}`).join("\n\n");
      const actions = linksOf(first!)
        .slice(0, 3)
        .map(([label, link]) => ({ action: "view", label, url: link }));
      const picture = notices.find((one) => one.picture !== undefined)?.picture;
      return {
        url: address.url,
        headers: {
          ...address.authorization,
          title: encoded(title),
          priority: String(firing.length > 0 ? priority : 2),
          tags: firing.length > 0 ? tag : "white_check_mark",
          click: new URL(first!.links.page).href,
          actions: encoded(JSON.stringify(actions)),
          ...(picture !== undefined && {
            filename: "chart.png",
            message: encoded(text.replaceAll("\n", "\\n")),
          }),
        },
        body: picture ?? text,
      };
    },
  };
}

/**
 * Prometheus' Alertmanager, API v2: an alert a notice, which ends by itself where it is not raised again.
 * Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 * @example
 * await alert.send(message, { channels: [alert.alertmanager("http://127.0.0.1:9093")] });
 */
export function alertmanagerChannel(
  url: string,
  { name = "alertmanager", token }: ChannelOptions = {},
): Channel {
  const address = checkAddress("alertmanager", url, token);
  const alerts = `${address.url.replace(/\/+$/, "")}/api/v2/alerts`;
  return {
    ...{ kind: "alertmanager", name, idempotent: true },
    request: (notices) => ({
      url: alerts,
      headers: { "content-type": "application/json", ...address.authorization },
      body: JSON.stringify(
        notices.map((notice) => {
          const { notebook, page, runbook, ...more } = notice.links;
          return {
            // What tells alerts apart: a text that changed with each run would make each a new one.
            labels: {
              alertname: oneLine(keyOf(notice)),
              severity: SEVERITIES[notice.severity].label,
              source: "probelab",
            },
            annotations: {
              summary: oneLine(notice.title),
              description: notice.text,
              ...{ runbook_url: runbook, notebook, page },
              ...more,
            },
            startsAt: notice.since.toISOString(),
            endsAt: (notice.until ?? notice.expires).toISOString(),
            generatorURL: notebook,
          };
        }),
      ),
    }),
  };
}

/** Sends one request and says what became of it. Never throws for what the network does. */
export async function deliver({ url, headers, body: content }: Request): Promise<Delivery> {
  const { Agent, EnvHttpProxyAgent, fetch } = await import("undici");
  const { hostname } = new URL(url);
  const isHere = /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const dispatcher = isHere ? new Agent() : new EnvHttpProxyAgent();
  try {
    const response = await fetch(url, {
      ...{ dispatcher, method: "POST", headers, body: content, redirect: "manual" as const },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    const { status } = response;
    if (status >= 200 && status < 300) return { state: "sent" };
    const why = `it answered ${status}`;
    if (status !== 408 && status !== 429 && status < 500) return { state: "refused", why };
    const after = Number(response.headers.get("retry-after"));
    return { state: "waiting", why, ...(after > 0 && { waitSeconds: after }) };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const code = cause?.code ?? "";
    const why = redact(code || cause?.message || message);
    return NOT_SENT.test(code)
      ? { state: "waiting", why: `no connection (${why})` }
      : { state: "unknown", why: `it didn't answer (${why})` };
  } finally {
    await dispatcher.destroy();
  }
}

/** The address without user and password, which go into a header; what of it is secret shows nowhere. */
function checkAddress(kind: Channel["kind"], url: string, token: string | undefined) {
  const read = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
  if (read === null || !/^https?:$/.test(read.protocol)) {
    throw new ProbelabError(
      `Can't send alerts to ${kind}: its address is no http(s) URL. Pass ${kind === "push" ? "https://ntfy.example.org/topic" : "https://host/…"}.`,
    );
  }
  keepSecret(decodeURIComponent(read.password), decodeURIComponent(read.username));
  const basic = Buffer.from(
    `${decodeURIComponent(read.username)}:${decodeURIComponent(read.password)}`,
  ).toString("base64");
  const authorization = token !== undefined ? `Bearer ${token}` : `Basic ${basic}`;
  const open = token === undefined && read.username === "" && read.password === "";
  if (token !== undefined) keepSecret(token);
  // The path of a webhook is its key; that of a topic is public.
  if (kind === "chat" && read.pathname.length > 16) keepSecret(read.pathname.slice(1));
  read.username = "";
  read.password = "";
  return { url: read.href, authorization: open ? {} : { authorization } };
}

/** Headers hold Latin letters only: others as RFC 2047 writes them, which ntfy reads. */
function encoded(value: string): string {
  return /^[\x20-\x7e]*$/.test(value)
    ? value
    : `=?UTF-8?B?${Buffer.from(value).toString("base64")}?=`;
}
