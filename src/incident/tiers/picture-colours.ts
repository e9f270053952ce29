import type { ThemeName } from "../../chart/theme.js";

/** Colours that the theme doesn't name: those of tiers (Okabe-Ito), and of what is broken. */
export interface Colours {
  readonly tiers: Readonly<Record<string, string>>;
  readonly onTiers: Readonly<Record<string, string>>;
  readonly broken: string;
  readonly band: string;
}

const ON_TIERS = {
  "1": "#ffffff",
  "2": "#000000",
  "3": "#000000",
  "4": "#ffffff",
  "5 and up": "#000000",
};

export const COLOURS: Readonly<Record<ThemeName, Colours>> = {
  light: {
    tiers: {
      "1": "#b84a00",
      "2": "#e69f00",
      "3": "#56b4e9",
      "4": "#00785a",
      "5 and up": "#b9bfc6",
    },
    onTiers: ON_TIERS,
    broken: "#c1006e",
    band: "#f5f6f8",
  },
  dark: {
    tiers: {
      "1": "#d55e00",
      "2": "#e69f00",
      "3": "#56b4e9",
      "4": "#009e73",
      "5 and up": "#98a1ab",
    },
    onTiers: { ...ON_TIERS, "1": "#000000", "4": "#000000" },
    broken: "#ff7ac0",
    band: "#1b2026",
  },
};
