import { createServer, type Socket } from "node:net";
import { parsePrice } from "../../../src/domain/money.ts";
import { SURFACES, type Surface } from "../../support/client.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";
import type { CaseKind, Fault, Mode, Places, Scenario } from "./fault.ts";
import { secrets } from "./fault-scripts.ts";

/** One run of a scenario: on a surface, whole or streamed, with one route or two. */
export interface FaultCase<Played extends Scenario = Fault> extends CaseKind {
  readonly scenario: Played;
  readonly routes: 1 | 2;
  /** The name of its model and of its first upstream, which no other case uses. */
  readonly id: string;
  /** The upstream of the second route. */
  readonly secondUpstream: string;
}

/** A gateway with a model and upstreams for each case. */
export interface FaultEnv {
  readonly gateway: TestGateway;
  /** Number of open connections to the server that never answers. */
  readonly muteSockets: () => number;
  stop(): Promise<void>;
}

export function casesOf<Played extends Scenario>(scenario: Played): FaultCase<Played>[] {
  const { modes = ["whole", "stream"], surfaces = ["chat", "messages"] } = scenario;
  return SURFACES.filter(({ name }) => surfaces.includes(name)).flatMap((surface) =>
    modes.flatMap((mode) => ([1, 2] as const).map((routes) => caseOf(scenario, { surface, mode, routes }))),
  );
}

function caseOf<Played extends Scenario>(
  scenario: Played,
  { surface, mode, routes }: { surface: Surface; mode: Mode; routes: 1 | 2 },
): FaultCase<Played> {
  const id = `${scenario.name.replaceAll(" ", "-")}.${surface.name}.${mode}.${routes}`;
  const secondUpstream = scenario.sharesTimeouts ? `${id}.reserve` : `scripted-${protocolOf(surface)}`;
  return { scenario, surface, mode, routes, id, secondUpstream };
}

/** The second route costs ten times as much. */
const DEAR = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };

export async function startFaultEnv(scenarios: readonly Scenario[]): Promise<FaultEnv> {
  const mute = await startMuteServer();
  const faultCases = scenarios.flatMap((scenario) => casesOf(scenario));
  const places = {
    refused: "http://127.0.0.1:1",
    nowhere: `http://${secrets.next("host")}.invalid`,
    mute: `https://127.0.0.1:${mute.port}`,
  };
  const gateway = await startTestGateway({
    models: [
      ...SURFACES.map((surface) => scriptedModel(surface.model, protocolOf(surface))),
      ...faultCases.map(modelOf),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      ...faultCases.flatMap((faultCase) => upstreamsOf(faultCase, places, scripted.url)),
    ],
  });
  for (const faultCase of faultCases) gateway.upstream.on(faultCase.id, ...faultCase.scenario.scripts);
  return {
    gateway,
    muteSockets: () => mute.sockets.size,
    async stop() {
      await gateway.stop();
      mute.stop();
    },
  };
}

function protocolOf({ name }: Surface) {
  return name === "chat" ? "openai" : "anthropic";
}

function modelOf({ id, surface, routes, secondUpstream }: FaultCase<Scenario>) {
  const second = scriptedRoute(secondUpstream, `${id}.second`, { priority: 2, price: DEAR });
  const first = scriptedRoute(id, id);
  return scriptedModel(id, protocolOf(surface), { routes: routes === 1 ? [first] : [first, second] });
}

const PATIENCE = { connectMs: 10_000, firstOutputMs: 20_000, idleMs: 20_000, totalMs: 30_000 };

function upstreamsOf(
  { id, surface, scenario, secondUpstream }: FaultCase<Scenario>,
  places: Places,
  scriptedUrl: string,
) {
  const protocol = protocolOf(surface);
  const path = `/${secrets.next("path")}${protocol === "openai" ? "/v1" : ""}`;
  const shared = {
    baseUrl: scriptedUrl + path,
    apiKey: secrets.next("api-key"),
    timeouts: { ...PATIENCE, ...scenario.timeouts },
  };
  const at = scenario.at ? { baseUrl: scenario.at(places) + path } : {};
  const first = scriptedUpstream(id, protocol, { ...shared, ...at });
  return scenario.sharesTimeouts ? [first, scriptedUpstream(secondUpstream, protocol, shared)] : [first];
}

async function startMuteServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await listening;
  const address = server.address();
  return {
    sockets,
    port: typeof address === "object" && address ? address.port : 0,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
