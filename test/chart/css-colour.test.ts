import { expect, test } from "vitest";
import { plainColour } from "../../src/chart/render/css-colour.js";

test.each([
  ["SteelBlue", "steelblue"],
  ["none", "none"],
  ["#0072B2", "#0072b2"],
  ["#abc", "#abc"],
  ["url(#p1-0)", "url(#p1-0)"],
  ["rgb(1, 2, 3)", "rgba(1, 2, 3, 1)"],
  ["rgb(12.4 13.6 300 / 0.5)", "rgba(12, 14, 255, 0.5)"],
  ["rgba(1,2,3,.25)", "rgba(1, 2, 3, 0.25)"],
  ["#ff000080", "rgba(255, 0, 0, 0.5019607843137255)"],
  ["#f008", "rgba(255, 0, 0, 0.5333333333333333)"],
  // From CSS Color 4: green is hsl(120, 100%, 25%), gold hsl(51, 100%, 50%).
  ["hsl(120, 100%, 25%)", "rgba(0, 128, 0, 1)"],
  ["hsla(51deg 100% 50% / 0.5)", "rgba(255, 217, 0, 0.5)"],
])("plainColour(%j) is %j", (colour, plain) => {
  expect(plainColour(colour)).toBe(plain);
});

test.each([
  "url(https://evil.example/x)",
  "url(#a) url(javascript:alert(1))",
  "rgb(1..2, 3, 4)",
  "expression(alert(1))",
  "",
  "__proto__",
])("plainColour(%j) is no colour", (colour) => {
  expect(plainColour(colour)).toBeUndefined();
});
