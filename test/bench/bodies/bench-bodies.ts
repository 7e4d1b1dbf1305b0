import { parseArgs } from "node:util";
import type { Surface } from "../../../src/domain/model.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import { peakMbOf } from "../process-stats.ts";
import { startChild, startJobProcess } from "../processes.ts";
import { type BenchGateway, modelEntry, type Offer, startGateway, upstreamEntry } from "../start-gateway.ts";
import { NASTY_ANSWERS } from "./costly-answers.ts";
import { MODELS, type NastyBody, nastyBodies } from "./costly-bodies.ts";
import { countsOf, measureMemory } from "./measure-memory.ts";
import type { ProbeJob, Stretch } from "./probe-process.ts";
import { type BodyResult, printEnd, printHead, printMemory, printResult, type Stall } from "./report.ts";

const REST_MS = 150;
const CONTROL_MS = 3_000;

interface Stage {
  readonly gateway: BenchGateway;
  /** The longest stall of `GET /healthz` while something is done. */
  stallDuring(act: () => Promise<readonly number[]>): Promise<Stall>;
}

/**
 * `bun run bench bodies [--only TEXT] [--memory] [--json]`: nasty bodies and answers, each alone and many together,
 * before a real gateway, and how long a second client's `GET /healthz` had to wait meanwhile; with `--memory`, what
 * bodies take while their upstream thinks.
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
    const results = await measureMemory(upstream.url, offerOf(upstream.url)).finally(upstream.stop);
    console.log(values.json ? JSON.stringify(results) : printMemory(results));
    return;
  }
  const gateway = await startGateway(upstream.url, {}, offerOf(upstream.url));
  const probe = startJobProcess<ProbeJob>("bodies/probe-process.ts");
  const nextStretch = async () => (await probe.perform({ url: gateway.url, pid: gateway.pid })) as Stretch;
  const stallDuring: Stage["stallDuring"] = async (act) => {
    await Bun.sleep(REST_MS);
    await nextStretch();
    const statuses = await act();
    await Bun.sleep(REST_MS);
    return { ...(await nextStretch()), statuses: countsOf(statuses) };
  };
  try {
    const stage = { gateway, stallDuring };
    const control = await stallDuring(async () => {
      await Bun.sleep(CONTROL_MS);
      return [];
    });
    const isWanted = ({ name, surface, model }: Pick<NastyBody, "name" | "surface" | "model">) =>
      `${name} ${surface} ${model}`.includes(values.only);
    if (!values.json) console.log(printHead(control));
    const results: BodyResult[] = [];
    for (const body of [...nastyBodies(), ...answerBodies()].filter(isWanted)) {
      const result = await measure(stage, body);
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

async function measure({ gateway, stallDuring }: Stage, body: NastyBody): Promise<BodyResult> {
  const bytes = Buffer.from(body.text());
  const send = () => post(gateway, body.surface, bytes);
  return {
    name: body.name,
    way: `${body.surface} ${body.model}`,
    alone: await stallDuring(async () => [await send()]),
    together: await stallDuring(() => Promise.all(Array.from({ length: body.together }, send))),
    count: body.together,
  };
}

/** The status; 0 for a connection that was reset. */
async function post({ url, secret }: BenchGateway, surface: Surface, body: Buffer): Promise<number> {
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

/** What a lying upstream answers, to clients of its own format and of another. */
function answerBodies(): readonly NastyBody[] {
  return NASTY_ANSWERS.flatMap((model) =>
    (["chat", "messages"] as const).map((surface): NastyBody => {
      const body = { model, max_tokens: 16, stream: !model.endsWith("-whole"), messages: [MESSAGE] };
      return { name: `answer: ${model}`, surface, model, together: 10, text: () => JSON.stringify(body) };
    }),
  );
}

const MESSAGE = { role: "user", content: "hi" };

function offerOf(url: string): Offer {
  const models = [
    [MODELS.openai, "bench"],
    [MODELS.anthropic, "anthropic"],
    [MODELS.responses, "responses"],
    ...NASTY_ANSWERS.map((name) => [name, "bench"]),
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
