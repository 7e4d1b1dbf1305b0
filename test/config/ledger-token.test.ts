import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findLedgerToken, takeLedgerToken } from "../../src/config/ledger.ts";
import { tempFolder } from "../support/temp-folder.ts";

const MODULE = resolve(import.meta.dir, "../../src/config/ledger.ts");

describe("takeLedgerToken", () => {
  test("creates a token of 256 bits once, readable by this user alone", () => {
    const folder = join(tempFolder(), "data");
    expect(findLedgerToken(folder)).toBeUndefined();
    const token = takeLedgerToken(folder);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(takeLedgerToken(folder)).toBe(token);
    expect(findLedgerToken(folder)).toBe(token);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "ledger-token")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["ledger-token"]);
  });

  test("returns one token to processes that start at once", async () => {
    const folder = join(tempFolder(), "data");
    const script = `import { takeLedgerToken } from ${JSON.stringify(MODULE)};
      console.log(takeLedgerToken(${JSON.stringify(folder)}));`;
    const starts = Array.from({ length: 6 }, () =>
      new Response(Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }).stdout).text(),
    );
    const tokens = new Set(await Promise.all(starts));
    expect([...tokens]).toEqual([`${findLedgerToken(folder)}\n`]);
    expect(readdirSync(folder)).toEqual(["ledger-token"]);
  });

  test("reads a token that was written by hand", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), "  sixteen-letters-\n");
    expect(takeLedgerToken(folder)).toBe("sixteen-letters-");
  });

  test.each(["", "short", "two words and then some more"])("throws for a file with the text %p", (text) => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), text);
    expect(() => takeLedgerToken(folder)).toThrow("holds no token");
  });

  test("throws when the folder cannot be created, and leaves no file", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(() => takeLedgerToken(join(folder, "file", "data"))).toThrow();
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
