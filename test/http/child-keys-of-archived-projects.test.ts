import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createProject, updateProject } from "../../src/accounts/project-changes.ts";
import { createLocation, DIALECTS } from "../accounts/temp-storage.ts";
import { CHAT, post } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

describe.each(DIALECTS)("an archived project on %s", (dialect) => {
  let books: Awaited<ReturnType<typeof createLocation>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    books = await createLocation(dialect);
    gateway = await startTestGateway({ database: books.location });
  });
  afterAll(async () => {
    await gateway.stop();
    await books.drop();
  });

  test("takes no key that a key makes, until it is restored, and its keys stay in force", async () => {
    const { database, ledger } = gateway.tollgate;
    const { accountId } = gateway;
    const parts = { database, ledger };
    const project = await createProject(parts, { accountId, name: "Search" });
    const { secret } = await gateway.newKey({ allowsChildren: true, projectId: project.id });
    const make = () =>
      fetch(`${gateway.url}/v1/key/children`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ name: "run", spending_limit_usd: "2.00" }),
      });
    const archived = await updateProject(parts, project, { isArchived: true });
    const refused = await make();
    expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: "conflict" } }]);
    expect(await ledger.spendLimits(accountId)).toEqual([]);
    expect((await post(gateway, CHAT, { secret })).status).toBe(200);
    await updateProject(parts, archived, { isArchived: false });
    expect((await make()).status).toBe(200);
  });
});
