import { expect, test } from "vitest";
import { pictureOf, PICTURES } from "./support/pictures.js";

test.each(Object.entries(PICTURES))(
  "the picture %s is as it was (vitest -u makes it anew: look at it then)",
  async (name, drawn) => {
    await expect(await pictureOf(drawn)).toMatchFileSnapshot(`snapshots/${name}.svg`);
  },
);
