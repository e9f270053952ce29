import { z } from "zod";
import type { Json } from "../../result/json.js";

const instant = z.iso.datetime();
const texts = z.array(z.string());
const json: z.ZodType<Json> = z.lazy(() =>
  z.union([
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(json),
    z.record(z.string(), json),
  ]),
);
/** A name of a figure's files: what every file system and every link takes. */
const figureName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/);

const evidence = z.union([
  z.strictObject({ figure: figureName }),
  // What was a link before an address in it was masked.
  z.strictObject({ text: z.string() }),
  z.strictObject({ link: z.string().regex(/^https?:\/\//i) }),
]);

const figure = z.strictObject({
  name: figureName,
  kind: z.enum(["chart", "table"]),
  caption: z.string(),
  /** How the chart or table is made of its data, as tagged JSON. */
  recipe: json,
});

/**
 * A postmortem as `postmortem.json` holds it: all its words, and how its charts and tables are made
 * of the files in `data/`. Times are ISO 8601 in UTC, null where not known.
 */
export const postmortemRecord = z.strictObject({
  format: z.literal("probelab postmortem 1"),
  title: z.string(),
  severity: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  status: z.string(),
  authors: texts,
  startedAt: instant.nullable(),
  detectedAt: instant,
  respondedAt: instant.nullable(),
  resolvedAt: instant.nullable(),
  /** When the conference call was held, and who led it. */
  call: instant.nullable(),
  leader: z.string().nullable(),
  /** Whether the investigation was kept sterile; null where nobody said. */
  sterile: z.boolean().nullable(),
  summary: texts,
  impact: texts,
  rootCauses: texts,
  trigger: texts,
  detection: texts,
  resolution: texts,
  wentWell: texts,
  wentWrong: texts,
  lucky: texts,
  findings: z.array(z.strictObject({ text: z.string(), evidence: z.array(evidence) })),
  timeline: z.array(
    z.strictObject({ time: instant, event: z.string(), evidence: z.array(evidence) }),
  ),
  actions: z.array(
    z.strictObject({
      what: z.string(),
      type: z.string(),
      owner: z.string().nullable(),
      reference: z.string().nullable(),
      due: instant.nullable(),
      done: z.boolean(),
    }),
  ),
  figures: z.array(figure),
  savedAt: instant,
  /** Whether addresses of log messages were masked. */
  masked: z.boolean(),
  versions: z.record(z.string(), z.string()),
});

export type PostmortemRecord = z.infer<typeof postmortemRecord>;

/** What a statement rests on: a figure of the postmortem, or an address. */
export type Evidence = z.infer<typeof evidence>;

/** A chart or a table, without its data. */
export type FigureRecord = z.infer<typeof figure>;
