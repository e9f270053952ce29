import { lazySchemas } from "../../base/lazy-schemas.js";
import { TIME_FIELDS, under, WORD_FIELDS } from "./record.js";

/**
 * The forms of an entry's parts. Apart from its types, which are a part of the library's
 * declarations: zod's own would be a fifth of what TypeScript reads for the first cell.
 */
export const schemas = lazySchemas(({ z }) => {
  const instant = z.iso.datetime();
  const texts = z.array(z.string());
  const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/);
  const evidence = z.array(
    z.union([
      z.strictObject({ figure: name }),
      z.strictObject({ text: z.string() }),
      z.strictObject({ link: z.string().regex(/^https?:\/\//i) }),
    ]),
  );
  const told = z.strictObject({
    title: z.string(),
    severity: z.literal([1, 2, 3, 4]),
    status: z.string(),
    authors: texts,
    detectedAt: instant,
    leader: z.string().nullable(),
    sterile: z.boolean().nullable(),
    ...under(TIME_FIELDS, instant.nullable()),
    ...under(WORD_FIELDS, texts),
  });
  const lists = z.strictObject({
    findings: z.array(z.strictObject({ text: z.string(), evidence })),
    timeline: z.array(z.strictObject({ time: instant, event: z.string(), evidence })),
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
  });
  const figure = z.strictObject({
    name,
    kind: z.enum(["chart", "table"]),
    caption: z.string(),
    recipe: z.json(),
  });
  return { told, lists, figure };
});
