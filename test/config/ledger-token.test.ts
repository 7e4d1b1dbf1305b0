import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findLedgerTokens, takeLedgerTokens } from "../../src/config/ledger.ts";
import { tempFolder } from "../support/temp-folder.ts";

const MODULE = resolve(import.meta.dir, "../../src/config/ledger.ts");

describe("takeLedgerTokens", () => {
  test("creates a token of 256 bits once, readable by this user alone", () => {
    const folder = join(tempFolder(), "data");
    expect(findLedgerTokens(folder)).toEqual([]);
    const [token] = takeLedgerTokens(folder);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(takeLedgerTokens(folder)).toEqual([token ?? ""]);
    expect(findLedgerTokens(folder)).toEqual([token ?? ""]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "ledger-token")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["ledger-token"]);
  });

  test("returns one token to processes that start at once", async () => {
    const folder = join(tempFolder(), "data");
    const script = `import { takeLedgerTokens } from ${JSON.stringify(MODULE)};
      console.log(...takeLedgerTokens(${JSON.stringify(folder)}));`;
    const starts = Array.from({ length: 6 }, () =>
      new Response(Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }).stdout).text(),
    );
    const tokens = new Set(await Promise.all(starts));
    expect([...tokens]).toEqual([`${findLedgerTokens(folder)}\n`]);
    expect(readdirSync(folder)).toEqual(["ledger-token"]);
  });

  test("reads a token that was written by hand", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), "  sixteen-letters-\n");
    expect(takeLedgerTokens(folder)).toEqual(["sixteen-letters-"]);
  });

  test.each(["", "short", "two words and then some more"])("throws for a file with the text %p", (text) => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), text);
    expect(() => takeLedgerTokens(folder)).toThrow("holds no token");
  });

  test("throws when the folder cannot be created, and leaves no file", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(() => takeLedgerTokens(join(folder, "file", "data"))).toThrow();
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
