// bun delivery-child.ts LOCATION RULE_ID SMTP_URL   orders one mail and one webhook, delivers both when there is
// an SMTP_URL, and runs until it is killed. LOCATION is JSON.
import { connectDatabase } from "../../../src/db/database.ts";
import { startMailWorker } from "../../../src/delivery/mail/mail-worker.ts";
import { createMails } from "../../../src/delivery/mail/mails.ts";
import { createSmtpTransport } from "../../../src/delivery/mail/transport.ts";
import { startWebhookWorker } from "../../../src/delivery/webhook-worker.ts";
import { raiseTest } from "../../../src/notices/episodes.ts";
import { readRule } from "../../../src/notices/rule.ts";
import { createCapturedLog } from "../../support/captured-log.ts";

const [location = "", ruleId, smtpUrl] = Bun.argv.slice(2);
const database = await connectDatabase(JSON.parse(location));
const rules = await database.db.select().from(database.tables.noticeRules);
const rule = rules.map(readRule).find(({ id }) => id === ruleId);
if (!rule) throw new Error("There is no such rule");
const log = createCapturedLog();
if (smtpUrl) {
  const send = createSmtpTransport({ url: smtpUrl, from: "noreply@tollgate.example" });
  const mint = async () => ({ link: "https://t.example/" });
  startMailWorker({ database, send, mint, publicUrl: () => "https://t.example", log, pollMs: 10 });
  startWebhookWorker({ database, log, allowsLoopback: true, pollMs: 10 });
}
await raiseTest({ database, mails: createMails(database), now: Date.now }, rule);
process.stdout.write("ordered\n");
setInterval(() => undefined, 60_000);
