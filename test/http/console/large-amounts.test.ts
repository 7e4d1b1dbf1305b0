import { expect, test } from "bun:test";
import { CHAT, post } from "../../support/client.ts";
import { openForTests } from "../../support/open-for-tests.ts";
import { openTestConsole } from "../../support/test-console.ts";

const console = openForTests(
  () => openTestConsole(),
  (opened) => opened.stop(),
);

/** Around 2^53 nano-USD, above which a number of JavaScript is not exact, and the most that an amount may be. */
const AMOUNTS = ["9007199.254740991", "9007199.254740992", "1000000000", "4000000000"];

test.each(AMOUNTS)("a run may have a limit of %s USD", async (usd) => {
  const { gateway } = console;
  const headers = { "x-tollgate-run": `run-${usd}; max=${usd}` };
  for (let count = 0; count < 2; count += 1) {
    const answered = await post(gateway, CHAT, { headers });
    expect([answered.status, await answered.text()]).toEqual([200, expect.any(String)]);
  }
});

test.each(AMOUNTS)(
  "a notice and a redeem code of %s USD are kept as exactly as they were given",
  async (usd) => {
    const { id } = await console.newAccount();
    const owner = await console.newMember(id, "owner");
    const rule = { kind: "balance_below", threshold: usd, emails: [], webhook_url: "https://example.com/h" };
    const ruled = await console.call(owner, "POST", `/accounts/${id}/notice-rules`, rule);
    expect([ruled.text, ruled.status]).toEqual([expect.any(String), 200]);
    const rules = await console.call(owner, "GET", `/accounts/${id}/notice-rules`);
    const printed = usd.includes(".") ? usd : `${usd}.00`;
    expect([rules.text, rules.status]).toEqual([expect.stringContaining(`"threshold":"${printed}"`), 200]);
    const operator = console.newOperator();
    const coded = await console.call(operator, "POST", "/operator/codes", { amount_usd: usd, count: 1 });
    expect([coded.text, coded.status]).toEqual([expect.any(String), 200]);
    const codes = await console.call(operator, "GET", "/operator/codes");
    expect([codes.text, codes.status]).toEqual([expect.stringContaining(`"amount_usd":"${printed}"`), 200]);
  },
);
