import { drawnBefore } from "../../src/chart/series.js";

// Files share a process, as the cells of a notebook do: each begins as a notebook does, without colors.
drawnBefore.clear();
