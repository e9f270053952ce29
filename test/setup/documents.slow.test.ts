import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs")).flatMap((name) =>
    name.endsWith(".md") ? [`docs/${name}`] : [],
  ),
];

test("links between the documents lead somewhere, to a heading too", () => {
  const slugs = (path: string): string[] =>
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s/g, "-"),
    );
  const dead: string[] = [];
  for (const page of pages) {
    for (const [, link = ""] of read(page)
      .replace(/```.*?```/gs, "")
      .matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = "", heading] = link.split("#");
      const path = file === "" ? page : normalize(join(dirname(page), file));
      const there = existsSync(join(root, path));
      if (!there || (heading !== undefined && !slugs(path).includes(heading)))
        dead.push(`${page}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
});

test("commands of probelab in the documents, and their options, are there", async () => {
  const commands = new Map<string, Command>();
  for (const file of readdirSync(join(root, "src", "cli"))) {
    if (file === "main.ts") continue;
    const loaded = (await import(`../../src/cli/${file.replace(".ts", "")}.ts`)) as Record<
      string,
      unknown
    >;
    const command = loaded[`${file.replace(".ts", "")}Command`];
    if (command !== undefined) commands.set(file.replace(".ts", ""), command as Command);
  }
  expect(commands.size).toBeGreaterThan(15);
  const wrong: string[] = [];
  for (const page of pages) {
    for (const [, text = ""] of read(page).matchAll(
      /^(?:\$ )?(?:npx )?probelab ((?:\\\n|.)+)$|(?<=`)(?:npx )?probelab ([^`\n]+)(?=`)/gm,
    )) {
      const [name = "", ...words] = [
        ...text.replace(/\\\n| #.*/g, " ").matchAll(/"[^"]*"|'[^']*'|[^\s]+/g),
      ].map(([word]) => word);
      let command = commands.get(name);
      let rest = words;
      for (
        let sub;
        (sub = command?.commands.find((each) => each.name() === rest[0]));
        rest = rest.slice(1)
      )
        command = sub;
      const unknown = rest.filter(
        (word) =>
          /^-/.test(word) &&
          !command?.options.some(
            ({ short, long }) => word.split("=")[0] === long || word === short,
          ),
      );
      if (text !== "" && (command === undefined || unknown.length > 0))
        wrong.push(`${page}: ${text}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("THIRD-PARTY.md is what package-lock.json says: node scripts/third-party.mjs writes it", () => {
  const check = [join("scripts", "third-party.mjs"), "--check"];
  expect(spawnSync(process.execPath, check, { cwd: root }).status).toBe(0);
});
