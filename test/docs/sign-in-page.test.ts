import { expect, test } from "bun:test";
import { join } from "node:path";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { createOperator } from "../../src/accounts/people/operators.ts";
import { createPasswords } from "../../src/accounts/people/passwords.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { loadYaml } from "../config/temp-config.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { PERSON_COMMANDS, SIGN_IN_YAML } from "./sign-in-blocks.ts";

test("the file of the page is a provider with its groups", () => {
  const { signIn } = loadYaml(SIGN_IN_YAML.text, { KEYCLOAK_CLIENT_SECRET: "one" });
  const [provider] = signIn?.providers ?? [];
  expect(provider).toMatchObject({ id: "keycloak", clientSecret: "one", groupsClaim: "groups" });
  expect(provider?.rights).toHaveLength(2);
});

test("the commands of the page list a person's ways, and end the second factor with its sessions", async () => {
  const folder = tempFolder();
  const database = await connectDatabase({ dialect: "sqlite", path: join(folder, "data", "tollgate.db") });
  const parts = { database, passwords: createPasswords() };
  const { person } = await createOperator(parts, { email: "ada@example.com" }, COMMAND_LINE);
  const row = { personId: person.id, secret: "", recoveryDigests: "[]", lastStep: 0, failures: 0 };
  await database.db
    .insert(database.tables.secondFactors)
    .values({ ...row, createdAtMs: 1, confirmedAtMs: 1 });
  await database.close();
  const [ways = [], end = []] = PERSON_COMMANDS.text
    .trim()
    .split("\n")
    .map((line) => line.split(" ").slice(2));
  const listed = await runTollgate(folder, [...ways, "--json"]);
  expect(listed.json()).toMatchObject({
    password: true,
    second_factor: { recovery_codes: 0 },
    identities: [],
  });
  expect((await runTollgate(folder, end)).exitCode).toBe(0);
  expect((await runTollgate(folder, [...ways, "--json"])).json()).toMatchObject({ second_factor: null });
  expect((await runTollgate(folder, end)).exitCode).toBe(1);
});
