/** What an interrupted cell ends with, and what its awaits are rejected with. */
export class InterruptedError extends Error {
  constructor() {
    super("The cell was interrupted. Its variables are as they were at that moment.");
    this.name = "Interrupted";
  }
}
