/** What the settings of a client are made for. */
export interface ClientFacts {
  /** Where clients reach the gateway, without a path. */
  readonly url: string;
  /** Models that answer chats. Settings that name one model name the first. */
  readonly models: readonly [ClientModel, ...ClientModel[]];
  /** The secret of the key. Known only right after its creation. */
  readonly secret?: string | undefined;
}

export interface ClientModel {
  readonly id: string;
  /** Tokens of input and output together. */
  readonly contextWindow: number;
  readonly outputTokensMax: number;
}

/** A client of the gateway: an agent, an editor, a library or a program. */
export interface Client {
  /** Name on the command line. */
  readonly id: string;
  readonly title: string;
  /** Where the settings go. */
  readonly note: string;
  print(facts: ClientFacts): string;
}

/** The settings of one client, ready to be copied. */
export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly code: string;
}
