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
import type { CellKind, Fault, Mode, Places, Scene } from "./fault.ts";
import { secrets } from "./speak.ts";

/** One scene as it is played once: on a surface, in a mode, with or without another route. */
export interface Cell<Played extends Scene = Fault> extends CellKind {
  readonly scene: Played;
  readonly routes: 1 | 2;
  /** What its model and its first upstream are called: no other cell has anything to do with them. */
  readonly id: string;
  /** The second route's upstream. */
  readonly reserve: string;
}

/** One gateway for all scenes, with a model and upstreams for each cell. */
export interface World {
  readonly gateway: TestGateway;
  /** Connections that nobody answers, still open. */
  readonly muteSockets: () => number;
  stop(): Promise<void>;
}

export function cellsOf<Played extends Scene>(scene: Played): Cell<Played>[] {
  const { modes = ["whole", "stream"], surfaces = ["chat", "messages"] } = scene;
  return SURFACES.filter(({ name }) => surfaces.includes(name)).flatMap((surface) =>
    modes.flatMap((mode) => ([1, 2] as const).map((routes) => cellOf(scene, { surface, mode, routes }))),
  );
}

function cellOf<Played extends Scene>(
  scene: Played,
  { surface, mode, routes }: { surface: Surface; mode: Mode; routes: 1 | 2 },
): Cell<Played> {
  const id = `${scene.name.replaceAll(" ", "-")}.${surface.name}.${mode}.${routes}`;
  const reserve = scene.sharesTimeouts ? `${id}.reserve` : `scripted-${protocolOf(surface)}`;
  return { scene, surface, mode, routes, id, reserve };
}

/** The second route costs ten times as much. */
const DEAR = { ...TEST_PRICE, input: parsePrice("10.00"), output: parsePrice("20.00") };

export async function startWorld(scenes: readonly Scene[]): Promise<World> {
  const mute = await startMuteServer();
  const cells = scenes.flatMap((scene) => cellsOf(scene));
  const places = {
    refused: "http://127.0.0.1:1",
    nowhere: `http://${secrets.next("host")}.invalid`,
    mute: `https://127.0.0.1:${mute.port}`,
  };
  const gateway = await startTestGateway({
    models: [
      ...SURFACES.map((surface) => scriptedModel(surface.model, protocolOf(surface))),
      ...cells.map(modelOf),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      ...cells.flatMap((cell) => upstreamsOf(cell, places, scripted.url)),
    ],
  });
  for (const cell of cells) gateway.upstream.on(cell.id, ...cell.scene.scripts);
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

function modelOf({ id, surface, routes, reserve }: Cell<Scene>) {
  const second = scriptedRoute(reserve, `${id}.second`, { priority: 2, price: DEAR });
  const first = scriptedRoute(id, id);
  return scriptedModel(id, protocolOf(surface), { routes: routes === 1 ? [first] : [first, second] });
}

const PATIENCE = { connectMs: 10_000, firstOutputMs: 20_000, idleMs: 20_000, totalMs: 30_000 };

function upstreamsOf({ id, surface, scene, reserve }: Cell<Scene>, places: Places, scriptedUrl: string) {
  const protocol = protocolOf(surface);
  const path = `/${secrets.next("path")}${protocol === "openai" ? "/v1" : ""}`;
  const shared = {
    baseUrl: scriptedUrl + path,
    apiKey: secrets.next("api-key"),
    timeouts: { ...PATIENCE, ...scene.timeouts },
  };
  const at = scene.at ? { baseUrl: scene.at(places) + path } : {};
  const first = scriptedUpstream(id, protocol, { ...shared, ...at });
  return scene.sharesTimeouts ? [first, scriptedUpstream(reserve, protocol, shared)] : [first];
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
