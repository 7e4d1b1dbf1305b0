import { expect, test } from "bun:test";
import { warnOfKnownModels } from "../../src/app/warnings.ts";
import type { FilledIn } from "../../src/config/known.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const ENDED: FilledIn = {
  place: ["models", "m"],
  known: "p/m",
  values: {},
  source: "a list",
  checked: "2020-01-01",
  ends: "2020-01-02",
};

test("known models that need attention are one warning, of which 20 are listed", () => {
  const log = createCapturedLog();
  warnOfKnownModels({ known: Array.from({ length: 30 }, () => ENDED) }, log);
  const [line, ...others] = log
    .text()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect(others).toEqual([]);
  expect(line).toMatchObject({ level: "warn", event: "known models need attention", count: 30 });
  expect(line.models).toHaveLength(20);
  expect(line.models[0]).toEqual({
    place: "models.m",
    known: "p/m",
    reason: "ended",
    text: "may no longer be served since 2020-01-02",
  });
});

test("known models without warnings log nothing", () => {
  const log = createCapturedLog();
  warnOfKnownModels({}, log);
  expect(log.text()).toBe("");
});
