const SCRIPTS: Readonly<Record<string, string>> = {
  Han: "Chinese characters",
  Hiragana: "Japanese",
  Katakana: "Japanese",
  Hangul: "Korean",
  Bopomofo: "Bopomofo",
  Arabic: "Arabic",
  Devanagari: "Devanagari",
  Bengali: "Bengali",
  Tamil: "Tamil",
  Telugu: "Telugu",
  Gujarati: "Gujarati",
  Gurmukhi: "Gurmukhi",
  Kannada: "Kannada",
  Malayalam: "Malayalam",
  Sinhala: "Sinhala",
  Thai: "Thai",
  Lao: "Lao",
  Khmer: "Khmer",
  Myanmar: "Burmese",
  Tibetan: "Tibetan",
  Georgian: "Georgian",
  Armenian: "Armenian",
  Ethiopic: "Ethiopic",
  Hebrew: "Hebrew",
};
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const EMOJI = /\p{Extended_Pictographic}/u;
const MOST_SHOWN = 8;

const told = new Set<string>();

/**
 * Says, once for each script, that a picture shows boxes because no font of this machine has some
 * characters. It is a warning of the process (`process.on("warning")`, code `PROBELAB_FONTS`): on
 * the error output of a command, and below the cell of a notebook.
 */
export function warnOfMissing(missing: readonly string[], kind: "PNG" | "PDF"): void {
  const fresh = missing.filter((character) => !told.has(`${kind} ${scriptOf(character)}`));
  if (fresh.length === 0) return;
  const scripts = [...new Set(fresh.map(scriptOf))];
  for (const script of scripts) told.add(`${kind} ${script}`);
  process.emitWarning(missingSentence(fresh, kind), {
    type: "ProbelabWarning",
    code: "PROBELAB_FONTS",
  });
}

/** The sentence: which characters of which scripts, and what to install. */
export function missingSentence(missing: readonly string[], kind: "PNG" | "PDF"): string {
  const scripts = [...new Set(missing.map(scriptOf))].join(", ");
  const shown = missing.slice(0, MOST_SHOWN).join("");
  const more = missing.length > MOST_SHOWN ? ` and ${missing.length - MOST_SHOWN} more` : "";
  const fonts = [
    ...(missing.some((character) => CJK.test(character)) ? ["fonts-noto-cjk"] : []),
    ...(missing.some((character) => EMOJI.test(character))
      ? [kind === "PDF" ? "fonts-symbola" : "fonts-noto-color-emoji"]
      : []),
  ];
  const advice = fonts.length > 0 ? fonts.join(" and ") : "fonts-noto-core";
  return `The ${kind} shows boxes for ${JSON.stringify(shown)}${more} (${scripts}), which neither the shipped font nor one of this machine has: install one that does (on Debian ${advice}), or name its folder in PROBELAB_FONTS.`;
}

function scriptOf(character: string): string {
  if (EMOJI.test(character)) return "emoji and symbols";
  for (const [script, name] of Object.entries(SCRIPTS)) {
    if (new RegExp(`\\p{Script=${script}}`, "u").test(character)) return name;
  }
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
