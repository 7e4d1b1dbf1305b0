import { describe, expect, test } from "bun:test";
import { printTable } from "../../src/cli/printing.ts";

describe("a table on the terminal", () => {
  test("has aligned columns, also with characters that are two columns wide", () => {
    const rows = [
      ["株式会社", "1"],
      ["👨‍👩‍👧", "2"],
      ["e\u0301te", "3"],
    ];
    const lines = printTable(["NAME", "KEYS"], rows).split("\n");
    expect(lines.map((line) => Bun.stringWidth(line.replace(/\S+$/, "")))).toEqual([10, 10, 10, 10]);
  });

  test("without rows is its titles", () => expect(printTable(["NAME", "KEYS"], [])).toBe("NAME  KEYS"));
});
