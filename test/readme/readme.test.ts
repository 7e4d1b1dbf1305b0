import { expect, test } from "bun:test";
import { recordFirstMinute, wordsOf } from "./first-minute.ts";
import { PICTURES } from "./pictures.ts";
import { drawTerminal } from "./terminal-svg.ts";

test("the README's recording of a terminal shows what its commands print today; if not: bun run readme", async () => {
  const steps = await recordFirstMinute();
  expect(await Bun.file(`${PICTURES}/first-minute.txt`).text()).toBe(`${wordsOf(steps)}\n`);
});

test("a drawn recording has each line as text, wraps long ones, and contains no markup of its output", () => {
  const svg = drawTerminal([{ command: "echo", output: ["<script>", `${"word ".repeat(30)}end`] }]);
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).not.toContain("<script");
  const lines = [...svg.matchAll(/<text [^>]*>(?<text>.*)<\/text>/g)].map(
    (found) => found.groups?.text ?? "",
  );
  expect(lines.at(-1)).toEndWith("end");
  expect(lines.every((line) => line.length <= 110)).toBe(true);
});
