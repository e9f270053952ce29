const NUMBER = "([\\d.]+)";
const RGB = new RegExp(
  `^rgba?\\(\\s*${NUMBER}[\\s,]+${NUMBER}[\\s,]+${NUMBER}(?:[\\s,/]+${NUMBER})?\\s*\\)$`,
);
const HSL = new RegExp(
  `^hsla?\\(\\s*${NUMBER}(?:deg)?[\\s,]+${NUMBER}%[\\s,]+${NUMBER}%(?:[\\s,/]+${NUMBER})?\\s*\\)$`,
);

/**
 * A colour of CSS in one of the few notations that svg-to-pdfkit reads: a name, #rrggbb, or
 * `rgba()` of whole numbers. Undefined for what is none.
 */
export function plainColour(colour: string): string | undefined {
  const text = colour.trim().toLowerCase();
  if (/^([a-z]+|#[0-9a-f]{3}|#[0-9a-f]{6}|url\(#[\w-]+\))$/.test(text)) {
    return text.startsWith("url") ? colour.trim() : text;
  }
  const hex = /^#([0-9a-f])([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(text);
  const long = /^#(..)(..)(..)([0-9a-f]{2})$/.exec(
    hex
      ? `#${hex
          .slice(1)
          .map((digit) => digit + digit)
          .join("")}`
      : text,
  );
  if (long) {
    const [red = 0, green = 0, blue = 0, alpha = 255] = long
      .slice(1)
      .map((part) => parseInt(part, 16));
    return rgba(red, green, blue, alpha / 255);
  }
  const rgb = RGB.exec(text);
  if (rgb) return rgba(Number(rgb[1]), Number(rgb[2]), Number(rgb[3]), Number(rgb[4] ?? 1));
  const hsl = HSL.exec(text);
  if (!hsl) return undefined;
  const [hue, saturation, lightness] = [Number(hsl[1]), Number(hsl[2]) / 100, Number(hsl[3]) / 100];
  // Source: CSS Color Module 4, section 7.1.
  const channel = (n: number): number => {
    const k = (n + hue / 30) % 12;
    const reach = saturation * Math.min(lightness, 1 - lightness);
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return rgba(channel(0), channel(8), channel(4), Number(hsl[4] ?? 1));
}

function rgba(red: number, green: number, blue: number, alpha: number): string | undefined {
  const whole = [red, green, blue].map((value) => Math.round(Math.min(255, value)));
  if (whole.some(Number.isNaN) || Number.isNaN(alpha)) return undefined;
  return `rgba(${whole.join(", ")}, ${Math.min(1, alpha)})`;
}
