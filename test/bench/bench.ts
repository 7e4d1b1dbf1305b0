import { benchBodies } from "./bodies/bench-bodies.ts";
import { benchCatalog } from "./catalog/bench-catalog.ts";
import { benchGateway } from "./gateway/bench-gateway.ts";
import { benchGrowth } from "./growth/bench-growth.ts";
import { benchGuard } from "./guard/bench-guard.ts";
import { benchLedger } from "./ledger/bench-ledger.ts";
import { benchLimiter } from "./limiter/bench-limiter.ts";
import { benchPeers } from "./peers/bench-peers.ts";
import { benchRetention } from "./retention/bench-retention.ts";
import { benchTelemetry } from "./telemetry/bench-telemetry.ts";
import { benchTranslate } from "./translate/bench-translate.ts";
import { benchUpstream } from "./upstream/bench-upstream.ts";
import { benchUsage } from "./usage/bench-usage.ts";

// usage: `bun run bench [bodies|catalog|growth|guard|ledger|limiter|peers|retention|telemetry|translate|upstream|usage] [--quick] [--json]`
const [subject, ...rest] = Bun.argv.slice(2);
if (subject === "bodies") await benchBodies(rest);
else if (subject === "catalog") await benchCatalog(rest);
else if (subject === "growth") await benchGrowth(rest);
else if (subject === "guard") await benchGuard(rest);
else if (subject === "ledger") await benchLedger(rest);
else if (subject === "limiter") await benchLimiter(rest);
else if (subject === "peers") await benchPeers(rest);
else if (subject === "telemetry") await benchTelemetry(rest);
else if (subject === "retention") await benchRetention(rest);
else if (subject === "translate") await benchTranslate(rest);
else if (subject === "upstream") await benchUpstream(rest);
else if (subject === "usage") await benchUsage(rest);
else await benchGateway(Bun.argv.slice(2));
