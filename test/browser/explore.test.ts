import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  between,
  chart,
  count,
  type Lab,
  type Measure,
  share,
  type TimeRange,
} from "../../src/index.js";
import { VIEW_GAP } from "../../src/chart/explore/views.js";
import { label } from "../../src/chart/render/label.js";
import { ownDatabase } from "../support/own-database.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

const pictures = fileURLToPath(new URL("../../out/browser/", import.meta.url));
const own = ownDatabase();
let lab: Lab;

const DAYS = 16;
const zone = { timeZone: "Europe/Rome" };
const range = between("2026-03-22", `2026-04-${String(22 + DAYS - 31).padStart(2, "0")}`, zone);
const ODD = 'names."odd"[0]';
const BY = ["software_version", ODD, "probe_asn"];
const asked = { range, every: "day", by: BY };

beforeAll(async () => {
  lab = await own.open();
  mkdirSync(pictures, { recursive: true });
  // Each row is a function of its number; 28 March is empty, and the numbers rise from 30 March on.
  await own.writer.command(
    `CREATE TABLE fastpath (measurement_start_time UInt64, report_id String, software_name String,
      software_version Nullable(String), test_name String, probe_cc String, probe_asn Int64, anomaly String,
      \`${ODD}\` LowCardinality(String)) ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await own.writer.command(
    `INSERT INTO fastpath SELECT toUnixTimestamp(at), toString(number), 'p',
       [NULL, '', '3.9.1', '3.10.0', 'dev'][1 + cityHash64(number, 1) % 5], 'web', 'IT',
       30000 + toUInt32(14 * pow(cityHash64(number, 2) % 1000 / 1000, 2)), if(cityHash64(number, 4) % 4 = 0, 't', 'f'),
       ['other', 'a.b', 'x[0]', '"q\\'', '<b>'][1 + toUInt32(4.9 * pow(cityHash64(number, 3) % 1000 / 1000, 3))]
     FROM (SELECT number, toDateTime('2026-03-21 23:00:00', 'UTC') + cityHash64(number) % (${DAYS} * 86400) AS at FROM numbers(6000))
     WHERE toDate(at) != '2026-03-28' AND (toDate(at) >= '2026-03-30' OR number % 3 = 0)`,
  );
});
afterAll(() => lab?.close());

/** What the figure shows in a panel: each value's own number and that of as long before. */
type Panel = Readonly<Record<string, readonly [chosen: string, before: string]>>;

/** The figure under the mouse, in a page or in a notebook. */
class Figure {
  readonly #page: Page;
  readonly #drawing: Locator;
  readonly #tooltip: Locator;
  readonly #bars: readonly number[];
  #left: number | undefined;
  #right = 0;
  /** The values of panels in the order of their rows, where it is known. */
  #orders = new Map<number, readonly string[]>();

  constructor(page: Page, drawing: Locator, tooltip: Locator, bars: readonly number[]) {
    this.#page = page;
    this.#drawing = drawing;
    this.#tooltip = tooltip;
    this.#bars = bars;
  }

  /** Where the plots begin: numbers on the axis, which other fonts make wider, stand left of it. */
  async #place(): Promise<{ left: number; wide: number; bottom: number }> {
    const { x, y, width, height } = (await this.#drawing.boundingBox())!;
    const bottom = y + height - 12;
    const edge = async (outside: number, inside: number): Promise<number> => {
      while (Math.abs(inside - outside) > 1) {
        const middle = (outside + inside) / 2;
        await this.#page.mouse.move(x + middle, bottom - 20 * Math.max(...this.#bars) - 130);
        if (await this.#tooltip.count()) inside = middle;
        else outside = middle;
      }
      return inside;
    };
    if (this.#left === undefined) {
      this.#left = await edge(0, 120);
      this.#right = await edge(width, width - 60);
    }
    return { left: x + this.#left, wide: this.#right - this.#left, bottom };
  }

  async #tip(x: number, y: number): Promise<Record<string, string>> {
    await this.#page.mouse.move(x, y);
    await this.#tooltip.waitFor();
    const cells = await this.#tooltip.locator("td, th").allTextContents();
    const names = cells.filter((_, at) => at % 2 === 0).map((name) => name.replace(/:$/, ""));
    return Object.fromEntries(names.map((name, at) => [name, cells[2 * at + 1] ?? ""]));
  }

  async #row(panel: number, row: number): Promise<{ x: number; y: number }> {
    const { left, wide, bottom } = await this.#place();
    const most = Math.max(...this.#bars);
    const width = Math.floor((wide - VIEW_GAP * (this.#bars.length - 1)) / this.#bars.length);
    return {
      x: left + panel * (width + VIEW_GAP) + width / 2,
      y: bottom - 20 * (most - row - 0.5),
    };
  }

  /** All rows of a panel, in order. */
  async panel(at: number): Promise<Panel> {
    const rows: [string, readonly [string, string]][] = [];
    for (let row = 0; row < this.#bars[at]!; row++) {
      const { x, y } = await this.#row(at, row);
      const [name, ...numbers] = Object.entries(await this.#tip(x, y));
      const said = Object.fromEntries(numbers);
      rows.push([name![1], [said["Chosen"] ?? "", said["As long before"] ?? ""]]);
    }
    this.#orders.set(
      at,
      rows.map(([name]) => name),
    );
    return Object.fromEntries(rows);
  }

  async click(at: number, value: string): Promise<void> {
    if (!this.#orders.has(at)) await this.panel(at);
    const own = this.#orders.get(at)!;
    const { x, y } = await this.#row(at, own.indexOf(value));
    await this.#page.mouse.click(x, y);
    this.#left = undefined;
    // A choice orders the other panels anew.
    this.#orders = new Map([[at, own]]);
  }

  /** Drags from within one bucket to within another. */
  async brush(from: number, until: number, buckets = DAYS): Promise<void> {
    const { left, wide, bottom } = await this.#place();
    const y = bottom - 20 * Math.max(...this.#bars) - 90 - 60;
    const x = (bucket: number): number => left + (wide * bucket) / buckets;
    await this.#page.mouse.move(x(from + 0.3), y);
    await this.#page.mouse.down();
    for (const part of [0.3, 0.7, 1]) {
      await this.#page.mouse.move(x(from + 0.3 + part * (until - from + 0.4)), y + 10 * part);
    }
    await this.#page.mouse.up();
    this.#left = undefined;
    this.#orders.clear();
  }

  async bucket(at: number): Promise<Record<string, string>> {
    const { left, wide, bottom } = await this.#place();
    return this.#tip(
      left + (wide * (at + 0.5)) / DAYS,
      bottom - 20 * Math.max(...this.#bars) - 120,
    );
  }

  async screenshot(name: string): Promise<void> {
    await this.#page.mouse.move(2, 2);
    await this.#page.screenshot({ path: join(pictures, `explore-${name}.png`) });
  }
}

type Where = Readonly<Record<string, readonly (string | number | null)[]>>;

const day = (at: number): TimeRange => {
  // No day of this zone is an hour early or late at noon.
  const noon = new Date(Date.UTC(2026, 2, 22 + at, 12));
  const from = noon.toISOString().slice(0, 10);
  return between(from, new Date(noon.getTime() + 86_400_000).toISOString().slice(0, 10), zone);
};

/** What the engine answers to the same question, by the values of a dimension. */
async function answers(
  name: string,
  measure: Measure<unknown>,
  where: Where,
  [from, until]: readonly [number, number],
  named: ReadonlySet<string | null>,
): Promise<Record<string, string>> {
  const other = named.has("other") ? "other (rest)" : "other";
  const format = (value: number | null): string =>
    value === null
      ? "none"
      : measure.measure === "share"
        ? `${(100 * value).toFixed(2)} %`
        : value.toLocaleString("en-US");
  const ask = async (more: object): Promise<Record<string, unknown>[]> => {
    const span = between(day(from).start, day(until).end, zone);
    const options = { range: span, every: "all", measures: { value: measure }, ...more };
    return (await lab.measurements.ask(options as never)).rows();
  };
  const rows = await ask({ by: name, top: Infinity, where });
  const told: Record<string, string> = {};
  for (const value of named) {
    const found = rows.find((row) => row[name] === value)?.["value"] ?? null;
    told[label(value)] = format(
      found === null && measure.measure === "count" ? 0 : (found as number | null),
    );
  }
  const rest = rows.filter((row) => !named.has(row[name] as string | null)).map((row) => row[name]);
  const numbers = name === "probe_asn" ? rest.map(Number) : rest;
  if (cubeRest.has(name)) {
    const [row] = rest.length === 0 ? [] : await ask({ where: { ...where, [name]: numbers } });
    told[other] = format(
      (row?.["value"] as number | null | undefined) ?? (measure.measure === "count" ? 0 : null),
    );
  }
  return told;
}

/** Dimensions whose smallest values are merged. */
const cubeRest = new Set<string>();

/** Drives the figure and compares the states with the questions that they stand for; of counts those with a choice. */
async function drive(figure: Figure, measure: Measure<unknown>, name: string): Promise<void> {
  const counts = measure.measure === "count";
  const cube = await lab.measurements.explore({ ...asked, measure } as never);
  const named = cube.origin.columns.dimensions.map(
    ({ order, other }) => new Set(order.filter((value) => value !== other)),
  );
  cubeRest.clear();
  for (const { name, other } of cube.origin.columns.dimensions) {
    if (other !== undefined) cubeRest.add(name);
  }
  const check = async (
    where: readonly Where[],
    chosen: readonly [number, number],
    before?: readonly [number, number],
  ) => {
    for (const [at, by] of BY.entries()) {
      const elsewhere = Object.assign({}, ...where.filter((_, other) => other !== at)) as Where;
      const panel = await figure.panel(at);
      const now = await answers(by, measure, elsewhere, chosen, named[at]!);
      const then = before && (await answers(by, measure, elsewhere, before, named[at]!));
      const told = Object.fromEntries(
        Object.entries(now).map(([value, number]) => {
          const was = then?.[value] ?? "–";
          const shown = by === "probe_asn" && value !== "other" ? `AS${value}` : value;
          return [shown, [number, was === "none" ? "–" : was]];
        }),
      );
      expect(panel, `${by} of ${JSON.stringify(where)} ${chosen.join("-")}`).toEqual(told);
    }
  };
  const all: Where[] = [{}, {}, {}];
  if (!counts) await check(all, [0, DAYS - 1]);
  await figure.brush(9, 12);
  if (!counts) await check(all, [9, 12], [5, 8]);
  await figure.click(0, "(none)");
  await figure.click(0, "3.10.0");
  await figure.click(1, "other");
  const some: Where[] = [{ software_version: [null, "3.10.0"] }, { [ODD]: ["other"] }, {}];
  await check(some, [9, 12], [5, 8]);
  await figure.screenshot(`${name}-click`);
  await figure.click(0, "(none)");
  await figure.brush(1, 5);
  if (!counts) await check([{ software_version: ["3.10.0"] }, { [ODD]: ["other"] }, {}], [1, 5]);
  // 28 March, beside the brush.
  const empty = await figure.bucket(6);
  expect(Object.entries(empty)[0]?.[1]).toBe("2026-03-28 to 2026-03-29");
  expect(empty["Chosen"]).toBe(counts ? "0" : "none");
}

const BARS = [5, 5, 11];

describe.skipIf(browserMissing)(`chart.explore in a browser${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test.each([
    ["count", count()],
    ["share", share({ anomaly: "t" })],
  ] as const)(
    "a saved page of a %s shows what the same questions answer",
    { timeout: 400_000 },
    async (name, measure) => {
      const cube = await lab.measurements.explore({ ...asked, measure } as never);
      const path = await chart.explore(cube).save(join(browser.folder, `${name}.html`));
      const { page, seen } = await browser.openFile(path, {
        viewport: { width: 1000, height: 760 },
      });
      expect(await drawnFigures(page)).toEqual(["probelab-chart probelab-live"]);
      const drawing = page.locator(".probelab-drawing svg");
      const { width } = (await drawing.boundingBox())!;
      expect(width).toBeLessThanOrEqual(1000);
      const figure = new Figure(page, drawing, page.locator(".probelab-tooltip"), BARS);
      await drive(figure, measure, name);
      const choice = page.locator(".probelab-drawing text", { hasText: " to 2026-03-28" });
      expect(await choice.first().textContent()).toBe(
        `2026-03-23 to 2026-03-28, version 3.10.0, ${ODD} other`,
      );
      const { x, y } = (await drawing.boundingBox())!;
      await page.mouse.dblclick(x + 300, y + 200);
      await page
        .locator(".probelab-drawing text", { hasText: /^2026-03-22 to 2026-04-07$/ })
        .waitFor();
      expect(seen).toEqual([]);
    },
  );
});
