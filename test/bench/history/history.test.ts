import { describe, expect, test } from "bun:test";
import { replaceBlock } from "../page-block.ts";
import { exampleAgentsLine, exampleCell, exampleLine } from "./example-line.ts";
import { readKeptRuns } from "./files.ts";
import { isAgentsLine, isGatewayLine, machineKind, printLine, readHistory } from "./line.ts";
import { printHistory } from "./table.ts";

describe("a line of the history", () => {
  test("is one line of JSON that reads back unchanged", () => {
    const line = exampleLine();
    const printed = printLine(line);
    expect(printed).not.toContain("\n");
    expect(readHistory(`${printed}\n`, "history.jsonl")).toEqual([line]);
  });

  test("has fractions of four digits and whole integers", () => {
    const cell = exampleCell({ ratio: 0.123456, connections: 128, cpuRatio: 12.34567 });
    const printed = printLine(exampleLine({ throughput: [cell] }));
    const [read] = readHistory(printed, "history.jsonl").filter(isGatewayLine);
    expect(read?.throughput[0]).toMatchObject({ ratio: 0.1235, connections: 128, cpuRatio: 12.35 });
  });

  test("of a run of agents reads back unchanged, between lines of other runs", () => {
    const lines = [exampleLine(), exampleAgentsLine(), exampleLine()];
    const read = readHistory(lines.map(printLine).join("\n"), "history.jsonl");
    expect(read).toEqual(lines);
    expect(read.map(isAgentsLine)).toEqual([false, true, false]);
  });

  test("of a run of agents without a cell's rate is reported", () => {
    const cells = [{ ...exampleAgentsLine().agents.cells[0], proxy: undefined }];
    const bad = JSON.stringify({ ...exampleAgentsLine(), agents: { cells, stallMs: 1 } });
    expect(() => readHistory(bad, "history.jsonl")).toThrow("history.jsonl:1: /agents/cells/0/proxy");
  });

  test("stays readable when it was kept before", () =>
    expect(readKeptRuns().filter(isGatewayLine).length).toBeGreaterThan(0));

  test("keeps members that a later version added", () => {
    const later = { ...exampleLine(), later: 1 };
    expect(readHistory(JSON.stringify(later), "history.jsonl")).toEqual([later]);
  });

  test("is not printed with a value that is no number", () => {
    const cell = exampleCell({ ratio: Number.NaN });
    expect(() => printLine(exampleLine({ throughput: [cell] }))).toThrow("/throughput/0/ratio");
  });

  test.each([
    ["that is not JSON", "{", "history.jsonl:2: it is not JSON"],
    ["without a member", JSON.stringify({ ...exampleLine(), money: undefined }), "history.jsonl:2: /money"],
  ])("%s is reported with its file and its number", (_name, bad, message) => {
    expect(() => readHistory(`${printLine(exampleLine())}\n${bad}\n`, "history.jsonl")).toThrow(message);
  });
});

describe("the kind of a machine", () => {
  const { machine } = exampleLine();

  test("does not depend on kernel and Bun version", () =>
    expect(machineKind({ ...machine, kernel: "7", bun: "2" })).toBe(machineKind(machine)));

  test("depends on processor, cores and memory", () => {
    for (const other of [{ cpu: "Other" }, { cores: 4 }, { memoryGb: 8 }]) {
      expect(machineKind({ ...machine, ...other })).not.toBe(machineKind(machine));
    }
  });
});

describe("the table of the history", () => {
  test("has a placeholder before the first kept run", () =>
    expect(printHistory([])).toBe("No run has been kept yet."));

  test("lists the newest run first, with every figure", () => {
    const older = exampleLine({ date: "2026-11-20T10:00:00.000Z" });
    const cells = [
      exampleCell(),
      exampleCell({ connections: 128, ratio: 0.45, cpuRatio: 4 }),
      exampleCell({ kind: "stream", ratio: 0.9, cpuRatio: 1.8 }),
    ];
    const rows = rowsOf(printHistory([older, exampleLine({ throughput: cells })]));
    expect(rows.map(([date]) => date)).toEqual(["2026-11-22", "2026-11-20"]);
    expect(rows[0]).toEqual([
      "2026-11-22",
      "`1a2b3c4`",
      "SQLite",
      "1.4.5",
      "0.35 / 0.45",
      "3.50 / 4.00",
      "0.90 / –",
      "1.80 / –",
      "0.80 / 4.20",
      "24",
      "84 / 150",
      "exact",
    ]);
  });

  test("marks what a reader must know of a run", () => {
    const [row] = rowsOf(
      printHistory([
        exampleLine({
          commit: { hash: "1a2b3c4", isDirty: true },
          form: { database: "postgres", hasRedis: true },
          isQuick: true,
          money: { requests: 1, isRight: false },
        }),
      ]),
    );
    expect(row).toEqual(expect.arrayContaining(["`1a2b3c4 (dirty)`", "PostgreSQL + Redis, quick", "WRONG"]));
  });

  test("has a table of its own for runs of agents", () => {
    const printed = printHistory([exampleLine(), exampleAgentsLine()]);
    expect(printed.match(/^### .*$/gm)).toHaveLength(1);
    expect(rowsOf(printed)[1]).toEqual([
      "2026-11-22",
      "`1a2b3c4`",
      "1.4.5",
      "0.35 / –",
      "0.15",
      ...Array<string>(6).fill("–"),
      "24",
      "exact",
    ]);
  });

  test("separates kinds of machines", () => {
    const other = { ...exampleLine().machine, cores: 8 };
    const printed = printHistory([exampleLine(), exampleLine({ machine: other })]);
    expect(printed.match(/^### .*$/gm)).toEqual([
      "### Example CPU, 2 cores, 24 GB",
      "### Example CPU, 8 cores, 24 GB",
    ]);
  });
});

function rowsOf(markdown: string): readonly string[][] {
  const lines = markdown.split("\n").filter((line) => line.startsWith("| 2"));
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("replaceBlock", () => {
  const page = "before\n<!-- history: generated -->\n\nold\n\n<!-- end of history -->\nafter\n";

  test("replaces the text between the markers and nothing else", () =>
    expect(replaceBlock(page, "history", "new")).toBe(page.replace("old", "new")));

  test("changes nothing when the content is unchanged", () =>
    expect(replaceBlock(page, "history", "old")).toBe(page));

  test("throws when a marker is missing", () => {
    expect(() => replaceBlock(page, "growth", "new")).toThrow('no block "growth"');
    expect(() => replaceBlock(page.replace("end of", ""), "history", "new")).toThrow('no block "history"');
  });
});
