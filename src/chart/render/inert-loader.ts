import type { LoggerInterface } from "vega";

/** The attributes of a link or an image that Vega may use. */
interface SafeAddress {
  href?: string;
  rel?: string;
}

/** A loader for Vega that loads nothing, nor rejects where Vega wouldn't catch it. Web links stay. */
export const inertLoader = {
  sanitize(uri: unknown, options?: { context?: string }): Promise<SafeAddress> {
    const address = String(uri);
    if (options?.context === "href" && /^https?:\/\/[^\s"'<>]+$/i.test(address)) {
      return Promise.resolve({ href: address, rel: "noopener noreferrer" });
    }
    return Promise.resolve({});
  },
  load(uri: unknown): Promise<never> {
    return Promise.reject(new Error(`Refused to load ${String(uri).slice(0, 200)}`));
  },
};

// Vega's logger would write data to the console: hostile text, and output in the wrong cell. What
// fails while the picture is made is kept: Vega goes on without it, and would draw an empty chart.
export function quietLogger(logger: LoggerInterface, faults: unknown[][]): LoggerInterface {
  logger.error = (...args: readonly unknown[]) => {
    faults.push([...args]);
    return logger;
  };
  return logger;
}
