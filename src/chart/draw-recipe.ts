import type { Result } from "../result/result.js";
import type { Chart } from "./chart-value.js";
import { chart } from "./chart.js";
import type { Recipe } from "./recipe.js";

/** A chart of a Result, made as another was. @throws ProbelabError where that Result can't be drawn so. */
export function drawRecipe(result: Result, recipe: Recipe): Chart {
  return "spec" in recipe
    ? chart.vegaLite(result, recipe.spec)
    : chart[recipe.mark](result, recipe.options);
}
