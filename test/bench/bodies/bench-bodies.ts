import { parseArgs } from "node:util";
import type { ClientSurface } from "../../../src/domain/model.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import { peakMbOf } from "../process-stats.ts";
import { startChild, startJobProcess } from "../processes.ts";
import {
  type BenchGateway,
  type ExtraConfig,
  modelEntry,
  startGateway,
  upstreamEntry,
} from "../start-gateway.ts";
import { COSTLY_ANSWERS } from "./costly-answers.ts";
import { type CostlyBody, costlyBodies, MODELS } from "./costly-bodies.ts";
import { countsOf, measureMemory } from "./measure-memory.ts";
import type { ProbeJob, Stretch } from "./probe-process.ts";
import { type BodyResult, printEnd, printHead, printMemory, printResult, type Stall } from "./report.ts";

const REST_MS = 150;
const CONTROL_MS = 3_000;

interface BenchEnv {
  readonly gateway: BenchGateway;
  /** The longest stall of `GET /healthz` while `act` runs. */
  stallDuring(act: () => Promise<readonly number[]>): Promise<Stall>;
}

/**
 * `bun run bench bodies [--only TEXT] [--memory] [--json]`: sends costly bodies and answers through a real
 * gateway, alone and many together. Measures how long `GET /healthz` of a second client waits. With `--memory`, measures the memory of bodies in flight instead.
 */
export async function benchBodies(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      json: { type: "boolean" },
      memory: { type: "boolean" },
    },
  });
  const upstream = await startChild("bodies/upstream-process.ts");
  if (values.memory) {
    const results = await measureMemory(upstream.url, extraConfigOf(upstream.url)).finally(upstream.stop);
    console.log(values.json ? JSON.stringify(results) : printMemory(results));
    return;
  }
  const gateway = await startGateway(upstream.url, {}, extraConfigOf(upstream.url));
  const probe = startJobProcess<ProbeJob>("bodies/probe-process.ts");
  const nextStretch = async () => (await probe.perform({ url: gateway.url, pid: gateway.pid })) as Stretch;
  const stallDuring: BenchEnv["stallDuring"] = async (act) => {
    await Bun.sleep(REST_MS);
    await nextStretch();
    const statuses = await act();
    await Bun.sleep(REST_MS);
    return { ...(await nextStretch()), statuses: countsOf(statuses) };
  };
  try {
    const env = { gateway, stallDuring };
    const control = await stallDuring(async () => {
      await Bun.sleep(CONTROL_MS);
      return [];
    });
    const isWanted = ({ name, surface, model }: Pick<CostlyBody, "name" | "surface" | "model">) =>
      `${name} ${surface} ${model}`.includes(values.only);
    if (!values.json) console.log(printHead(control));
    const results: BodyResult[] = [];
    for (const body of [...costlyBodies(), ...answerBodies()].filter(isWanted)) {
      const result = await measure(env, body);
      results.push(result);
      if (!values.json) console.log(printResult(result));
    }
    const peakMb = await peakMbOf(gateway.pid);
    console.log(values.json ? JSON.stringify({ control, results, peakMb }) : printEnd(results, peakMb));
  } finally {
    await probe.stop();
    await gateway.stop();
    await gateway.remove();
    await upstream.stop();
  }
}

async function measure({ gateway, stallDuring }: BenchEnv, body: CostlyBody): Promise<BodyResult> {
  const bytes = Buffer.from(body.text());
  const send = () => postBody(gateway, body.surface, bytes);
  return {
    name: body.name,
    way: `${body.surface} ${body.model}`,
    alone: await stallDuring(async () => [await send()]),
    together: await stallDuring(() => Promise.all(Array.from({ length: body.together }, send))),
    count: body.together,
  };
}

/** Returns the status; 0 when the connection was reset. */
export async function postBody(
  { url, secret }: BenchGateway,
  surface: ClientSurface,
  body: Buffer,
): Promise<number> {
  try {
    const answer = await fetch(url + WIRES[surface].path, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: new Uint8Array(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Requests whose upstream sends a costly answer, from clients of both formats. */
function answerBodies(): readonly CostlyBody[] {
  return COSTLY_ANSWERS.flatMap((model) =>
    (["chat", "messages"] as const).map((surface): CostlyBody => {
      const body = { model, max_tokens: 16, stream: !model.endsWith("-whole"), messages: [MESSAGE] };
      return { name: `answer: ${model}`, surface, model, together: 10, text: () => JSON.stringify(body) };
    }),
  );
}

const MESSAGE = { role: "user", content: "hi" };

/** The configuration of a gateway whose upstream is `bodies/upstream-process.ts` at this address. */
export function extraConfigOf(url: string): ExtraConfig {
  const models = [
    [MODELS.openai, "bench"],
    [MODELS.anthropic, "anthropic"],
    [MODELS.responses, "responses"],
    ...COSTLY_ANSWERS.map((name) => [name, "bench"]),
  ] as const;
  return {
    upstreams: {
      anthropic: { protocol: "anthropic", base_url: url, api_key: "bench" },
      responses: { ...upstreamEntry(url), responses: true },
    },
    models: Object.fromEntries(
      models.map(([name, upstream]) => [name, modelEntry([{ upstream, model: name }])]),
    ),
  };
}
