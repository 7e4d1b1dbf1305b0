import { WIRES } from "../../../src/wire/registry.ts";
import { printRequest, type Target } from "../connection.ts";
import { exchange } from "../loops.ts";
import { createTally, type Tally } from "../measurements.ts";
import { faultOf } from "../translate/answers.ts";
import { type AgentRequest, encodeAgentRequest, SESSION, sessionText } from "./conversation.ts";

/** A closed loop in which every connection plays turns of a conversation, again and again. */
export interface AgentPlay extends Omit<AgentRequest, "turn"> {
  /** Its path is that of the format. */
  readonly target: Target;
  readonly connections: number;
  readonly ms: number;
  readonly turns: readonly number[];
  /** Whether each playing of the turns is a conversation of its own. Default: one for each connection. */
  readonly renews: boolean;
}

export interface AgentPlayResult extends Tally {
  readonly perSecond: number;
  /** Latencies in ms of each of the turns. */
  readonly latenciesMs: readonly (readonly number[])[];
}

/** The requests of one connection, and the next one's index. */
interface Player {
  readonly requests: readonly SessionRequest[];
  at: number;
}

/** A request whose bytes are rewritten for each conversation. */
interface SessionRequest {
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

/** Never repeated in a process, so that no conversation continues that of an earlier round. */
let sessions = 0;

export async function playAgents(play: AgentPlay): Promise<AgentPlayResult> {
  const { target, format, stream, connections, ms, turns, renews } = play;
  const path = target.path ?? WIRES[format].path;
  const requests = turns.map((turn) =>
    findSessions(printRequest({ ...target, path }, encodeAgentRequest({ ...play, turn }))),
  );
  const players = Array.from({ length: connections }, (_, at) => startPlayer(requests, at / connections));
  const latenciesMs = turns.map((): number[] => []);

  const result = await exchange({
    connections,
    ms,
    tally: createTally((body) => faultOf(body, { format, stream })),
    urlOf: () => target.url,
    nextRequest(connection) {
      const player = players[connection];
      return player && nextOf(player, renews);
    },
    onInTime(latencyMs, connection) {
      const { at = 0 } = players[connection] ?? {};
      latenciesMs[(at + turns.length - 1) % turns.length]?.push(latencyMs);
    },
  });
  return { ...result, latenciesMs };
}

function findSessions(request: Uint8Array): SessionRequest {
  const bytes = Buffer.from(request);
  const places: number[] = [];
  for (let at = bytes.indexOf(SESSION); at >= 0; at = bytes.indexOf(SESSION, at + 1)) places.push(at);
  return { bytes, places };
}

/** Copies the requests, since a connection may still be writing one while another rewrites it. */
function startPlayer(requests: readonly SessionRequest[], share: number): Player {
  const own = requests.map(({ bytes, places }) => ({ bytes: Buffer.from(bytes), places }));
  // Players begin at different turns, so that every moment has turns of all sizes.
  return { requests: begin(own), at: Math.floor(share * requests.length) };
}

function nextOf(player: Player, renews: boolean): Uint8Array | undefined {
  if (renews && player.at === 0) begin(player.requests);
  const request = player.requests[player.at]?.bytes;
  player.at = (player.at + 1) % player.requests.length;
  return request;
}

function begin(requests: readonly SessionRequest[]): readonly SessionRequest[] {
  const text = sessionText(sessions++);
  for (const { bytes, places } of requests) for (const at of places) bytes.write(text, at);
  return requests;
}
