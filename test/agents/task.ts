/** A task that an agent has to do with its tool. All words are random, so that no agent can guess them. */
export interface Task {
  /** The user's prompt. It contains `name`, which identifies the requests that belong to the task. */
  readonly prompt: string;
  readonly name: string;
  /** Relative to the working folder. */
  readonly fileName: string;
  readonly fileText: string;
  /** Shell command that creates the file and prints `result`, which is no part of the command. */
  readonly command: string;
  readonly result: string;
  /** Text with which the model ends the task. */
  readonly finalText: string;
}

export function createTask(): Task {
  const name = word();
  const fileName = `${word()}.txt`;
  const fileText = word();
  const [one, other] = [number(), number()];
  return {
    prompt: `Task ${name}: make the file.`,
    name,
    fileName,
    fileText,
    command: `printf %s ${fileText} > ${fileName} && echo $((${one} * ${other}))`,
    result: String(one * other),
    finalText: `The file is made: ${word()}.`,
  };
}

function word(): string {
  return `w${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
}

/** Returns a factor small enough that a shell can multiply two of them. */
function number(): number {
  return 100_000 + Math.floor(Math.random() * 900_000);
}
