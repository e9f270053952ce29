import { Command } from "commander";
import { configPath, readConfig } from "../database/config.js";
import { projectRoot } from "../database/settings.js";
import { alert } from "../watch/alert/alert.js";
import { line, severity } from "./terminal.js";

interface Flags {
  readonly text?: string;
  readonly severity: ReturnType<typeof severity>;
  readonly key?: string;
  readonly page: string;
  readonly notebook?: string;
  readonly runbook?: string;
}

const send = new Command("send")
  .description(
    "send an alert to the configured channels: how a CI run ended, a cron job that failed",
  )
  .argument("<title>", "a line: Nightly build failed")
  .requiredOption("--page <address>", "where to look, such as the CI run's page")
  .option("--text <text>", "what happened (default: the title)")
  .option("--severity <n>", "1 to 4; 1 is the highest", severity, 3)
  .option("--key <key>", "alerts of one key are one alert (default: the title)")
  .option("--notebook <address>", "the notebook or dashboard (default: the page)")
  .option("--runbook <address>", 'what to do (default: "runbook" of "alerts" in the config)')
  .action(async (title: string, flags: Flags) => {
    const { alerts } = readConfig(configPath(projectRoot(process.cwd())));
    const { page, notebook = page, runbook = alerts?.runbook ?? "", key } = flags;
    const message = {
      title,
      text: flags.text ?? title,
      severity: flags.severity,
      links: { notebook, page, runbook },
      ...(key !== undefined && { key }),
    };
    const { sentence } = await alert.send(message, { send: true });
    process.stdout.write(`${line(sentence)}\n`);
  });

const resolve = new Command("resolve")
  .description("send the end of an alert to each channel that took it")
  .argument("<key>", "its key, or its title if it has none")
  .action(async (key: string) => {
    const { sentence } = await alert.resolve(key, { send: true });
    process.stdout.write(`${line(sentence)}\n`);
  });

/** `probelab alert` */
export const alertCommand = new Command("alert")
  .description("send an alert from a shell, or resolve it")
  .addCommand(send)
  .addCommand(resolve);
