import { chart, postmortem, type Postmortem, table } from "../../src/index.js";
import { counts, namedBy, small, usable } from "../browser/hostile-results.js";
import { PAYLOADS } from "../chart/support/payloads.js";

/** Web addresses with everything that could end one early. */
export const hostileLinks = [
  `https://evil.example/"onmouseover="alert(1)`,
  "https://evil.example/'><script>alert(1)</script>",
  "https://evil.example/a)](javascript:alert(1))",
  "https://evil.example/[x]<y>(z)\\",
  "https://evil.example/?q=\\)&lt;=1&copy;&colon;#`|`",
  "https://evil.example/%22%3E\u202e\u0001x",
  "HTTPS://EVIL.example/üñ你",
];

/** What can be said: some payloads are empty. */
const sayable = usable.filter((text) => text.trim() !== "");

/** A postmortem with every payload in every place that takes a text. */
export function hostileReport(): Postmortem {
  const report = postmortem({
    title: sayable.join(" ").slice(0, 290),
    severity: 2,
    detectedAt: "2026-05-04",
    status: sayable.join(" "),
    authors: sayable,
    leader: sayable.join(" "),
    summary: sayable.join("\n\n"),
    impact: [...sayable, "<".repeat(10_000)],
    rootCauses: sayable,
    trigger: sayable.map(
      (text) => `${text}\n# heading\n- list\n1. one\n> quote\n---\n    code\n\`\`\``,
    ),
    detection: "A".repeat(20_000),
    resolution: sayable,
    wentWell: sayable,
    wentWrong: sayable,
    lucky: sayable,
  });
  for (const text of sayable) {
    report.finding(text).timeline("2026-05-04", text);
    report.action({ what: text, type: text, owner: text, reference: text });
  }
  for (const link of hostileLinks)
    report.finding("rests on", link).timeline("2026-05-04", "so", link);
  for (const [at, text] of [
    "</script><script>alert(1)</script>",
    "![x](https://evil.example/t.png)",
    '"><img src=x onerror=alert(1)>',
    "__proto__",
  ].entries()) {
    const result = namedBy(text);
    const annotations = [chart.annotation("2026-02-05", text)];
    report.add(chart.dot(result, { ...small, title: text, subtitle: text, annotations }), {
      caption: `${text}\n# x`,
    });
    report.add(table(result, { caption: text }), { name: `table-${at}` });
  }
  const short = PAYLOADS.map((text) => text.slice(0, 2_000));
  report.add(table(counts(short), { limit: 4_000 }), { caption: sayable.join(" ") });
  return report.add(
    chart.bar(counts(usable.slice(0, 40)), { ...small, x: "software_version", color: null }),
    { name: "values" },
  );
}
