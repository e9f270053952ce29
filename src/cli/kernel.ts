import { Command } from "commander";
import { installKernel } from "../kernel/kernelspec.js";

/** `probelab kernel install` */
export const kernelCommand = new Command("kernel")
  .description("Make the kernel known to Jupyter; needs no Python")
  .addCommand(
    new Command("install")
      .description("write the kernel where Jupyter looks for kernels")
      .option("--prefix <dir>", "into DIR/share/jupyter/kernels (default: for the current user)")
      .addHelpText(
        "after",
        '\nInto a virtualenv: --prefix "$VIRTUAL_ENV". To list or remove it: jupyter kernelspec.',
      )
      .action(async ({ prefix }: { readonly prefix?: string }) => {
        const folder = await installKernel(process.env, prefix);
        process.stdout.write(
          `The kernel is in ${folder}. In Jupyter, choose "TypeScript (probelab)".\n`,
        );
      }),
  );
