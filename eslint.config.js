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

const oneDirection = ROOMS.slice(0, -1).map((room, at) => ({
  files: [`src/${room}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            regex: `^(\\.\\./)+((${ROOMS.slice(at + 1).join("|")})/|index\\.js$)`,
            message: `Imports point only left in ${ROOMS.join(" → ")}.`,
          },
        ],
      },
    ],
  },
}));

export default tseslint.config(
  {
    ignores: ["dist/", "out/", "node_modules/", "bench/results/", ".bench/", ".venv/", "**/*.d.ts"],
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
