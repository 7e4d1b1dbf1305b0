/** What an agent is sent to do: by its tool, as the scripted model tells it. Every word is random, so that none can be guessed. */
export interface Errand {
  /** What the user says; it holds `name`, by which its requests are known from others. */
  readonly prompt: string;
  readonly name: string;
  /** Relative to the working folder. */
  readonly fileName: string;
  readonly fileText: string;
  /** Makes the file and prints `result`, which stands nowhere in it. */
  readonly command: string;
  readonly result: string;
  /** What the model says at the end. */
  readonly farewell: string;
}

export function inventErrand(): Errand {
  const name = word();
  const fileName = `${word()}.txt`;
  const fileText = word();
  const [one, other] = [number(), number()];
  return {
    prompt: `Errand ${name}: make the file.`,
    name,
    fileName,
    fileText,
    command: `printf %s ${fileText} > ${fileName} && echo $((${one} * ${other}))`,
    result: String(one * other),
    farewell: `The file is made, says ${word()}.`,
  };
}

function word(): string {
  return `w${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
}

/** Products of two are below what a shell can count. */
function number(): number {
  return 100_000 + Math.floor(Math.random() * 900_000);
}
