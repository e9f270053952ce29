// npm run docs: runs every sample of the documents, draws the gallery, and builds the site in
// out/docs with TypeDoc: the pages of docs/, the reference from the doc comments, search. Fails on a
// sample that doesn't run and on a dead link. `--site` leaves the samples to npm run test:all.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Application } from "typedoc";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const site = join("out", "docs");

/** The pages in the order of the menu; one that isn't named here stands under More. */
const ORDER = {
  Guide: ["guide", "gallery", "columns", "python", "kernel", "shell"],
  Questions: ["logs", "test-helpers", "test-lists", "snapshots", "downsampling"],
  "What changed": ["what-happened", "change-points", "alarms"],
  Incidents: ["at-night", "alerts", "schedule", "incidents", "postmortem", "exports"],
  Operation: ["deployment", "reliability", "figures", "decisions"],
};

if (!process.argv.includes("--site")) {
  run(process.execPath, [
    join("node_modules", "vitest", "vitest.mjs"),
    "run",
    "--project",
    "slow",
    "test/notebooks/docs.test.ts",
  ]);
}
const work = mkdtempSync(join(tmpdir(), "probelab-docs-"));
try {
  copySources();
  await drawGallery();
  await build();
  checkLinks();
  console.log(join(site, "index.html"));
} finally {
  // The server writes until it notices that its last user has gone.
  rmSync(work, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
}

/** The documents as TypeDoc takes them: with a title, and the group that they stand in. */
function copySources() {
  for (const path of [
    "docs",
    "notebooks",
    "README.md",
    "CONTRIBUTING.md",
    "THIRD-PARTY.md",
    "LICENSE",
  ]) {
    cpSync(path, join(work, path), { recursive: true });
  }
  const groupOf = (path) =>
    Object.entries(ORDER).find(([, names]) => names.includes(path.replace(".md", "")))?.[0] ??
    "More";
  for (const path of readdirSync("docs").filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(join("docs", path), "utf8");
    const title = /^# (.*)$/m.exec(text)[1];
    writeFileSync(
      join(work, "docs", path),
      `---\ntitle: ${JSON.stringify(title)}\ngroup: ${groupOf(path)}\n---\n\n${text}`,
    );
  }
  for (const [path, title] of [
    ["CONTRIBUTING.md", "Working on probelab"],
    ["THIRD-PARTY.md", "Licences of packages"],
  ]) {
    writeFileSync(
      join(work, path),
      `---\ntitle: ${title}\ngroup: More\n---\n\n${readFileSync(path, "utf8")}`,
    );
  }
}

/** Runs the gallery's examples on a sample, draws their pictures anew, and puts below each the columns that it drew. */
async function drawGallery() {
  const examples = (path) =>
    [...readFileSync(path, "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const codes = examples(join("docs", "gallery.md"));
  const shapes = codes.map((code) => {
    const name = /chart\.\w+\((\w+)/.exec(code)[1];
    return `{ const it = "result" in ${name} ? (${name} as unknown as { result: typeof counts }).result : ${name} as unknown as typeof counts;
console.log(JSON.stringify({ rows: it.numRows(), columns: it.columnNames().map((column) => [column, it.column(column as never).find((value) => value !== null) ?? null]) })); }`;
  });
  const cells = [examples(join("docs", "guide.md"))[0], ...codes, ...shapes];
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: cells.map((source, at) => ({
      cell_type: "code",
      id: `cell-${at}`,
      metadata: {},
      source,
      outputs: [],
      execution_count: null,
    })),
  };
  const folder = join(work, "run");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "probelab"), "junction");
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "gallery.ipynb"), JSON.stringify(notebook));
  const main = join(root, "dist", "cli", "main.js");
  const environment = { PROBELAB_MEASUREMENTS: `embedded:${join(folder, "data")}`, TZ: "UTC" };
  run(process.execPath, [main, "sample", "--rows", "100000"], folder, environment);
  run(process.execPath, [main, "run", "gallery.ipynb"], folder, environment);
  const ran = JSON.parse(readFileSync(join(folder, "out", "gallery.ipynb"), "utf8"));
  const outputs = ran.cells.map((cell) => cell.outputs);
  mkdirSync(join(work, "docs", "images"), { recursive: true });
  let at = 0;
  const page = join(work, "docs", "gallery.md");
  const drawn = readFileSync(page, "utf8").replace(/```ts\n.*?```/gs, (code) => {
    at++;
    const png = outputs[at].find((output) => output.data?.["image/png"])?.data["image/png"];
    if (png === undefined) throw new Error(`The gallery's example ${at} drew nothing`);
    writeFileSync(
      join(work, "docs", "images", `gallery-${at}.png`),
      Buffer.from([png].flat().join(""), "base64"),
    );
    const { rows, columns } = JSON.parse([outputs[codes.length + at][0].text].flat().join(""));
    const list = columns
      .map(([name, value]) => `| \`${name}\` | ${JSON.stringify(value)} |`)
      .join("\n");
    return `${code}\n\n${rows} rows of\n\n| column | such as |\n|---|---|\n${list}`;
  });
  writeFileSync(page, drawn);
}

