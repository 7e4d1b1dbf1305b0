import { benchGateway } from "./bench-gateway.ts";
import { benchLedger } from "./ledger/bench-ledger.ts";

// `bun run bench [ledger] [--quick] [--json]`
const [subject, ...rest] = Bun.argv.slice(2);
if (subject === "ledger") await benchLedger(rest);
else await benchGateway(Bun.argv.slice(2));
