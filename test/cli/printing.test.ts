import { describe, expect, spyOn, test } from "bun:test";
import { printResult } from "../../src/cli/command.ts";
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

test("a result shows what steers a terminal as a mark, and keeps tabs, lines and letters of every script", () => {
  const log = spyOn(console, "log").mockImplementation(() => undefined);
  printResult({ json: {}, text: "a\u001b[31mb\u009bc\u202ed\te\r\nש 👨‍👩‍👧" }, {});
  const [line] = log.mock.calls[0] ?? [];
  log.mockRestore();
  expect(line).toBe("a\ufffd[31mb\ufffdc\ufffdd\te\r\nש 👨‍👩‍👧");
});
