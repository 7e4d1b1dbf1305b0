import { startChromium } from "../../support/chromium.ts";
import { openForTests } from "../../support/open-for-tests.ts";
import { startWorld, type WorldOptions } from "./world.ts";

/** Starts a world and a browser before the first test of a file, and ends both after the last one. */
export function worldForTests(options?: WorldOptions) {
  const world = openForTests(
    () => startWorld(options),
    (started) => started.close(),
  );
  const browser = openForTests(startChromium, (started) => started.close());
  return { world, browser };
}
