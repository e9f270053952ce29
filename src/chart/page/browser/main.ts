import { drawChart } from "./draw-chart.js";

/** Makes the charts of the page live, one after the other: the reader may scroll in between. */
async function drawAll(): Promise<void> {
  // Texts are measured when a chart is drawn.
  await Promise.allSettled(
    ["400", "700"].map((weight) => document.fonts.load(`${weight} 12px Arimo`)),
  );
  for (const figure of document.querySelectorAll<HTMLElement>("figure.probelab-chart")) {
    try {
      await drawChart(figure);
      figure.classList.add("probelab-live");
    } catch {
      // Its picture stands where it was, and says the same.
      figure.classList.add("probelab-still");
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.documentElement.classList.add("probelab-drawn");
}

void drawAll();