async function build() {
  const pages = (folder) =>
    readdirSync(join(work, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(work, folder, name));
  const named = Object.values(ORDER)
    .flat()
    .map((name) => join(work, "docs", `${name}.md`))
    .filter((path) => existsSync(path));
  const more = [...pages("docs"), join(work, "CONTRIBUTING.md"), join(work, "THIRD-PARTY.md")];
  const app = await Application.bootstrapWithPlugins({
    name: "probelab",
    entryPoints: ["src/index.ts"],
    tsconfig: "tsconfig.json",
    readme: join(work, "README.md"),
    projectDocuments: [...new Set([...named, ...more])],
    out: site,
    githubPages: false,
    disableSources: true,
    excludePrivate: true,
    sort: ["kind", "source-order"],
    groupOrder: [...Object.keys(ORDER), "Modules", "More", "*"],
    navigation: { includeGroups: true, includeCategories: false },
    headings: { readme: false, document: false },
    skipErrorChecking: true,
    sort: ["kind", "alphabetical"],
    customCss: "scripts/docs.css",
    highlightLanguages: [
      "ts",
      "js",
      "sh",
      "json",
      "yaml",
      "sql",
      "python",
      "py",
      "ini",
      "console",
      "text",
      "bash",
    ],
    validation: {
      notExported: false,
      invalidLink: true,
      invalidPath: true,
      rewrittenLink: true,
      notDocumented: false,
    },
    logLevel: "Warn",
  });
  const project = await app.convert();
  if (project === undefined) throw new Error("TypeDoc made nothing");
  rmSync(site, { recursive: true, force: true });
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;
}

/** Every link and picture of the site's pages leads to a file, and to a place in it. */
function checkLinks() {
  const text = new Map();
  const read = (path) => text.get(path) ?? text.set(path, readFileSync(path, "utf8")).get(path);
  const dead = new Set();
  for (const path of readdirSync(site, { recursive: true }).filter(
    (name) => name.endsWith(".html") && !name.startsWith("media"),
  )) {
    const page = join(site, path);
    for (const [, link] of read(page).matchAll(/<(?:a|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)) {
      if (/^([a-z]+:|$)/.test(link)) continue;
      const [file, place] = link.replaceAll("&amp;", "&").split("#");
      const target =
        file === "" ? page : resolve(dirname(page), decodeURIComponent(file.split("?")[0]));
      const there = existsSync(target);
      const html = there && place && target.endsWith(".html") && !target.includes("media");
      if (!there || (html && !read(target).includes(`id="${decodeURIComponent(place)}"`)))
        dead.add(`${relative(site, page)}: ${link}`);
    }
  }
  for (const each of dead) console.error(`Dead link in ${each}`);
  if (dead.size > 0) process.exitCode = 1;
}

function run(command, args, cwd = root, environment = {}) {
  const { status } = spawnSync(command, args, {
    cwd,
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
}
