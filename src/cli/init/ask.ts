import { CommandError } from "../command.ts";

/** One of the answers that a question offers. */
interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Asks a person. */
export interface Ask {
  /** Returns a line, or the fallback for an empty one. */
  text(question: string, fallback?: string): Promise<string>;
  /** Like `text`, without showing what is typed. */
  secret(question: string): Promise<string>;
  /** Returns the values of the choices that were named by their numbers or values, at least one. */
  choose(question: string, choices: readonly Choice[], isOne?: boolean): Promise<readonly string[]>;
  /** Prints a line. */
  tell(line: string): void;
  close(): void;
}

/** Choices that are shown at a time; words narrow a longer list. */
const SHOWN_MAX = 30;
const LINE_LENGTH_MAX = 10_000;

/** A terminal: lines in, text out. */
interface Terminal {
  /** Whether typed characters are hidden. */
  setHidden(isHidden: boolean): void;
  write(text: string): void;
  /** Resolves with the next characters, or `undefined` at the end. */
  read(): Promise<string | undefined>;
  close(): void;
}

/** Asks on a terminal. */
function createAsk(terminal: Terminal): Ask {
  let pending = "";

  async function readLine(isHidden: boolean): Promise<string> {
    for (let line = ""; ; ) {
      while (pending === "") {
        const more = await terminal.read();
        if (more === undefined) throw new CommandError("The input has ended: nothing more was done.", 130);
        pending = more;
      }
      const [letter = ""] = pending;
      pending = pending.slice(letter.length);
      if (letter === "\r" || letter === "\n") return line.trim();
      if (letter === "\u0003" || letter === "\u0004")
        throw new CommandError("Stopped: nothing more was done.", 130);
      const isErase = isHidden && (letter === "\u007f" || letter === "\b");
      line = isErase ? line.slice(0, -1) : line + letter;
      if (line.length > LINE_LENGTH_MAX)
        throw new CommandError("The line is too long: nothing more was done.");
    }
  }

  async function text(question: string, fallback?: string): Promise<string> {
    terminal.write(fallback ? `${question} [${fallback}]: ` : `${question}: `);
    return (await readLine(false)) || (fallback ?? "");
  }

  async function secret(question: string): Promise<string> {
    // Hidden first: what is pasted as soon as the question stands must not be shown.
    terminal.setHidden(true);
    try {
      terminal.write(`${question} (not shown): `);
      return await readLine(true);
    } finally {
      terminal.setHidden(false);
      terminal.write("\n");
    }
  }

  async function choose(
    question: string,
    choices: readonly Choice[],
    isOne = false,
  ): Promise<readonly string[]> {
    const how = isOne ? "a number" : "numbers such as 1,3-5";
    let shown = choices;
    for (;;) {
      terminal.write(`${printChoices(shown, choices)}\n`);
      const line = await text(`${question} (${how}, or a word to search)`);
      const found = readChoices(line, shown, choices);
      if (found && found.length > 0 && (!isOne || found.length === 1)) return found;
      const matching = choices.filter(({ value, label }) => includesAll(`${value} ${label}`, line));
      if (matching.length === 0) terminal.write(`Nothing matches ${JSON.stringify(line)}.\n`);
      shown = matching.length > 0 ? matching : choices;
    }
  }

  return { text, secret, choose, tell: (line) => terminal.write(`${line}\n`), close: terminal.close };
}

function printChoices(shown: readonly Choice[], all: readonly Choice[]): string {
  const width = String(SHOWN_MAX).length + 2;
  const lines = shown
    .slice(0, SHOWN_MAX)
    .map(({ label }, index) => `${String(index + 1).padStart(width)}  ${label}`);
  const rest = all.length - lines.length;
  return [...lines, ...(rest > 0 ? [`${" ".repeat(width)}  and ${rest} more`] : [])].join("\n");
}

/** Reads numbers, ranges of them, and values. Returns `undefined` for any other text. */
function readChoices(
  line: string,
  shown: readonly Choice[],
  all: readonly Choice[],
): readonly string[] | undefined {
  const found = new Set<string>();
  for (const word of line.split(/[\s,]+/).filter(Boolean)) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(word) ?? [];
    const named = all.find(({ value }) => value === word);
    const counted =
      first === undefined
        ? []
        : shown.slice(0, SHOWN_MAX).slice(Math.max(Number(first), 1) - 1, Number(last));
    const chosen = named ? [named] : counted;
    if (chosen.length === 0 || first === "0") return undefined;
    for (const { value } of chosen) found.add(value);
  }
  return [...found];
}

function includesAll(text: string, line: string): boolean {
  const words = line.toLowerCase().split(/[\s,]+/);
  return words.every((word) => text.toLowerCase().includes(word));
}

/** Returns the questions of the terminal of this process; `undefined` without one. */
export function openAsk(): Ask | undefined {
  return process.stdin.isTTY ? createAsk(openTerminal()) : undefined;
}

/** Questions go to stderr, so that stdout has the result alone. */
function openTerminal(): Terminal {
  const { stdin } = process;
  stdin.setEncoding("utf8");
  const input = stdin[Symbol.asyncIterator]();
  return {
    setHidden: (isHidden) => void stdin.setRawMode(isHidden),
    write: (text) => void process.stderr.write(text),
    async read() {
      const { value, done } = await input.next();
      return done ? undefined : String(value);
    },
    close: () => void stdin.destroy(),
  };
}
