import { answerJobs } from "../processes.ts";
import {
  type ClientBursts,
  type ClientLoop,
  type HeldStreams,
  holdStreams,
  runClientBursts,
  runClientLoop,
} from "./client-load.ts";
import { CLIENTS, isClientName } from "./clients.ts";

/** A job of a client. */
export type ClientJob =
  | ({ readonly do: "loop" } & ClientLoop)
  | ({ readonly do: "bursts" } & ClientBursts)
  | { readonly do: "hold"; readonly count: number }
  | { readonly do: "await_ends" };

const [name = "", url = ""] = process.argv.slice(2);
if (!isClientName(name)) throw new Error(`${name} is none of the clients`);
const client = await CLIENTS[name](url);
let held: HeldStreams | undefined;

answerJobs<ClientJob>(async (job) => {
  if (job.do === "loop") return runClientLoop(client, job);
  if (job.do === "bursts") return runClientBursts(client, job);
  if (job.do === "await_ends") return held?.ended();
  held = await holdStreams(client, job.count);
  return held.begun;
});
