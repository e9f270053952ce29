/** An element that Vega's SVG renderer made, with its data. */
interface Drawn extends Element {
  readonly __data__?: {
    readonly datum?: Record<string, unknown>;
    readonly items?: readonly { readonly datum?: Record<string, unknown> }[];
  };
}

/**
 * Fades all series but that of the legend entry under the pointer; a click keeps it so.
 * @param keep is told the series that is kept, undefined for all.
 */
export function highlightSeries(
  place: HTMLElement,
  field: string,
  keep: (series: unknown) => void,
): void {
  const marks = drawn(place, ".role-mark > *");
  const known = new Set(marks.map((mark) => seriesOf(mark, field)));
  // Another legend, of sizes say, lists other values.
  const entries = drawn(place, ".role-legend-symbol > *, .role-legend-label > *").filter((entry) =>
    known.has(entry.__data__?.datum?.value),
  );
  let kept: unknown;
  const fadeBut = (series: unknown): void => {
    for (const mark of marks) {
      const own = seriesOf(mark, field);
      const other = series !== undefined && own !== undefined && own !== series;
      mark.classList.toggle("probelab-faded", other);
    }
    for (const entry of entries) {
      const other = series !== undefined && entry.__data__?.datum?.value !== series;
      entry.classList.toggle("probelab-faded", other);
    }
  };
  for (const entry of entries) {
    const series = entry.__data__?.datum?.value;
    entry.addEventListener("pointerenter", () => fadeBut(series));
    entry.addEventListener("pointerleave", () => fadeBut(kept));
    entry.addEventListener("click", () => {
      kept = kept === series ? undefined : series;
      fadeBut(kept);
      keep(kept);
    });
  }
}

function drawn(place: HTMLElement, selector: string): Drawn[] {
  return [...place.querySelectorAll<Drawn>(selector)].filter((element) => "__data__" in element);
}

/** The series of a mark; a line or an area is one element for all its points. */
function seriesOf(mark: Drawn, field: string): unknown {
  const data = mark.__data__;
  return (data?.datum ?? data?.items?.[0]?.datum)?.[field];
}
