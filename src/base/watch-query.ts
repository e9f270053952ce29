import { addRowsRead, progressListener, type QueryProgress } from "./query-progress.js";

/** Queries that end within it are not worth a line. */
const patienceMilliseconds = 500;

/** Progress of a query as the server reports it. */
export interface ServerProgress {
  readonly rowsRead: number;
  readonly rowsInAll: number | undefined;
}

/**
 * Runs a query and reports its progress to the current listener: nothing within half a second, then
 * twice a second, and at its end. Without a listener it only runs the query.
 *
 * @param ask asks the server; if it fails or gives nothing, only the time is reported
 */
export async function watchQuery<Answer extends { readonly rowsRead: number }>(
  id: string,
  send: () => Promise<Answer>,
  ask: () => Promise<ServerProgress | undefined>,
): Promise<Answer> {
  const run = async () => {
    const answer = await send();
    addRowsRead(answer.rowsRead);
    return answer;
  };
  const listener = progressListener();
  if (!listener) return run();
  const begun = performance.now();
  let last: ServerProgress = { rowsRead: 0, rowsInAll: undefined };
  let ended = false;
  const report = (state: QueryProgress["state"]) =>
    listener({ id, state, ...last, seconds: (performance.now() - begun) / 1000 });
  const look = async () => {
    last = (await ask().catch(() => undefined)) ?? last;
    if (ended) return;
    report("running");
    timer = setTimeout(() => void look(), patienceMilliseconds);
  };
  let timer = setTimeout(() => void look(), patienceMilliseconds);
  const isLong = () => performance.now() - begun >= patienceMilliseconds;
  try {
    const answer = await run();
    ended = true;
    last = { rowsRead: answer.rowsRead, rowsInAll: answer.rowsRead };
    if (isLong()) report("done");
    return answer;
  } catch (error) {
    ended = true;
    if (isLong()) report("stopped");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
