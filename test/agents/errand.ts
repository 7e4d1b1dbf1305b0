/**
 * Work of many turns that an agent has to do with its tools, one call a turn. All words are random, so that no agent
 * can guess them.
 */
export interface Errand {
  /** The user's prompt. It contains `name`, which identifies the requests that belong to the errand. */
  readonly prompt: string;
  readonly name: string;
  readonly deeds: readonly Deed[];
  /** The files at the end, by their names. */
  readonly files: Readonly<Record<string, string>>;
  /** Text with which the model ends the errand. */
  readonly finalText: string;
}

/** What one call does. `shows` is a text that its result must contain. */
export type Deed =
  | { readonly does: "write"; readonly file: string; readonly text: string; readonly shows: "" }
  | { readonly does: "read"; readonly file: string; readonly shows: string }
  | {
      readonly does: "edit";
      readonly file: string;
      /** A whole line, and the one that replaces it. */
      readonly before: string;
      readonly after: string;
      readonly shows: "";
    }
  | { readonly does: "run"; readonly command: string; readonly shows: string };

const SCRIPT = "sum.sh";
const NOTES = "notes.txt";
const LIST = "list.txt";
const SUM = "out/sum.txt";

/** An errand with a script that is wrong at first, a command that fails, and files that are read and edited. */
export function createErrand(): Errand {
  const name = word();
  const [one, other] = [number(), number()];
  const [draft, missing, last] = [word(), word(), `z${word()}`];
  const [wrong, right] = [`expr ${one} - ${other}`, `expr ${one} + ${other}`];
  const sum = String(one + other);
  return {
    prompt: `Errand ${name}: do the work.`,
    name,
    deeds: [
      { does: "write", file: SCRIPT, text: `${wrong}\n`, shows: "" },
      { does: "run", command: `sh ${SCRIPT}`, shows: String(one - other) },
      { does: "read", file: SCRIPT, shows: wrong },
      { does: "edit", file: SCRIPT, before: wrong, after: right, shows: "" },
      { does: "run", command: `sh ${SCRIPT}`, shows: sum },
      { does: "run", command: `sh ${missing}.sh`, shows: missing },
      { does: "write", file: NOTES, text: `${draft} draft\n`, shows: "" },
      { does: "read", file: NOTES, shows: draft },
      { does: "edit", file: NOTES, before: `${draft} draft`, after: `${draft} final`, shows: "" },
      { does: "run", command: `cat ${NOTES}`, shows: `${draft} final` },
      { does: "run", command: `mkdir -p out && sh ${SCRIPT} > ${SUM} && wc -l ${SUM}`, shows: SUM },
      { does: "read", file: SUM, shows: sum },
      { does: "write", file: LIST, text: `${last}\n${name}\n`, shows: "" },
      { does: "run", command: `sort -r ${LIST} | head -n 1`, shows: last },
    ],
    files: {
      [SCRIPT]: `${right}\n`,
      [NOTES]: `${draft} final\n`,
      [SUM]: `${sum}\n`,
      [LIST]: `${last}\n${name}\n`,
    },
    finalText: `The errand is done: ${word()}.`,
  };
}

function word(): string {
  return `w${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
}

function number(): number {
  return 100_000 + Math.floor(Math.random() * 900_000);
}

/** Tokens of a context from which on an agent asks for a summary: the errand has more, once. */
export const COMPACTION_TOKENS = 40_000;
