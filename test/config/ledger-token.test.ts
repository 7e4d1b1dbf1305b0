import { describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findLedgerToken, takeLedgerToken } from "../../src/config/ledger.ts";
import { tempFolder } from "../support/temp-folder.ts";

const MODULE = resolve(import.meta.dir, "../../src/config/ledger.ts");

describe("takeLedgerToken", () => {
  test("makes a token that is hard to guess, once, and only for this user", () => {
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

  test("gives several processes that start at once the same token", async () => {
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

  test("takes a token that somebody wrote by hand", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), "  sixteen-letters-\n");
    expect(takeLedgerToken(folder)).toBe("sixteen-letters-");
  });

  test.each(["", "short", "two words and then some more"])("refuses a file that holds %p", (text) => {
    const folder = tempFolder();
    writeFileSync(join(folder, "ledger-token"), text);
    expect(() => takeLedgerToken(folder)).toThrow("holds no token");
  });

  test("says so when the folder cannot be made, and leaves nothing behind", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "file"), "");
    expect(() => takeLedgerToken(join(folder, "file", "data"))).toThrow();
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
