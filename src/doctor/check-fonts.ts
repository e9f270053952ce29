import { pngPicture } from "../chart/render/png.js";
import type { Check } from "./check.js";

/** Draws a text as charts do: a picture without its font loses all its text, silently. */
export async function checkFonts(): Promise<Check> {
  const name = "Fonts";
  const remedy =
    "Run npm install anew: @expo-google-fonts/arimo or @resvg/resvg-js is missing or damaged.";
  try {
    const [text, none] = await Promise.all([draw("probelab"), draw(" ")]);
    return text.equals(none)
      ? { name, state: "failure", found: "pictures come without their text", remedy }
      : { name, state: "ok", found: "the shipped font draws text in pictures" };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { name, state: "failure", found, remedy };
  }
}

function draw(text: string): Promise<Buffer> {
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: 100,
    height: 20,
    data: { values: [{}] },
    mark: "text",
    encoding: { text: { value: text } },
  };
  return pngPicture(spec, 1);
}
