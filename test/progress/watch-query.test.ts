import { expect, test } from "vitest";
import { withProgress, type QueryProgress } from "../../src/progress/query-progress.js";
import { watchQuery } from "../../src/progress/watch-query.js";

const after = <T>(milliseconds: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(resolve, milliseconds, value));

async function watched(run: () => Promise<{ rowsRead: number }>) {
  const news: QueryProgress[] = [];
  let asked = 0;
  const ended = await withProgress(
    (progress) => news.push(progress),
    () => watchQuery("a", run, () => Promise.resolve({ rowsRead: ++asked * 10, rowsInAll: 1000 })),
  ).catch((error: unknown) => error);
  return { news, ended };
}

test("watchQuery(id, run, ask) tells nothing of a query that ends within half a second", async () => {
  const { news, ended } = await watched(() => after(10, { rowsRead: 5 }));
  expect(ended).toEqual({ rowsRead: 5 });
  expect(news).toEqual([]);
});

test("watchQuery(id, run, ask) tells how far a long query is, and its true count at the end", async () => {
  const { news } = await watched(() => after(1300, { rowsRead: 1000 }));
  expect(news.length).toBeGreaterThanOrEqual(2);
  expect(news[0]).toMatchObject({ id: "a", state: "running", rowsRead: 10, rowsInAll: 1000 });
  expect(news.at(-1)).toMatchObject({ id: "a", state: "done", rowsRead: 1000 });
});

test("watchQuery(id, run, ask) tells that a query was stopped, and throws what it threw", async () => {
  const { news, ended } = await watched(async () => {
    await after(700, null);
    throw new Error("interrupted");
  });
  expect(ended).toMatchObject({ message: "interrupted" });
  expect(news.at(-1)).toMatchObject({ state: "stopped", rowsRead: 10 });
});

test("watchQuery(id, run, ask) goes on where the server won't tell", async () => {
  const news: QueryProgress[] = [];
  await withProgress(
    (progress) => news.push(progress),
    () =>
      watchQuery(
        "a",
        () => after(700, { rowsRead: 3 }),
        () => Promise.reject(new Error("no")),
      ),
  );
  expect(news.map(({ state, rowsRead }) => `${state} ${rowsRead}`)).toEqual([
    "running 0",
    "done 3",
  ]);
});

test("watchQuery(id, run, ask) without a listener only runs the query", async () => {
  const ask = () => Promise.reject(new Error("asked"));
  expect(await watchQuery("a", () => after(600, { rowsRead: 1 }), ask)).toEqual({ rowsRead: 1 });
});
