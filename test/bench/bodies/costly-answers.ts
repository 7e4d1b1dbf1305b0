/** Names of what a lying upstream answers; the benchmark's models are called so. */
export const NASTY_ANSWERS = ["keys-whole", "text-whole", "keys-event", "text-event", "events"] as const;
type NastyAnswer = (typeof NASTY_ANSWERS)[number];

const MB = 1024 * 1024;
const HEAD_BYTES = 4096;

/** The answer that a body asks for by its model's name; `undefined` for a friendly one. */
export function nastyAnswer(body: Buffer, format: string): Response | undefined {
  const head = body.toString("latin1", 0, HEAD_BYTES);
  const name = NASTY_ANSWERS.find((each) => head.includes(`"${each}"`));
  return name && format === "chat" ? answer(name) : undefined;
}

const made = new Map<NastyAnswer, string>();

function answer(name: NastyAnswer): Response {
  const text = made.get(name) ?? TEXTS[name]();
  made.set(name, text);
  const isStream = !name.endsWith("-whole");
  const type = isStream ? "text/event-stream" : "application/json";
  return new Response(text, { headers: { "content-type": type } });
}

const TEXTS: Readonly<Record<NastyAnswer, () => string>> = {
  "keys-whole": () => whole(`"hello","extra":{${keys(25 * MB)}}`),
  "text-whole": () => whole(`"${'\\"'.repeat(14 * MB)}"`),
  "keys-event": () => `data: ${chunk(`"hello","extra":{${keys(10 * MB)}}`)}\n\n${END}`,
  "text-event": () => `data: ${chunk(`"${"\\n".repeat(7 * MB)}"`)}\n\n${END}`,
  events: () => `data: ${chunk('"a"')}\n\n`.repeat(60_000) + END,
};

const END = `data: ${JSON.stringify({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
})}\n\ndata: [DONE]\n\n`;

function whole(content: string): string {
  const message = `{"role":"assistant","content":${content}}`;
  return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":${message},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`;
}

function chunk(content: string): string {
  return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]}`;
}

function keys(bytes: number): string {
  return Array.from({ length: bytes / 10 }, (_, count) => `"${count.toString(36)}":1`).join(",");
}
