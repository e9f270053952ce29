import { isAbsolute, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { keepSecret } from "../base/redact.js";

/** Files of certificates, in PEM. */
export interface Tls {
  /** Of an authority to trust, beside the public ones. */
  readonly ca?: string;
  /** The client's own, with its key: for a server or a proxy that asks for one. */
  readonly cert?: string;
  readonly key?: string;
}

/** A database: a directory of the embedded server, or a ClickHouse server's URL. */
export type DatabaseAddress =
  | { readonly kind: "embedded"; readonly directory: string; readonly label: string }
  | {
      readonly kind: "server";
      /** `http://host:port`, no user, no password. */
      readonly url: string;
      /** The proxy's path before the server's own, such as `/clickhouse`; missing without one. */
      readonly prefix?: string;
      readonly database: string;
      readonly username: string;
      readonly password: string;
      /** The certificates of https beside those that Node.js trusts. @default none */
      readonly tls?: Tls;
      /** URL with the database, for origins and errors; never a user or a password. */
      readonly label: string;
    };

/**
 * Reads `embedded:DIR`, `http(s)://host:port/database`, or behind a proxy
 * `https://host/prefix/database`: the path's last part is the database. With `?database=name` the
 * whole path is the prefix.
 *
 * @param text what to read; a user and password in the URL are taken out of it.
 * @param options `root`: what a relative DIR starts from; `name`: where the text was found, for
 *   errors; `username`, `password`: win over those in the URL (default: user `default`, no password).
 */
export function parseAddress(
  text: string,
  options: { root: string; name: string; username?: string; password?: string; tls?: Tls },
): DatabaseAddress {
  if (typeof text !== "string") {
    throw new ProbelabError(
      `Can't read ${options.name}: it is no text. Write one source, embedded:DIR or http(s)://host:port/database.`,
    );
  }
  if (text.startsWith("embedded:")) {
    const directory = text.slice("embedded:".length);
    if (directory === "") {
      throw new ProbelabError(
        `Can't read ${options.name} "embedded:": name a directory, such as embedded:.probelab.`,
      );
    }
    const absolute = isAbsolute(directory) ? directory : resolve(options.root, directory);
    return { kind: "embedded", directory: absolute, label: `embedded:${directory}` };
  }
  const url = URL.canParse(text) ? new URL(text) : null;
  // http://http://user:password@host has the host "http" and all else for a database.
  if (url === null || !/^https?:$/.test(url.protocol) || /@|\/\//.test(url.pathname)) {
    throw new ProbelabError(
      `Can't read ${options.name} ${JSON.stringify(hideCredentials(text))}: write embedded:DIR or http(s)://host:port/database.`,
    );
  }
  const unknown = [...url.searchParams.keys()].find((key) => key !== "database");
  if (unknown !== undefined) {
    throw new ProbelabError(
      `Can't use ${JSON.stringify(unknown)} in the URL in ${options.name}: it may hold only ?database=name. Give user and password in ${options.name.startsWith("PROBELAB_") ? options.name : "PROBELAB_MEASUREMENTS"}_USER and …_PASSWORD, and limits by connect({ limits }).`,
    );
  }
  const decode = (part: string) => decodePart(part, options.name);
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const named = url.searchParams.get("database");
  const database = named || decode(parts.pop() ?? "") || "default";
  const prefix = parts.map((part) => `/${part}`).join("");
  const username = options.username ?? (decode(url.username) || "default");
  const password = options.password ?? decode(url.password);
  keepSecret(password, username);
  return {
    kind: "server",
    url: url.origin,
    ...(prefix !== "" && { prefix }),
    database,
    username,
    password,
    ...(options.tls !== undefined && { tls: options.tls }),
    label: `${url.origin}${prefix}/${database}`,
  };
}

function decodePart(part: string, name: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ProbelabError(
      `Can't read the URL in ${name}: a % in its user, password or database is not followed by two hexadecimal digits. Write % as %25, or give user and password in ${name.startsWith("PROBELAB_") ? name : "PROBELAB_MEASUREMENTS"}_USER and …_PASSWORD.`,
    );
  }
}

function hideCredentials(text: string): string {
  // Greedy: a password may hold @ or /, and the scheme may be missing or misspelt.
  return text.replace(/^(\w+:\/\/)?.*@/s, "$1***@");
}
