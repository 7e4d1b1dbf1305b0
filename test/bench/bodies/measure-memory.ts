import { peakMbOf, residentMb } from "../process-stats.ts";
import { type BenchGateway, type ExtraConfig, startGateway } from "../start-gateway.ts";
import { MODELS } from "./costly-bodies.ts";

/** Memory of bodies in flight, in MB of resident memory. */
export interface MemoryResult {
  readonly name: string;
  readonly inFlightMb: number;
  readonly beforeMb: number;
  /** While the upstream waits. */
  readonly heldMb: number;
  readonly peakMb: number;
  readonly statuses: string;
}

const MB = 1024 * 1024;
/**
 * Total size of the bodies in flight, once as the largest bodies and once as the largest that the main thread
 * parses.
 */
const IN_FLIGHT_BYTES = 125 * MB;
const BODY_BYTES = [28 * MB, 125 * 1024];
/** How long the upstream waits when a body contains the mark. */
export const THINKING_MS = 8_000;
export const THINK = "think-before-you-answer";

const TEXTS = { "plain text": "hello world ", "text that is not Latin": "žluť 你 " } as const;

/** Measures the memory of bodies whose upstream waits, each time in a new gateway. */
export async function measureMemory(
  upstreamUrl: string,
  offer: ExtraConfig,
): Promise<readonly MemoryResult[]> {
  const results: MemoryResult[] = [];
  for (const bytes of BODY_BYTES) {
    const count = Math.floor(IN_FLIGHT_BYTES / bytes);
    for (const model of [MODELS.openai, MODELS.anthropic]) {
      for (const [text, words] of Object.entries(TEXTS)) {
        const gateway = await startGateway(upstreamUrl, {}, offer);
        const content = THINK + words.repeat(bytes / Buffer.byteLength(words));
        const body = JSON.stringify({ model, max_tokens: 16, messages: [{ role: "user", content }] });
        const measured = await measure(gateway, body, count).finally(() => gateway.remove());
        results.push({ name: `${count} of ${Math.round(bytes / 1024)} KB, ${text}, ${model}`, ...measured });
      }
    }
  }
  return results;
}

async function measure(gateway: BenchGateway, text: string, count: number) {
  const body = Buffer.from(text);
  const beforeMb = await residentMb(gateway.pid);
  const answers = Array.from({ length: count }, () => post(gateway, body));
  await Promise.race([Bun.sleep(THINKING_MS - 500), Promise.all(answers)]);
  const heldMb = await residentMb(gateway.pid);
  const statuses = countsOf(await Promise.all(answers));
  const inFlightMb = (count * body.byteLength) / MB;
  return { inFlightMb, beforeMb, heldMb, peakMb: await peakMbOf(gateway.pid), statuses };
}

async function post({ url, secret }: BenchGateway, body: Buffer<ArrayBuffer>): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Counts each status, such as "48x200 2x429". */
export function countsOf(statuses: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count}x${status}`).join(" ");
}
