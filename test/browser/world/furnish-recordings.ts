import { answerWith } from "../../support/scripted-answers.ts";
import { until } from "../../support/until.ts";
import type { World } from "./world.ts";

/** A key that records, and two of its requests. */
export interface RecordingFurniture {
  readonly recordingKeyId: string;
  readonly recordedId: string;
  readonly otherRecordedId: string;
}

const ANSWER = [
  "# Two plans",
  "",
  "- **Team**, for *four* people",
  "- `business`, see [prices](https://tollgate.invalid/prices)",
  "",
  "| plan | USD |",
  "|---|---|",
  "| Team | 40 |",
  "",
  "```json",
  '{ "plan": "team" }',
  "```",
].join("\n");

/** Adds a key that records, with two conversations that differ in a line. */
export async function furnishRecordings({ owner, acme, url, upstream }: World): Promise<RecordingFurniture> {
  const at = `/accounts/${acme.accountId}`;
  const { key, secret } = await owner.call("POST", `${at}/keys`, { name: "agent under test" });
  await owner.call("PUT", `${at}/keys/${key.id}/recording`, {
    ...{ version: key.version, kept_hours: 24, keeps_media: false, patterns: ["secret", "email"] },
    until: new Date(Date.now() + 3 * 86_400_000).toISOString(),
    expressions: ["customer \\d+"],
  });
  upstream.on("gpt-4.1-mini", answerWith({ text: ANSWER, usage: { input: 420, output: 64 } }));
  const send = async (question: string): Promise<string> => {
    const messages = [
      { role: "system", content: "Answer in Markdown." },
      { role: "user", content: "I am ada@example.com, customer 42." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: question },
    ];
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-4.1-mini", max_tokens: 200, messages }),
    });
    await answer.text();
    return answer.headers.get("x-request-id") ?? "";
  };
  const recordedId = await send("Which of our plans fits a team of four?");
  const otherRecordedId = await send("Which of our plans fits a team of ten?");
  await until(async () => (await owner.call("GET", `${at}/keys/${key.id}/recording`)).count === 2);
  return { recordingKeyId: key.id, recordedId, otherRecordedId };
}
