import { createRequire, register } from "node:module";

/** A point as the npm packages take it. */
export type Pair = [x: number, y: number];

/** The npm packages' LTTB: points to `count` points. */
export async function peers(): Promise<Record<string, (points: Pair[], count: number) => unknown>> {
  const require = createRequire(import.meta.url);
  const lttbPackage = require("downsample-lttb") as {
    processData: (points: Pair[], count: number) => Pair[];
  };
  const downsamplePackage = require("downsample") as {
    LTTB: (points: Pair[], count: number) => Pair[];
  };
  // @d3fc/d3fc-sample names a build that it does not ship, and its sources import without endings.
  const hook = `export async function resolve(name, context, next) {
    const d3fc = context.parentURL?.includes("/@d3fc/") && name.startsWith(".");
    const whole = name.startsWith("@d3fc/") && !name.endsWith(".js");
    const found = await next(d3fc ? name + ".js" : whole ? name + "/index.js" : name, context);
    return found.url.includes("/@d3fc/") ? { ...found, format: "module" } : found;
  }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
  // @ts-expect-error it ships no types
  const d3fc = (await import("@d3fc/d3fc-sample/index.js")) as {
    largestTriangleThreeBucket: () => D3fcSampler;
  };
  return {
    "downsample-lttb": (points, count) => lttbPackage.processData(points, count),
    downsample: (points, count) => downsamplePackage.LTTB(points, count),
    "@d3fc/d3fc-sample": (points, count) => {
      const sampler = d3fc.largestTriangleThreeBucket();
      sampler.x((point) => point[0]);
      sampler.y((point) => point[1]);
      sampler.bucketSize(points.length / count);
      return sampler(points);
    },
  };
}

interface D3fcSampler {
  (points: Pair[]): Pair[];
  x(value: (point: Pair) => number): void;
  y(value: (point: Pair) => number): void;
  bucketSize(size: number): void;
}
