import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chart } from "../../src/chart/chart.js";
import { chartPage } from "../../src/render/page/page.js";
import { bare, counts, small, usable } from "./hostile-results.js";
import { browserMissing, drawnFigures, missingNote, WatchingBrowser } from "./watched-page.js";

// That nothing was seen says something only where something would have been.
describe.skipIf(browserMissing)(`what a page does is seen in Chromium${missingNote}`, () => {
  let browser: WatchingBrowser;
  beforeAll(async () => {
    browser = await WatchingBrowser.start();
  });
  afterEach(() => browser.clear());
  afterAll(() => browser.stop());

  test.each([
    ["dialog: 1", "<script>alert(1)</script>"],
    ["dialog: 1", "<svg onload=alert(1)></svg>"],
    ["dialog: 1", "<details open ontoggle=alert(1)>"],
    ["request: https://evil.example/a.png", "<img src=https://evil.example/a.png>"],
    ["request: https://evil.example/c", "<style>*{background:url(https://evil.example/c)}</style>"],
    ["request: file:///etc/passwd", "<object data=file:///etc/passwd></object>"],
    ["console: hello", "<script>console.debug('hello')</script>"],
    ["error: thrown", "<script>throw new Error('thrown')</script>"],
    ["frame attached", "<iframe srcdoc=x></iframe>"],
    ["window opened", "<script>open('about:blank')</script>"],
    ["navigation: about:blank#x", "<script>location = 'about:blank#x'</script>"],
  ])("%s", async (expected, body) => {
    const { page, seen } = await browser.open(bare(body));
    await expect.poll(() => seen.some((what) => what.startsWith(expected))).toBe(true);
    await page.close();
  });

  test("in an SVG opened by itself, and behind a link that is pressed", async () => {
    const ns = 'xmlns="http://www.w3.org/2000/svg"';
    const svg = await browser.openEach([`<svg ${ns}/>`, `<svg ${ns} onload="alert(1)"/>`], "a.svg");
    await expect.poll(() => svg).toEqual(["dialog: 1"]);
    const { page, seen } = await browser.open(bare("<a href='javascript:alert(2)'>press</a>"));
    await page.locator("a").click();
    await expect.poll(() => seen).toEqual(["dialog: 2"]);
  });

  test("the policy of a page stops a payload that stands in it, and says so", async () => {
    const html = await chartPage([chart.points(counts(["a"]), small)]);
    const spoiled = html.replace("</main>", `${usable[0]}<img src=x onerror=alert(1)></main>`);
    const { page, seen } = await browser.open(spoiled);
    await drawnFigures(page);
    expect(seen.filter((what) => !/^console: |^stopped by the policy$/.test(what))).toEqual([]);
    expect(seen.filter((what) => /Content Security Policy/.test(what)).length).toBeGreaterThan(1);
  });
});
