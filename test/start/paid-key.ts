import { runTollgate } from "../cli/run-tollgate.ts";

/** Creates an account `test` with 100 USD by the command line. Returns the secret of its key. */
export async function createPaidKey(folder: string): Promise<string> {
  await runTollgate(folder, ["account", "create", "--name", "test"]);
  await runTollgate(folder, ["topup", "--account", "test", "--amount", "100", "--id", "seed"]);
  const key = await runTollgate(folder, ["key", "create", "--account", "test", "--name", "k"]);
  return /sk-tg-[\w-]{43}/.exec(key.stdout)?.[0] ?? "";
}

/** Sends one request to the model `chat` of a gateway. */
export function askChat(url: string, secret: string, stream = false): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: "chat", stream, messages: [{ role: "user", content: "Say hello." }] }),
  });
}
