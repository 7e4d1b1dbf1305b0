import type { Errand } from "../task.ts";

/** A program of somebody else's that works with a model until it has done what it was asked. */
export interface Agent {
  /** As the command line calls it. */
  readonly name: string;
  readonly pack: Package;
  /** What it asks the gateway by; the same words as in `Upstreams`. */
  readonly surface: "chat" | "messages" | "responses";
  /** The model that it names, and the one that it names for small things. */
  readonly models: readonly [main: string, small: string];
  /** What the scripted model makes it do. */
  readonly tool: ToolUse;
  /** How it is started in an empty folder. */
  start(place: Place, errand: Errand): Command;
}

/** The npm package that an agent comes in. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Where its program may be below node_modules, for whatever platform. */
  readonly programs: readonly string[];
}

export interface ToolUse {
  /** Of a tool that the agent offers. */
  readonly name: string;
  /** What the model calls it with: a text where the tool takes any text, else what is printed as JSON. */
  input(errand: Errand): string | Readonly<Record<string, unknown>>;
  /** What must be in what the tool gave back. */
  result(errand: Errand): string;
}

/** Where one run of an agent takes place. */
interface Place {
  /** Empty: the agent's home, and all that it may write beside its work. */
  readonly home: string;
  /** Without a path. */
  readonly gatewayUrl: string;
  readonly key: string;
}

interface Command {
  readonly args: readonly string[];
  /** Beside what every agent gets. */
  readonly environment: Readonly<Record<string, string>>;
}
