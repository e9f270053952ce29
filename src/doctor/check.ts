/** What was looked at, how it stands, and where it doesn't stand well, what to do. */
export interface Check {
  readonly name: string;
  /** `advice` is for what not everybody needs. */
  readonly state: "ok" | "advice" | "failure";
  readonly found: string;
  readonly remedy?: string;
}
