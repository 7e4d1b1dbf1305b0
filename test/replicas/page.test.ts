import { expect, test } from "bun:test";
import { readPage } from "../docs/pages.ts";

test("docs/replicas.md shows the configuration of HAProxy that the project ships", async () => {
  const shipped = await Bun.file(`${import.meta.dir}/../../deploy/haproxy/haproxy.cfg`).text();
  const { text } = readPage("docs/replicas.md").snippet("backend gateways");
  expect(text).toBe(shipped);
});
