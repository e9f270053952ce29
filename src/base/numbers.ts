/** "12,345", "1.2345": whole numbers whole, others with four digits. */
export function number(value: number): string {
  const isWhole = Number.isInteger(value) || Math.abs(value) >= 1000;
  const short = isWhole ? Math.round(value) : Number(value.toPrecision(4));
  return short.toLocaleString("en-US", { maximumFractionDigits: 6 }).replace("-", "−");
}

/** "45.3 %" of 0.453. */
export function percent(part: number): string {
  const value = part * 100;
  if (value === 0) return "0 %";
  const digits = Math.abs(value) >= 9.95 ? 0 : Math.abs(value) >= 0.095 ? 1 : 2;
  return `${value.toFixed(digits).replace("-", "−")} %`;
}

/** "−59 %", "+3 %". */
export function signedPercent(part: number): string {
  return `${part < 0 ? "" : "+"}${percent(part)}`;
}

/** A measure's value: a share in percent, others with their unit where it isn't what is counted. */
export function amount(value: number | null, unit: string): string {
  if (value === null) return "nothing known";
  if (unit === "share") return percent(value);
  return unit === "s" ? `${number(value)} s` : number(value);
}
