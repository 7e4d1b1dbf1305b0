import type { ClientModel } from "../clients/client.ts";
import { CommandError } from "./command.ts";

const ANSWER_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Ids end in settings that people paste into a shell. */
const MODEL_ID = /^[^\p{C}\p{Z}]{1,256}$/u;

/** Returns the models that answer chats, as a running gateway lists them for a key. */
export async function readServedModels(origin: string, key: string): Promise<readonly ClientModel[]> {
  const url = `${origin}/v1/models`;
  const answer = await ask(url, key);
  if (answer.status === 401) throw new CommandError(`The gateway at ${origin} does not know the key.`);
  const { data } = Object(parse(answer.text));
  if (answer.status !== 200 || !Array.isArray(data)) {
    throw new CommandError(`${url} answers ${answer.status} and lists no models.`);
  }
  return data.flatMap(readModel);
}

async function ask(url: string, key: string): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${key}` },
      // The secret is for this gateway alone, and a proxy of the environment is for upstreams.
      redirect: "manual",
      proxy: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { status: response.status, text: await readBounded(response) };
  } catch {
    throw new CommandError(`No gateway answers at ${url}.`);
  }
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new RangeError("The answer is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads one entry of the list. Embeddings and the like have no output tokens. */
function readModel(entry: unknown): readonly ClientModel[] {
  const { id, context_window: contextWindow, max_tokens: outputTokensMax } = Object(entry);
  if (typeof id !== "string" || !MODEL_ID.test(id)) return [];
  if (!Number.isSafeInteger(contextWindow) || !Number.isSafeInteger(outputTokensMax)) return [];
  return outputTokensMax > 0 ? [{ id, contextWindow, outputTokensMax }] : [];
}
