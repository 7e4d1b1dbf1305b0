import { describe, expect, test } from "bun:test";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { judgeAudit } from "./audit.ts";
import { listProductionPackages } from "./production-packages.ts";
import { createSbom } from "./sbom.ts";

/** Licences that a program under Apache-2.0 may contain. */
const COMPATIBLE = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
  "Zlib",
];

/** Whether one alternative of an SPDX expression has compatible licences only. */
function isCompatible(license: string): boolean {
  const alternatives = license.replace(/[()]/g, "").split(" OR ");
  return alternatives.some((each) => each.split(" AND ").every((id) => COMPATIBLE.includes(id)));
}

test("every package of production has a licence that Apache-2.0 allows", () => {
  const packages = listProductionPackages();
  expect(packages.length).toBeGreaterThan(40);
  const refused = packages.filter(({ license }) => license === undefined || !isCompatible(license));
  expect(refused.map(({ key, license }) => `${key}: ${license}`)).toEqual([]);
});

test("the bill of materials is valid CycloneDX, and names every package of production", async () => {
  const sbom = createSbom();
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(JSON.stringify(sbom))).toBeNull();
  const names = sbom.components.map(({ purl }) => purl);
  expect(names).toContainEqual(expect.stringMatching(/^pkg:npm\/elysia@/));
  expect(names).toContainEqual(expect.stringMatching(/^pkg:npm\/%40grpc\/grpc-js@/));
  expect(names).not.toContainEqual(expect.stringMatching(/^pkg:npm\/(openai|playwright-core)@/));
  expect(new Set(sbom.components.map((each) => each["bom-ref"])).size).toBe(names.length);
});

describe("the audit of dependencies", () => {
  const ADVISORY = { severity: "high", title: "Bad", url: "https://example.com/1" };

  test.each<[string, string, 0 | 1, string]>([
    ["no advisory", "{}", 0, "no known vulnerability"],
    ["a moderate advisory", JSON.stringify({ a: [{ ...ADVISORY, severity: "moderate" }] }), 0, "moderate: a"],
    ["a high advisory", JSON.stringify({ a: [ADVISORY] }), 1, "high: a, Bad"],
    ["a registry that does not answer", "", 0, "not audited"],
    ["a registry without audits", "error: POST - 405", 0, "not audited"],
  ])("with %s", (_, printed, exitCode, words) => {
    const verdict = judgeAudit(printed);
    expect(verdict.exitCode).toBe(exitCode);
    expect(verdict.text).toContain(words);
  });
});
