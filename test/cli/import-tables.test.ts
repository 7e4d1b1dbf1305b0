import { beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readTable } from "../../src/cli/import/table.ts";
import { readText } from "../../src/cli/import/text-file.ts";
import { readUsage } from "../../src/cli/import/usage-money.ts";
import { tempFolder } from "../support/temp-folder.ts";

let path = "";
beforeEach(() => {
  path = join(tempFolder(), "export.csv");
});

function rowsOf(content: string | Uint8Array) {
  writeFileSync(path, content);
  return [...readTable(path)];
}

/** More than one piece of a file is. */
const LONG = "x".repeat(70_000);

describe("an exported table", () => {
  const cell = fc.oneof(
    fc.string({
      unit: fc.constantFrom("a", '"', "\n", "\r\n", ",", ";", "\t", " ", "ü", "💶", "\0"),
      maxLength: 6,
    }),
    fc.constantFrom("", LONG, `${LONG.slice(4_460)}"`, `é${LONG.slice(4_464)}`),
  );
  const width = 3;

  test("is read cell by cell as it was written, wherever its pieces end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }),
        fc.constantFrom(",", ";", "\t"),
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom<"utf8" | "utf16le">("utf8", "utf16le"),
        fc.boolean(),
        (rows, separator, lineEnd, encoding, isEnded) => {
          const print = (text: string) =>
            /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
          const lines = [["a", "b", "c"], ...rows].map((cells) => cells.map(print).join(separator));
          const text = `\uFEFF${lines.join(lineEnd)}${isEnded ? lineEnd : ""}`;
          const read = rowsOf(Buffer.from(text, encoding)).map((row) => Object.values(row));
          expect(read).toEqual(rows);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("gives its first rows before its end is read", () => {
    writeFileSync(path, Buffer.concat([Buffer.from(`a,b\n1,2\n${LONG},3\n`), Buffer.from([0xff])]));
    const rows = readTable(path)[Symbol.iterator]();
    expect(rows.next().value).toEqual({ a: "1", b: "2" });
    expect(() => rows.next()).toThrow("is no text in UTF-8 or UTF-16");
  });

  test.each([
    ["", "is no table: expected JSON objects in a list, or CSV"],
    ["a", "is no table"],
    [" ".repeat(70_000), "is no table"],
    ['[{"a":1},2]', "is no table"],
    ['a,b\n1,"2', "has a quotation mark that does not end a cell"],
    [
      `a,b\n1,"2\n${`${LONG}\n`.repeat(950)}`,
      "has a line of more than 64000000 characters after a quotation mark",
    ],
    ['a,b\n1,"2"3\n', "has a quotation mark that does not end a cell"],
    ["a,b\n1,2\n\n1,2,3\n", "has 3 cells in row 4, and 2 in its head"],
    [`a,b\n1,${LONG.repeat(920)}`, "has a line of more than 64000000 characters"],
    ["a,b\n1,\xff", "is no text in UTF-8 or UTF-16"],
  ])("is refused, number %#", (text, problem) => {
    expect(() => rowsOf(Buffer.from(text, "latin1"))).toThrow(problem);
  });

  test("may have NUL, cells over several lines, and blank lines", () => {
    expect(rowsOf('a,b\r\n\r\n"1\r\n2","\0"\r\n,\n\n')).toEqual([
      { a: "1\r\n2", b: "\0" },
      { a: "", b: "" },
    ]);
  });

  test("in JSON is a list, or an object with one, over any number of lines", () => {
    expect(rowsOf(`${" ".repeat(70_000)}[\n{"a":\n1}]`)).toEqual([{ a: 1 }]);
    expect(rowsOf(`{"n":1,"data":[{"a":"${LONG}"}]}`)).toEqual([{ a: LONG }]);
  });
});

describe("an exported log of JSON lines", () => {
  const entry = { ai_model: "gpt-4.1", req_units: 3, res_units: 2, cost: 1 };
  const read = (text: string) => {
    writeFileSync(path, text);
    return readUsage(path).map(({ model, requests }) => ({ model, requests }));
  };

  test("is summed up over lines of any length and blank lines", () => {
    const long = JSON.stringify({ ...entry, prompt: LONG });
    expect(read(`\n${long}\n\n${JSON.stringify(entry)}`)).toEqual([{ model: "gpt-4.1", requests: 2 }]);
  });

  test("names the entry that is wrong, not counting blank lines, and refuses a line that is no object", () => {
    const wrong = JSON.stringify({ ...entry, cost: "much" });
    expect(() => read(`${JSON.stringify(entry)}\n\n${wrong}\n`)).toThrow("Entry 2 of");
    expect(() => read(`${JSON.stringify(entry)}\n[]`)).toThrow("is no table");
  });

  test("is told from one answer of an API, which has the list in its data", () => {
    expect(read(JSON.stringify({ data: [{ model: "openai/gpt-4.1" }] }))).toEqual([
      { model: "openai/gpt-4.1", requests: 1 },
    ]);
  });
});

test("a text is read as it is, across the pieces of its file", () => {
  writeFileSync(path, `${"x".repeat(65_535)}ü💶\r\n`);
  expect(readText(path)).toBe(`${"x".repeat(65_535)}ü💶\r\n`);
});
