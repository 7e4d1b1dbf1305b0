import { runTollgate } from "../cli/run-tollgate.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

/** One command of the recording, and the lines of its output that are shown. */
export interface TerminalStep {
  readonly command: string;
  readonly output: readonly string[];
}

/** The address that readers have. */
const ORIGIN = "http://127.0.0.1:8080";
const QUESTION = '{"model": "demo", "messages": [{"role": "user", "content": "Hello, Tollgate!"}]}';
/** Members of a receipt that show what was held, charged and why. */
const OF_RECEIPT = ["state", "model", "granted_usd", "charged_usd", "charge_source", "attempts"];

/** Starts a gateway in an empty folder, sends a request, and shows its receipt, the balance and the audit. */
export async function recordFirstMinute(): Promise<readonly TerminalStep[]> {
  const folder = tempFolder();
  const served = await startServedProcess({ folder });
  try {
    await until(() => served.stderr().includes("  password"));
    const notice = served.stderr();
    const asked = await askDemo(served.url, secretIn(notice));
    const run = async (...words: readonly string[]) => linesOf((await runTollgate(folder, words)).stdout);
    const receipt = await run("receipt", asked.id);
    const commands: readonly TerminalStep[] = [
      { command: "npx --yes bun@1.4.5 run start", output: linesOf(notice).filter(isOfNotice) },
      {
        command: `curl -i ${ORIGIN}/v1/chat/completions -H "authorization: Bearer $TOLLGATE_KEY" -d '${QUESTION}'`,
        output: asked.lines,
      },
      { command: "bun tollgate receipt $REQUEST_ID", output: receipt.filter(isOfReceipt) },
      { command: "bun tollgate account list", output: await run("account", "list") },
      { command: "bun tollgate audit", output: shortened(await run("audit")) },
    ];
    return commands.map(({ command, output }) => ({
      command,
      output: output.map((line) => line.replaceAll(served.url, ORIGIN)),
    }));
  } finally {
    served.signal("SIGTERM");
    await served.exitCode;
  }
}

/** Returns the words of a recording without ids, amounts, times and other figures, which differ in each run. */
export function wordsOf(steps: readonly TerminalStep[]): string {
  return steps
    .flatMap(({ command, output }) => [`$ ${command}`, ...output])
    .join("\n")
    .replaceAll(/sk-tg-…|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "ID")
    .replaceAll(/\d[\d.,]*/g, "0")
    .replaceAll(/ +/g, " ");
}

async function askDemo(url: string, secret: string) {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: QUESTION,
  });
  const { choices } = (await answer.json()) as { choices: readonly unknown[] };
  const header = (name: string) => `${name}: ${answer.headers.get(name)}`;
  const lines = [
    `HTTP/1.1 ${answer.status} ${answer.statusText}`,
    header("x-tollgate-cost-usd"),
    header("x-tollgate-balance-usd"),
    header("x-request-id"),
    `{… "choices":${JSON.stringify(choices)} …}`,
  ];
  return { id: answer.headers.get("x-request-id") ?? "", lines };
}

/** The first rules and the result. */
function shortened(lines: readonly string[]): readonly string[] {
  return [...lines.slice(0, 3), `… ${lines.length - 4} more rules`, ...lines.slice(-1)];
}

function linesOf(text: string): readonly string[] {
  return text.trimEnd().split("\n").map(withoutSecrets);
}

function secretIn(notice: string): string {
  return /sk-tg-[\w-]{43}/.exec(notice)?.[0] ?? "";
}

/** The secrets are of a gateway that has ended; readers shall learn that nobody shows them. */
function withoutSecrets(line: string): string {
  return line.replaceAll(/sk-tg-[\w-]{43}/g, "sk-tg-…").replace(/^( {2}password) .*/, "$1 …");
}

function isOfNotice(line: string): boolean {
  return /^ {2}(?:key|console|sign in|password) /.test(line);
}

function isOfReceipt(line: string): boolean {
  return OF_RECEIPT.includes(line.split(" ", 1)[0] ?? "");
}
