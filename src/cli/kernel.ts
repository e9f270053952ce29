import { Command } from "commander";
import { ProbelabError } from "../base/error.js";
import {
  installedKernels,
  installKernel,
  uninstallKernel,
  type KernelPlace,
} from "../notebook/kernel/kernelspec.js";

interface InstallOptions {
  user?: boolean;
  prefix?: string;
  sysPrefix?: boolean;
}

/** `probelab kernel install | list | uninstall` */
export const kernelCommand = new Command("kernel")
  .description("Make the kernel known to Jupyter; needs no Python")
  .addCommand(
    new Command("install")
      .description("write the kernel where Jupyter looks for kernels")
      .option("--user", "for the current user (the default)")
      .option("--prefix <dir>", "into DIR/share/jupyter/kernels")
      .option("--sys-prefix", "into the active virtualenv or conda environment")
      .action(async (options: InstallOptions) => {
        const folder = await installKernel(placeOf(options));
        process.stdout.write(
          `The kernel is in ${folder}. In Jupyter, choose "TypeScript (probelab)".\n`,
        );
      }),
  )
  .addCommand(
    new Command("list").description("show the TypeScript kernels that Jupyter finds").action(() => {
      const kernels = installedKernels();
      if (kernels.length === 0) {
        process.stdout.write("No kernel of probelab or tslab: run npx probelab kernel install.\n");
      }
      for (const { name, displayName, folder } of kernels) {
        process.stdout.write(`${name.padEnd(10)} ${displayName.padEnd(24)} ${folder}\n`);
      }
    }),
  )
  .addCommand(
    new Command("uninstall")
      .description("remove the kernel from where Jupyter finds it")
      .action(async () => {
        const removed = await uninstallKernel();
        const lines = removed.map((folder) => `Removed ${folder}.`);
        process.stdout.write(`${lines.join("\n") || "There is no kernel of probelab."}\n`);
      }),
  );

function placeOf({ user, prefix, sysPrefix }: InstallOptions): KernelPlace {
  const given = [user, prefix, sysPrefix].filter((option) => option !== undefined);
  if (given.length > 1) {
    throw new ProbelabError(
      "Can't install to two places at once: choose --user, --prefix or --sys-prefix.",
    );
  }
  if (prefix !== undefined) return { kind: "prefix", prefix };
  return sysPrefix ? { kind: "sys-prefix" } : { kind: "user" };
}
