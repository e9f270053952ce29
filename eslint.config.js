import tseslint from "typescript-eslint";

const NO_DEFAULT = { selector: "ExportDefaultDeclaration", message: "Use a named export." };
const NO_SPREAD = {
  selector: "CallExpression[callee.object.name='Math'] > SpreadElement",
  message: "Spread values overflow the stack at some 120,000: take greatest or smallest.",
};

/** The rooms of `src` in the order in which data goes: imports point only left. */
const ROOMS =
  "base time result database query sample sources change service lab chart incident kernel watch cli".split(
    " ",
  );

/** The files of `chart` that rooms after it import. */
const DOORS = "chart page options".split(" ");
const CHART_INSIDE = {
  regex: `^(\\.\\./)+chart/(?!(${DOORS.join("|")})\\.js$)`,
  message: `Take it from a door of chart: ${DOORS.join(", ")}.`,
};

const oneDirection = ROOMS.map((room, at) => ({
  files: [`src/${room}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            regex: `^(\\.\\./)+(${[...ROOMS.slice(at + 1).map((right) => `${right}/`), "index\\.js$"].join("|")})`,
            message: `Imports point only left in ${ROOMS.join(" → ")}.`,
          },
          ...(at > ROOMS.indexOf("chart") ? [CHART_INSIDE] : []),
        ],
      },
    ],
  },
}));

/** What draws a spec knows nothing of how the spec was made: `render` imports nothing of `chart`. */
const renderAlone = ["", "*/", "*/*/"].map((folders) => {
  const up = "\\.\\./".repeat(folders.split("/").length);
  const [{ rules: inChart }] = oneDirection.slice(ROOMS.indexOf("chart"));
  const [level, { patterns }] = inChart["no-restricted-imports"];
  const message = "What render needs of chart is passed to it.";
  const added = { regex: `^${up}(?!\\.\\./)`, message };
  return {
    files: [`src/chart/render/${folders}*.ts`],
    rules: { "no-restricted-imports": [level, { patterns: [...patterns, added] }] },
  };
});

export default tseslint.config(
  {
    ignores: [
      "dist/",
      "out/",
      "node_modules/",
      "bench/results/",
      ".bench/",
      ".venv/",
      ".nodes/",
      "**/*.d.ts",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ["eslint.config.js", "scripts/*.mjs", "test/test-lists/*.mjs"],
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "no-restricted-syntax": ["error", NO_DEFAULT],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "@typescript-eslint/restrict-template-expressions": [
        "error",
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },
  ...oneDirection,
  ...renderAlone,
  {
    files: ["src/**"],
    // Charts have fewer than 5,000 rows.
    ignores: ["src/chart/**"],
    rules: { "no-restricted-syntax": ["error", NO_DEFAULT, NO_SPREAD] },
  },
  {
    files: ["eslint.config.js", "*.config.ts", "scripts/*.mjs", "test/**/*.mjs"],
    ...tseslint.configs.disableTypeChecked,
    rules: { ...tseslint.configs.disableTypeChecked.rules, "no-restricted-syntax": "off" },
  },
);
