import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { readFile } from "node:fs/promises";
import { notebookFolder, readCells, runCells } from "../kernel/notebook-fixture.js";
import { gpgTeam, hasGpg } from "../support/gpg-team.js";

const PASSWORD = "s3cret-of-the-table";
let team: Awaited<ReturnType<typeof gpgTeam>>;
beforeAll(async () => {
  if (!hasGpg) return;
  team = await gpgTeam();
  team.encrypted("team.gpg", JSON.stringify({ db: { password: PASSWORD } }), "ann");
  vi.stubEnv("GNUPGHOME", team.at("ann"));
  vi.stubEnv("PROBELAB_CREDENTIALS", team.at("team.gpg"));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await team?.[Symbol.asyncDispose]();
});

it.skipIf(!hasGpg)("a credential that a notebook read shows in none of its outputs", async () => {
  const folder = await notebookFolder();
  const cells = [
    'import { chart, credentials, show } from "probelab";\nconst password = await credentials.get("db.password");',
    "console.log(`it is ${password}`); console.error(password);\nfor (const letter of password) process.stdout.write(letter);",
    "password",
    "({ deep: [password] })",
    "chart.bar([{ name: password, n: 1 }, { name: 'b', n: 2 }], { title: `of ${password}` })",
    "import { table } from 'probelab';\nawait show(table([{ name: password }]));",
    "throw new Error(`login failed: ${password}`);",
  ];
  try {
    const { outcome } = await runCells(folder.path, cells, { allowErrors: true });
    const outputs = JSON.stringify((await readCells(outcome.notebook)).map((cell) => cell.outputs));
    expect(outputs).toContain("it is ***");
    expect(outputs).toContain("login failed: ***");
    for (const text of [outputs, await readFile(outcome.page, "utf8")]) {
      expect(text).not.toContain(PASSWORD);
    }
  } finally {
    await folder.remove();
  }
});
