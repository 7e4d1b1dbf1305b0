/** The costly answers; each is also the name of a model. */
export const COSTLY_ANSWERS = ["keys-whole", "text-whole", "keys-event", "text-event", "events"] as const;
type CostlyAnswer = (typeof COSTLY_ANSWERS)[number];

const MB = 1024 * 1024;
const HEAD_BYTES = 4096;

/** Returns the costly answer that the model name of a body selects, or `undefined`. */
export function costlyAnswer(body: Buffer, format: string): Response | undefined {
  const head = body.toString("latin1", 0, HEAD_BYTES);
  const name = COSTLY_ANSWERS.find((each) => head.includes(`"${each}"`));
  return name && format === "chat" ? answer(name) : undefined;
}

const made = new Map<CostlyAnswer, string>();

function answer(name: CostlyAnswer): Response {
  const text = made.get(name) ?? TEXTS[name]();
  made.set(name, text);
  const isStream = !name.endsWith("-whole");
  const type = isStream ? "text/event-stream" : "application/json";
  return new Response(text, { headers: { "content-type": type } });
}

const TEXTS: Readonly<Record<CostlyAnswer, () => string>> = {
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
