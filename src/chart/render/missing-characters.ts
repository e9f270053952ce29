const NAMES: Readonly<Record<string, string>> = {
  Han: "Chinese characters",
  Hiragana: "Japanese",
  Katakana: "Japanese",
  Hangul: "Korean",
  Myanmar: "Burmese",
};
const SCRIPTS = [
  ...Object.keys(NAMES),
  ..."Bopomofo Arabic Devanagari Bengali Tamil Telugu Gujarati Gurmukhi Kannada Malayalam".split(
    " ",
  ),
  ..."Sinhala Thai Lao Khmer Tibetan Georgian Armenian Ethiopic Hebrew".split(" "),
];
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
  for (const character of fresh) told.add(`${kind} ${scriptOf(character)}`);
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
    ...(missing.some((character) => EMOJI.test(character)) ? ["fonts-noto-color-emoji"] : []),
  ];
  const advice = fonts.length > 0 ? fonts.join(" and ") : "fonts-noto-core";
  return `The ${kind} shows boxes for ${JSON.stringify(shown)}${more} (${scripts}), which neither the shipped font nor one of this machine has: install one that does (on Debian ${advice}), or name its folder in PROBELAB_FONTS.`;
}

function scriptOf(character: string): string {
  if (EMOJI.test(character)) return "emoji and symbols";
  const script = SCRIPTS.find((name) => new RegExp(`\\p{Script=${name}}`, "u").test(character));
  if (script !== undefined) return NAMES[script] ?? script;
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
