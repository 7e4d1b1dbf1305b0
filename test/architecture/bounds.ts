/** The most files and lines of each room of folders. A raise says why, in its commit. */
export const BOUNDS: Readonly<Record<string, { readonly files: number; readonly lines: number }>> = {
  cli: { files: 64, lines: 7150 },
  app: { files: 22, lines: 2560 },
  setup: { files: 6, lines: 950 },
  config: { files: 41, lines: 5060 },
  http: { files: 29, lines: 3930 },
  "http/console": { files: 75, lines: 10450 },
  backup: { files: 5, lines: 830 },
  usage: { files: 17, lines: 2480 },
  payments: { files: 40, lines: 4780 },
  plans: { files: 17, lines: 2180 },
  gateway: { files: 34, lines: 5440 },
  figures: { files: 7, lines: 650 },
  notices: { files: 12, lines: 1810 },
  exports: { files: 6, lines: 780 },
  delivery: { files: 7, lines: 990 },
  accounts: { files: 71, lines: 9710 },
  "ledger-grpc": { files: 29, lines: 4350 },
  "settlement-outbox": { files: 5, lines: 1120 },
  ledger: { files: 107, lines: 16230 },
  recordings: { files: 10, lines: 1280 },
  refusals: { files: 4, lines: 800 },
  limiter: { files: 16, lines: 2420 },
  bodies: { files: 21, lines: 2550 },
  demo: { files: 3, lines: 450 },
  upstream: { files: 25, lines: 2870 },
  wire: { files: 133, lines: 17820 },
  tokens: { files: 6, lines: 510 },
  workers: { files: 3, lines: 180 },
  catalog: { files: 16, lines: 1940 },
  db: { files: 32, lines: 3490 },
  telemetry: { files: 17, lines: 2280 },
  console: { files: 228, lines: 26010 },
  clients: { files: 7, lines: 570 },
  domain: { files: 36, lines: 2440 },
};

/** The most files of src that take part in one plain chat request. */
export const PLAIN_CHAT_FILES_MAX = 111;

/** Lines of a file that need no reason. */
export const LINES_OF_A_FILE_MAX = 250;

/** Longer files, each with the reason for which it stays whole. */
export const LONG_FILES: Readonly<Record<string, string>> = {
  "accounts/people/sign-in.ts": "the one door to better-auth: every call of it, and how its answers are read",
  "catalog/update/read-list.ts": "one pass over a foreign list, whose rules depend on each other",
  "cli/import/litellm-config.ts": "one conversion: deployments become models, upstreams and aliases together",
  "config/config.ts": "what a configuration is, and how it is loaded and read again",
  "config/known.ts": "one pass that fills in what the catalog knows",
  "domain/model.ts": "a model, its routes and its prices, which the whole gateway imports together",
  "errors.ts": "the one table of errors",
  "gateway/relay.ts": "one answer on its way to the client, whole or streamed",
  "gateway/request.ts": "every type of one request, in the order in which the story makes them",
  "http/v1-routes.ts": "the one table of the routes of /v1, as their description shows it",
  "ledger-grpc/server/handlers.ts": "every call of the service, and how each is answered",
  "ledger/audit/audit.ts": "one audit: its snapshot, its ranges and its findings",
  "ledger/core/book.ts": "the rows of a wallet's book and their changes, which every rule imports together",
  "ledger/exports/page.ts": "one page of an export, from three cursors",
  "ledger/ledger.ts":
    "the commands of the ledger with their results and errors, which callers import together",
  "ledger/postgres/write-statements.ts":
    "every statement that writes a batch, with the row types that it takes",
  "ledger/queries/rows.ts": "every row of the ledger's tables, read and written",
  "ledger/records.ts": "the types of all reads of the ledger, which callers import together",
  "ledger/sqlite/books.ts": "the books kept in memory, with the one statement list that fills them",
  "settlement-outbox/file.ts": "one file of the outbox: its lock, its rows and its damage",
  "wire/anthropic-messages/request.ts": "one reading of Anthropic's body: its bounds, its size and its edits",
  "wire/format.ts": "what a wire format is, which every format implements and every story asks",
  "wire/openai-chat/passthrough/stream.ts": "one streamed answer, whose chunks share what is known of it",
};
