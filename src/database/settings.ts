import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { configLayers, configPath, LOG_COLUMNS, readConfig, type TablesOptions } from "./config.js";
import type { Limits } from "./limits.js";
import { keepSecret } from "../base/redact.js";
import { parseAddress, type DatabaseAddress, type Tls } from "./address.js";
import { SEED_TABLES, type TableNames, type TableRole, type Tables } from "./tables.js";

/** The two databases of the service. */
export type DatabaseName = "measurements" | "logs";

/** Sources that override the environment and the config file. */
export interface SourceOptions {
  /** `embedded:DIR` or `http(s)://host:port/database`. @default `PROBELAB_MEASUREMENTS`, then probelab.config.json, then `embedded:.probelab` */
  readonly measurements?: string;
  /** The same for the log database. @default `PROBELAB_LOGS`, then the config file, then that of the measurements */
  readonly logs?: string;
}

/**
 * The project's folder: the nearest one, from `from` upwards, that holds probelab.config.json, an
 * embedded database (.probelab) or package.json; else `from`. Notebooks in subfolders share it. An
 * installed package is no project: below node_modules, the search begins at what holds node_modules.
 *
 * @param given the folder where it is known already: a notebook's process has it from the command
 */
export function projectRoot(
  from: string,
  given: string | undefined = process.env["PROBELAB_PROJECT"],
): string {
  if (given) return given;
  const start = /^(.*?)[\\/]node_modules(?=[\\/]|$)/.exec(from)?.[1] || from;
  for (let folder = start; ; folder = dirname(folder)) {
    const marks = ["probelab.config.json", ".probelab", "package.json"];
    if (marks.some((mark) => existsSync(join(folder, mark)))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

/** Finds a database in the options, the environment and the config file, in that order. */
export function findSource(
  name: DatabaseName,
  options: SourceOptions = {},
  env: NodeJS.ProcessEnv = process.env,
  root: string = projectRoot(process.cwd()),
): DatabaseAddress {
  const variable = `PROBELAB_${name.toUpperCase()}`;
  const username = env[`${variable}_USER`];
  const password = env[`${variable}_PASSWORD`];
  // Also where it belongs to no source, or to one that is refused below.
  keepSecret(password ?? "", username);
  const config = readConfig(configPath(root));
  const found: [string | undefined, string][] = [
    [options[name], `the option ${name}`],
    [env[variable], variable],
    [config[name], `"${name}" in probelab.config.json`],
  ];
  const [text, where] = found.find(([value]) => value !== undefined && value !== "") ?? [];
  if (text === undefined || where === undefined) {
    if (name === "logs") return findSource("measurements", options, env, root);
    return parseAddress("embedded:.probelab", { root, name: "the default" });
  }
  const tls = findTls(env, root);
  return parseAddress(text, {
    root,
    name: where,
    ...(tls !== undefined && { tls }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  });
}

/** Paths of certificates, relative to the project's folder. */
function findTls(env: NodeJS.ProcessEnv, root: string): Tls | undefined {
  const given = Object.assign({}, ...configLayers("tls", undefined, env, root)) as Tls;
  if ((given.cert === undefined) !== (given.key === undefined)) {
    throw new ProbelabError(
      `Can't use "tls" without "${given.cert === undefined ? "cert" : "key"}": a client's certificate needs both, "cert" and "key", each the path of a PEM file.`,
    );
  }
  const paths = Object.entries<string>({ ...given });
  if (paths.length === 0) return undefined;
  return Object.fromEntries(paths.map(([name, path]) => [name, resolve(root, path)]));
}

/** The names of tables and columns that the options, the environment and the config file give. */
export function findTables(
  options: TablesOptions | undefined = undefined,
  env: NodeJS.ProcessEnv = process.env,
  root: string = projectRoot(process.cwd()),
): Tables {
  const layers = configLayers("tables", options, env, root) as TablesOptions[];
  const of = (role: TableRole): TableNames => {
    type Names = Record<string, string> & Pick<TableNames, "forms">;
    const given = Object.assign({}, ...layers.map((layer) => layer[role])) as Names;
    const { table, unit, cluster, forms, ...names } = given;
    const seed = SEED_TABLES[role];
    const { time = names[seed.time] ?? seed.time, ...renamed } = names;
    const known = (name: string) =>
      role === "logs" ? LOG_COLUMNS[name as keyof typeof LOG_COLUMNS] : name;
    return {
      table: table ?? seed.table,
      time,
      columns: {
        ...Object.fromEntries(Object.entries(renamed).map(([name, own]) => [known(name), own])),
        ...(time !== seed.time && { [seed.time]: time }),
      },
      ...(unit !== undefined && { unit }),
      ...(cluster !== undefined && { cluster }),
      ...(forms !== undefined && { forms }),
    };
  };
  return { measurements: of("measurements"), logs: of("logs"), testHelpers: of("testHelpers") };
}

/** The limits of a question that the options, the environment and the config file give. */
export function findLimits(
  options: Partial<Limits> | undefined = undefined,
  env: NodeJS.ProcessEnv = process.env,
  root: string = projectRoot(process.cwd()),
): Partial<Limits> {
  return Object.assign({}, ...configLayers("limits", options, env, root)) as Partial<Limits>;
}
