import { crc32, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { chart } from "../../../src/index.js";
import { originRecord } from "../../../src/chart/render/origin.js";
import { titleText } from "../../../src/chart/render/svg.js";
import { weeklyCounts } from "../support/sample-results.js";

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100 });

/** The chunks of a PNG, by type. */
function pngChunks(png: Buffer): { type: string; data: Buffer; crc: number }[] {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const end = at + 8 + png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    chunks.push({ type, data: png.subarray(at + 8, end), crc: png.readUInt32BE(end) });
    at = end + 4;
  }
  return chunks;
}

describe("chart.png()", () => {
  test("carries the origin and its resolution, every checksum right", async () => {
    const chunks = pngChunks(await drawn.png());
    for (const { type, data, crc } of chunks) {
      expect(crc32(Buffer.concat([Buffer.from(type, "latin1"), data]))).toBe(crc);
    }
    expect(chunks.map(({ type }) => type).slice(0, 3)).toEqual(["IHDR", "pHYs", "iTXt"]);
    expect(chunks[1]?.data.readUInt32BE(0)).toBe(Math.round((2 * 96) / 0.0254));
    const text = chunks[2]?.data ?? Buffer.alloc(0);
    expect(text.toString("latin1", 0, 13)).toBe("probelab\0\x01\0\0\0");
    expect(JSON.parse(inflateSync(text.subarray(13)).toString("utf8"))).toEqual(
      originRecord(drawn.origin, [], titleText(drawn.spec.title)),
    );
  });

  test("carries its title, as other programs read it", async () => {
    const [, , , title] = pngChunks(await drawn.png());
    expect(title?.type).toBe("iTXt");
    expect(title?.data.toString("utf8")).toBe("Title\0\0\0\0\0Measurements per week by version");
    const bare = await chart
      .vegaLite(weeklyCounts(), { mark: "bar", title: "", width: 60, height: 20 })
      .png();
    expect(pngChunks(bare).filter(({ type }) => type === "iTXt")).toHaveLength(1);
  });

  test("is twice as large as the SVG unless asked otherwise", async () => {
    const width = Number(/ width="(\d+)/.exec(await drawn.svg())?.[1]);
    expect((await drawn.png()).readUInt32BE(16)).toBe(width * 2);
    expect((await drawn.png({ scale: 1 })).readUInt32BE(16)).toBe(width);
  });

  test("draws text without the machine's fonts", async () => {
    const pixels = async (text: string) => {
      const mark = { type: "text", text, fontSize: 18 };
      const spec = { width: 60, height: 20, title: " ", mark, encoding: { x: { value: 30 } } };
      const png = await chart.vegaLite(weeklyCounts(), spec).png({ scale: 1 });
      return pngChunks(png).filter(({ type }) => type === "IDAT");
    };
    expect(await pixels("W")).not.toEqual(await pixels(" "));
  });

  test.each([0, -1, NaN, 1e6])("scale: %d is refused", async (scale) => {
    await expect(drawn.png({ scale })).rejects.toThrow(/scale/);
  });
});
