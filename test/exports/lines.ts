import { type Line, printLine } from "../../src/exports/line.ts";

/** Lines of top-ups with these names. */
function linesOf(...names: readonly string[]): readonly Line[] {
  return names.map((name, index) =>
    printLine({
      walletId: "acme",
      accountName: "Acme",
      keyName: undefined,
      transfer: {
        seq: index + 1,
        transferId: name,
        kind: "top_up",
        amount: 5n,
        postedAfter: 5n,
        holdId: undefined,
        createdAtMs: Date.UTC(2026, 5, 1),
      },
      receipt: undefined,
      move: { positions: new Map([["", index + 1]]) },
    }),
  );
}

export function batchOf(...names: readonly string[]) {
  return { id: names.join(), lines: linesOf(...names) };
}

/** The names of the top-ups in a text of lines. Throws when a line is no JSON. */
export function namesIn(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new Error("The text does not end with a line break");
  return lines.map((line) => JSON.parse(line).transfer.id);
}
