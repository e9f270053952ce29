import { describe, expect, it } from "vitest";
import { between } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, MINUTE, writeLogs } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;

describe("rates", () => {
  const one = {
    micros: EPOCH * 1000,
    identifier: "nginx",
    priority: 6,
    host: "api1",
    message: "a",
  };

  it("takes minutes, and the finest step that a chart holds for a longer range", async () => {
    await writeLogs(own.writer, [one]);
    await using lab = await open();
    const ask = async (days: number, by?: "identifier") =>
      (
        await lab.logs.rates({
          range: between(new Date(EPOCH), new Date(EPOCH + days * 1440 * MINUTE)),
          ...(by && { by }),
        })
      ).origin.columns.time?.every;
    expect(await ask(0.5)).toBe("minute");
    expect(await ask(3, "identifier")).toBe("hour");
    expect(await ask(60)).toBe("hour");
    const all = await lab.logs.rates({
      range: between(new Date(EPOCH), new Date(EPOCH + 4 * MINUTE)),
      every: "all",
    });
    expect(all.rows()).toEqual([{ messages: 1, per_minute: 0.25 }]);
    expect(all.origin.columns.time).toBeUndefined();
  });

  it("groups by any column of the table, and refuses others", async () => {
    await writeLogs(own.writer, [one]);
    await using lab = await open();
    const range = between(new Date(EPOCH), new Date(EPOCH + MINUTE));
    const found = await lab.logs.rates({ range, by: ["SYSLOG_IDENTIFIER", "host"] });
    const cells = { SYSLOG_IDENTIFIER: "nginx", host: "api1", messages: 1, per_minute: 1 };
    expect(found.rows()).toEqual([{ t: new Date(EPOCH), ...cells }]);
    await expect(lab.logs.rates({ range, by: "hosts" })).rejects.toThrow(/did you mean host\?/);
  });
});
