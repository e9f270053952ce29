import { expect, test } from "vitest";
import { inOrder, readFields, UNTOLD } from "../../../src/incident/postmortem/fields.js";
import type { Told } from "../../../src/incident/postmortem/record.js";

const told = (fields: Parameters<typeof readFields>[0]): Told =>
  ({
    ...UNTOLD,
    ...readFields({ title: "T", severity: 2, detectedAt: "2026-05-04 08:40", ...fields }),
  }) as Told;

test.each(["2020-01-01", "2026-05-04T08:39:59Z", "2026-05-04T10:00+02:00", "2026-05-04"])(
  "inOrder refuses a call at %s, before the detection",
  (call) => {
    expect(() => inOrder(told({ call }))).toThrow(
      /^Can't write a postmortem with a conference call at 20\d\d-\S+Z, before the detection at 2026-05-04T08:40:00\.000Z: correct call or detectedAt\.$/,
    );
  },
);

test.each(["2026-05-04T08:40Z", "2026-05-04T10:40+02:00[Europe/Berlin]", "2026-05-05", null])(
  "inOrder takes a call at %s",
  (call) => {
    const each = told({ call, resolvedAt: "2026-05-04 12:00" });
    expect(inOrder(each)).toBe(each);
  },
);
