import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, parse, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../base/error.js";
import { ownPackage } from "./kernelspec.js";

/** The language of cells: what Node 20 runs, and what the compiler turns into it. */
const OPTIONS = {
  target: "es2023",
  module: "preserve",
  moduleResolution: "bundler",
  strict: false,
  experimentalDecorators: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  lib: ["es2023", "esnext.disposable"],
  types: [],
  skipLibCheck: true,
  noEmit: true,
  libReplacement: false,
};

/**
 * TypeScript's project of a notebook: a folder of ours that mirrors the notebook's, which may not be
 * writable and which other kernels work in. It holds links to each `node_modules` above the notebook;
 * files beside the notebook are found by `rootDirs`.
 */
export class Mirror {
  readonly #path = join(tmpdir(), `probelab-cells-${randomUUID()}`);
  readonly #folder: string;
  /** The folder that the mirror stands for. */
  readonly #root: string;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#folder = folder;
    this.#root = /^.*[\\/]node_modules(?=[\\/])/.exec(folder)?.[0] ?? parse(folder).root;
  }

  /** The path of a document in the notebook's folder, such as `cell-3.ts`. */
  pathOf(name: string): string {
    return this.mirrored(join(this.#folder, name));
  }

  /** The path of the document that stands for a file on disk. */
  mirrored(path: string): string {
    const inside = relative(this.#root, path);
    return inside.startsWith("..") ? path : join(this.#path, inside);
  }

  /** The places where a package of the notebook may be. */
  placesOf(name: string): string[] {
    const path = join("node_modules", name, "package.json");
    return [this.pathOf(path), join(this.#folder, path)];
  }

  /** Writes it where it isn't there yet, or where somebody cleaned the folder of temporary files. */
  write(): void {
    if (existsSync(join(this.pathOf(""), "tsconfig.json"))) return;
    this.remove();
    try {
      this.#write();
    } catch (error) {
      this.remove();
      throw new ProbelabError(
        `Can't check cells: ${(error as Error).message}. TypeScript needs a folder for temporary files: make room in ${tmpdir()}, or set TMPDIR to another and restart the kernel.`,
        { cause: error },
      );
    }
  }

  remove(): void {
    rmSync(this.#path, { recursive: true, force: true });
  }

  #write(): void {
    const cells = this.pathOf("");
    mkdirSync(this.#path, { mode: 0o700 });
    mkdirSync(cells, { recursive: true });
    for (let above = this.#folder; ; above = dirname(above)) {
      const isPackages = above === this.#root && above !== dirname(above);
      const packages = isPackages ? above : join(above, "node_modules");
      symlinkSync(packages, join(this.mirrored(above), "node_modules"), "junction");
      if (above === this.#root) break;
    }
    const find = (name: string) => packageFolder(name, join(this.#folder, "cell.js"));
    const { root } = ownPackage();
    const paths = {
      // The kernel itself provides it.
      tslab: [join(root, "dist", "kernel", "tslab.d.ts")],
      ...(find("probelab") === undefined && { probelab: [join(root, "dist", "index.d.ts")] }),
    };
    const node =
      find("@types/node") ?? packageFolder("@types/node", fileURLToPath(import.meta.url));
    const config = {
      compilerOptions: { ...OPTIONS, rootDirs: [this.#path, this.#root], paths },
      include: ["*.ts"],
      files: [join(node!, "index.d.ts"), "columns.d.ts"],
    };
    writeFileSync(join(cells, "columns.d.ts"), "");
    writeFileSync(join(cells, "tsconfig.json"), JSON.stringify(config));
  }
}

/** The folder of a package as a file finds it. */
function packageFolder(name: string, file: string): string | undefined {
  try {
    return dirname(createRequire(file).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The native compiler of this platform. @throws ProbelabError where it isn't installed */
export function compilerPath(): string {
  const native = createRequire(import.meta.url).resolve("typescript-native/package.json");
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(native).resolve(`${platform}/package.json`));
    return join(folder, "lib", process.platform === "win32" ? "tsc.exe" : "tsc");
  } catch (error) {
    throw new ProbelabError(
      `Can't check cells: TypeScript's compiler for ${process.platform} on ${process.arch} is not installed. Install probelab anew without --omit=optional, or install ${platform}.`,
      { cause: error },
    );
  }
}
