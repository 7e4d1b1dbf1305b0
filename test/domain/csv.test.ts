import { expect, test } from "bun:test";
import { printCsv } from "../../src/domain/csv.ts";

test("a table has CRLF lines, and quotes where a cell needs them", () => {
  expect(
    printCsv(
      ["a", "b"],
      [
        ["x,y", 1],
        ['say "hi"', null],
        ["two\nlines", "0.000000001"],
      ],
    ),
  ).toBe('a,b\r\n"x,y",1\r\n"say ""hi""",\r\n"two\nlines",0.000000001\r\n');
});

test.each([
  ["=1+1", "'=1+1"],
  ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
  ["-2+3", "'-2+3"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", '"\'\r=1"'],
  ['=HYPERLINK("http://evil","x")', '"\'=HYPERLINK(""http://evil"",""x"")"'],
])("the text %p is no formula of a spreadsheet", (text, printed) => {
  expect(printCsv(["n"], [[text]])).toBe(`n\r\n${printed}\r\n`);
});

test("a negative amount stays a number", () =>
  expect(printCsv(["n"], [["-0.5"], [-3]])).toBe("n\r\n-0.5\r\n-3\r\n"));
