const key = Symbol.for("probelab.pendingWork");
const shared = globalThis as { [key]?: Set<Promise<void>> };

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const pending = (shared[key] ??= new Set());

/**
 * Does `work`, known to `pendingWork` until it has ended: for what must not be cut off where a
 * process ends, although the code that began it did not wait for it.
 *
 * @returns as `work` does; a rejection that nobody waits for stays one to Node.
 */
export async function trackPending<T>(work: () => Promise<T>): Promise<T> {
  let ended: () => void = () => undefined;
  // A promise of its own: waiting for the work's would make its rejection a handled one.
  const own = new Promise<void>((resolve) => (ended = resolve));
  pending.add(own);
  try {
    return await work();
  } finally {
    pending.delete(own);
    ended();
  }
}

/** Waits until no work is pending, nor any that followed from it, whether it succeeds or not. */
export async function pendingWork(): Promise<void> {
  for (;;) {
    // Ended work may begin the next in its own turn; Node reports rejections after that turn too.
    await new Promise(setImmediate);
    if (pending.size === 0) return;
    await Promise.all(pending);
  }
}
