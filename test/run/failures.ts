/** A failed test, or a test file without a result. */
export interface Failure {
  /** "test/x.test.ts" */
  readonly file: string;
  /** Names of its describe blocks and of the test, outermost first; empty for a whole file. */
  readonly name: readonly string[];
  readonly message: string;
}

/** Lines of the whole summary, so that it fits the last 100 lines of a log. */
const LINES_MAX = 96;
/** Lines of a failure beside its message: name, count of omitted lines, and blank line. */
const OTHER_LINES = 3;
const MESSAGE_LINES_MAX = 40;
const MESSAGE_LINES_MIN = 2;

/**
 * Finds the failures in a JUnit report of Bun. Reports also every test file in `expectedFiles` that the
 * report does not contain: it failed to load, or the run ended before it. A report that breaks off is read to
 * its end.
 */
export function findFailures(report: string, expectedFiles: readonly string[]): readonly Failure[] {
  const failures: Failure[] = [];
  const seen = new Set<string>();
  /** Names of the enclosing suites. The outermost one is the file. */
  const suites: string[] = [];
  let test = "";
  for (const { tag, attributes, isSelfClosing, isClosing, text } of tagsIn(report)) {
    if (tag === "testsuite" && isClosing) suites.pop();
    else if (tag === "testsuite" && !isSelfClosing) suites.push(attributeIn(attributes, "name"));
    else if (tag === "testcase" && !isClosing) test = attributeIn(attributes, "name");
    else if (tag === "failure" && !isClosing) {
      const [file = "", ...describes] = suites;
      const message = decode(text).trim() || attributeIn(attributes, "message");
      failures.push({ file, name: [...describes, test], message });
    }
    seen.add(suites[0] ?? "");
  }
  const missing = expectedFiles.filter((file) => !seen.has(file));
  const message = "No result: the file failed to load, or the run ended before it.";
  return [...failures, ...missing.map((file) => ({ file, name: [], message }))];
}

/**
 * Formats failures for the end of a log, with at most 40 lines of each message; fewer when many tests failed.
 */
export function formatFailures(failures: readonly Failure[]): string {
  const share = Math.floor(LINES_MAX / failures.length) - OTHER_LINES;
  const linesMax = Math.max(Math.min(share, MESSAGE_LINES_MAX), MESSAGE_LINES_MIN);
  const blocks = failures.map(({ file, name, message }) => {
    const lines = message.split("\n");
    const omitted = lines.length - linesMax;
    const shown = omitted > 0 ? [...lines.slice(0, linesMax), `… ${omitted} more lines`] : lines;
    return [[file, ...name].join(" > "), ...shown.map((line) => `    ${line}`.trimEnd())].join("\n");
  });
  const count = failures.length === 1 ? "1 failure" : `${failures.length} failures`;
  return [`${count}:`, ...blocks].join("\n\n");
}

interface Tag {
  readonly tag: string;
  readonly attributes: string;
  readonly isClosing: boolean;
  readonly isSelfClosing: boolean;
  /** Text between this tag and the next one. */
  readonly text: string;
}

/** Reports escape `<` and `>` in texts and attributes, so that tags can be found by these characters. */
function* tagsIn(report: string): Generator<Tag> {
  for (const match of report.matchAll(/<(\/?)(\w+)([^<>]*?)(\/?)>([^<]*)/g)) {
    const [, closing, tag = "", attributes = "", selfClosing, text = ""] = match;
    yield { tag, attributes, isClosing: closing === "/", isSelfClosing: selfClosing === "/", text };
  }
}

function attributeIn(attributes: string, name: string): string {
  return decode(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? entity;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}
