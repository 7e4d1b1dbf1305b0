import type { TerminalStep } from "./first-minute.ts";

const COLUMNS = 104;
const FONT_PX = 13;
const CHAR_PX = 7.83;
const LINE_PX = 19;
const MARGIN_PX = 18;
const BAR_PX = 34;
/** Pauses in seconds: before a command appears, and before its output does. */
const BEFORE_COMMAND_S = 1.4;
const BEFORE_OUTPUT_S = 0.7;
const LINE_S = 0.09;

interface Line {
  readonly text: string;
  readonly isCommand: boolean;
  readonly atS: number;
}

/**
 * Draws a recording as one SVG without scripts, whose lines appear in turn. Readers who asked for less motion, and
 * programs that do not animate, see all of it.
 */
export function drawTerminal(steps: readonly TerminalStep[]): string {
  const lines = placeLines(steps);
  const width = Math.ceil(COLUMNS * CHAR_PX + 2 * MARGIN_PX);
  const height = BAR_PX + lines.length * LINE_PX + MARGIN_PX;
  const title = `A terminal: ${steps.map(({ command }) => command.split(" -H ", 1)[0]).join("; ")}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${Bun.escapeHTML(title)}</title>
<style>
text { font: ${FONT_PX}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d3df; white-space: pre; }
.c { fill: #ffffff; font-weight: 600; }
.p { fill: #3fb99a; }
@media (prefers-reduced-motion: no-preference) {
  text { opacity: 0; animation: appear 0.01s forwards; animation-delay: var(--at); }
  @keyframes appear { to { opacity: 1; } }
}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#11161d" stroke="#30363d"/>
<circle cx="20" cy="17" r="5" fill="#39424e"/><circle cx="38" cy="17" r="5" fill="#39424e"/><circle cx="56" cy="17" r="5" fill="#39424e"/>
${lines.map(drawLine).join("\n")}
</svg>
`;
}

/** Wraps the lines at the last column, and gives each the time at which it appears. */
function placeLines(steps: readonly TerminalStep[]): readonly Line[] {
  const lines: Line[] = [];
  let atS = 0;
  for (const { command, output } of steps) {
    if (lines.length > 0) lines.push({ text: "", isCommand: false, atS });
    for (const text of wrap(`$ ${command}`)) lines.push({ text, isCommand: true, atS });
    atS += BEFORE_OUTPUT_S;
    for (const text of output.flatMap(wrap)) {
      lines.push({ text, isCommand: false, atS });
      atS += LINE_S;
    }
    atS += BEFORE_COMMAND_S;
  }
  return lines;
}

/** Breaks a line at spaces, as a reader would; a longer word is cut. */
function wrap(line: string): readonly string[] {
  if (line.length <= COLUMNS) return [line];
  const space = line.lastIndexOf(" ", COLUMNS);
  const end = space > COLUMNS / 2 ? space : COLUMNS;
  return [line.slice(0, end), ...wrap(`  ${line.slice(end).trimStart()}`)];
}

function drawLine({ text, isCommand, atS }: Line, index: number): string {
  const y = BAR_PX + (index + 0.75) * LINE_PX;
  const prompt = text.startsWith("$ ") && isCommand ? '<tspan class="p">$</tspan>' : "";
  const rest = Bun.escapeHTML(prompt ? text.slice(1) : text);
  return `<text x="${MARGIN_PX}" y="${y.toFixed(1)}" style="--at:${atS.toFixed(2)}s"${isCommand ? ' class="c"' : ""}>${prompt}${rest}</text>`;
}
