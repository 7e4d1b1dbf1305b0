import { expect, test } from "bun:test";
import { connect } from "node:net";
import { until } from "../../support/until.ts";
import { answerOf } from "../cases/fuzz-answer.ts";
import { caseOf } from "../cases/fuzz-case.ts";
import type { CaseId } from "../cases/steps.ts";
import { type Lane, startFuzzUpstream } from "./fuzz-upstream.ts";

const idOf = (number: number): CaseId => ({ seed: "queue", number, without: new Set() });

/** A case whose first answer never ends. */
function hangingCase(): CaseId {
  const asked = { format: "chat", stream: false, choices: 1, call: 0 } as const;
  for (let number = 1; ; number += 1) {
    const { answer, endless } = answerOf(idOf(number), asked);
    if ("end" in answer && answer.end === "hang" && endless === undefined) return idOf(number);
  }
}

test("a call that waits behind an endless answer counts for no later case", async () => {
  const lane: Lane = { name: "LANE00", playing: caseOf(hangingCase()), calls: [] };
  const upstream = await startFuzzUpstream([lane]);
  const { port, pathname } = new URL(`${upstream.urlOf(lane)}/chat/completions`);
  const call = `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`;
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(call + call);
  await until(() => lane.calls.length === 2);
  const later: (typeof lane.calls)[number][] = [];
  Object.assign(lane, { playing: caseOf(idOf(1)), calls: later });
  socket.destroy();
  await Bun.sleep(50);
  expect(later).toEqual([]);
  await upstream.stop();
});
