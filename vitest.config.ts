import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Minutes long, or in need of what npm does not install (Jupyter, a browser): `npm run test:all`
 * runs them too. Beside whole rooms, a file says so by its name.
 */
const SLOW = [
  "test/{browser,deployments,faults,jupyter,notebooks}/**/*.test.ts",
  "test/**/*.slow.test.ts",
];

/** Files that take half a minute or more. */
const LONG =
  /test\/(change\/(drop|verdicts)|deployments|notebooks|setup|watch|sample\/load|browser\/(frontends|hostile)|sources\/logs\/follow|cli\/start|incident\/at-night)/;

/** Long files begin first: one that began last would run alone. Without an earlier run vitest knows only sizes. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    env: { TZ: "America/New_York" },
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // Loading Vega, Arquero and zod anew for each file took a third of the time.
    isolate: false,
    setupFiles: ["test/support/fresh-notebook.ts"],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: SLOW,
          maxWorkers: 2,
          globalSetup: ["test/support/engine.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: SLOW,
          // On two cores: a quarter of their time they wait for browsers, kernels and servers.
          maxWorkers: 3,
          // Projects with different numbers of workers run one after the other.
          sequence: { groupOrder: 1 },
          globalSetup: ["test/support/engine.ts"],
        },
      },
    ],
  },
});
