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
