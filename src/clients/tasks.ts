import type { Snippet } from "./client.ts";
import { KEY_VARIABLE, quoteForShell } from "./shell.ts";

/** A model that answers no chats, and the API that calls it. */
interface TaskFacts {
  /** Where clients reach the gateway, without a path. */
  readonly url: string;
  readonly model: string;
  readonly surface: string;
}

interface Task {
  readonly title: string;
  readonly path: string;
  /** Members of the body beside the model. */
  readonly body: object;
  /** The body is a form with this file. */
  readonly file?: string;
  /** Where the answer goes that is no text. */
  readonly output?: string;
}

const TASKS: Readonly<Record<string, Task>> = {
  embeddings: { title: "Embeddings", path: "/v1/embeddings", body: { input: "Hello, Tollgate!" } },
  rerank: {
    title: "Rerank",
    path: "/v1/rerank",
    body: { query: "Who holds the money?", documents: ["A gateway routes.", "A ledger holds the money."] },
  },
  moderations: { title: "Moderations", path: "/v1/moderations", body: { input: "Hello, Tollgate!" } },
  images: { title: "Images", path: "/v1/images/generations", body: { prompt: "A toll gate at dawn" } },
  speech: {
    title: "Speech",
    path: "/v1/audio/speech",
    body: { input: "Hello, Tollgate!", voice: "alloy" },
    output: "hello.mp3",
  },
  transcriptions: {
    title: "Transcriptions",
    path: "/v1/audio/transcriptions",
    body: {},
    file: "hello.mp3",
  },
  translations: { title: "Translations", path: "/v1/audio/translations", body: {}, file: "hello.mp3" },
};

/** Prints the line that calls a model which answers no chats; `undefined` for an API without one. */
export function printTaskSnippet({ url, model, surface }: TaskFacts): Snippet | undefined {
  const task = TASKS[surface];
  if (!task) return undefined;
  const { title, path, body, file, output } = task;
  const sent = file
    ? [`-F ${quoteForShell(`model=${model}`)}`, `-F file=@${file}`]
    : [`-H "content-type: application/json"`, `-d ${quoteForShell(JSON.stringify({ model, ...body }))}`];
  const lines = [
    `curl ${url}${path}`,
    `-H "authorization: Bearer $${KEY_VARIABLE}"`,
    ...sent,
    ...(output ? [`-o ${output}`] : []),
  ];
  return { id: surface, title, note: "In a shell.", code: lines.join(" \\\n  ") };
}
