import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

const delimiter = Buffer.from("<IDS|MSG>");

/** As many messages are remembered, as Jupyter's own kernel does, so that none is taken twice. */
const mostRemembered = 65_536;

export interface Header {
  readonly msg_id: string;
  readonly msg_type: string;
  readonly session: string;
  readonly username: string;
  readonly date: string;
  readonly version: string;
}

/** A message of Jupyter's protocol, as it came from a frontend. */
export interface Message {
  /** The way back to the frontend. */
  readonly identities: readonly Buffer[];
  readonly header: Header;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Messages to and from bytes, signed with the connection's key. */
export class Wire {
  readonly #key: string;
  readonly #session = randomUUID();
  readonly #taken = new Set<string>();

  /** @param key of the connection file; empty for unsigned messages */
  constructor(key: string) {
    this.#key = key;
  }

  /** @throws Error for what is no message, has another signature, or came before (somebody replays it) */
  read(frames: readonly Buffer[]): Message {
    const start = frames.findIndex((frame) => frame.equals(delimiter));
    const [signature, ...parts] = start < 0 ? [] : frames.slice(start + 1);
    const [header, parent, metadata, content] = parts;
    if (!signature || !header || !parent || !metadata || !content) {
      throw new Error("it is no message of Jupyter's protocol");
    }
    const expected = Buffer.from(this.#sign([header, parent, metadata, content]));
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
      throw new Error("its signature is wrong");
    }
    if (this.#key !== "") this.#takeOnce(signature.toString());
    return {
      identities: frames.slice(0, start),
      header: object(header) as unknown as Header,
      content: object(content),
    };
  }

  /** A message as frames. @param parent what it answers @param identities the frontend it goes to, or a topic */
  write(
    type: string,
    content: object,
    parent: Header | undefined,
    identities: readonly Buffer[],
  ): Buffer[] {
    const header: Header = {
      msg_id: randomUUID(),
      msg_type: type,
      session: this.#session,
      username: "probelab",
      date: new Date().toISOString(),
      version: "5.3",
    };
    const parts = [header, parent ?? {}, {}, content].map((part) =>
      Buffer.from(JSON.stringify(part)),
    );
    return [...identities, delimiter, Buffer.from(this.#sign(parts)), ...parts];
  }

  #takeOnce(signature: string): void {
    if (this.#taken.has(signature)) throw new Error("it came before");
    this.#taken.add(signature);
    const [oldest] = this.#taken;
    if (oldest !== undefined && this.#taken.size > mostRemembered) this.#taken.delete(oldest);
  }

  #sign(parts: readonly Buffer[]): string {
    if (this.#key === "") return "";
    const hmac = createHmac("sha256", this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest("hex");
  }
}

function object(frame: Buffer): Record<string, unknown> {
  const value: unknown = JSON.parse(frame.toString("utf8"));
  if (typeof value !== "object" || value === null) throw new Error("a part of it is no object");
  return value as Record<string, unknown>;
}
