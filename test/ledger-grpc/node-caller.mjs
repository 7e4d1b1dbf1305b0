// Run by Node: a client of the ledger that shares only the proto with it. Arguments: address, token, folder
// of the protos. Prints its results as one JSON line.
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const [address, token, protoFolder] = process.argv.slice(2);
const loaded = loadSync("tollgate/ledger/v1/ledger.proto", {
  includeDirs: [protoFolder],
  longs: String,
  enums: String,
  defaults: true,
});
const { LedgerService } = grpc.loadPackageDefinition(loaded).tollgate.ledger.v1;
const client = new LedgerService(address, grpc.credentials.createInsecure());
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${token}`);

const call = (method, request) =>
  new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 10_000 };
    client[method](request, metadata, options, (error, answer) => (error ? reject(error) : resolve(answer)));
  });
const failure = (promise) =>
  promise.then(
    () => "OK",
    ({ code }) => grpc.status[code],
  );

const wallet = { walletId: "node" };
const hold = { ...wallet, holdId: uuidV7(), keyId: "k", amountNanos: "400", ttl: { seconds: 60 } };
const settlement = { ...wallet, holdId: hold.holdId, amountNanos: "150" };

await call("CreateWallet", wallet);
await call("CreateTopUp", { ...wallet, topUpId: "t1", amountNanos: "9007199254740993" });
const held = await call("CreateHold", hold);
const settled = await call("SettleHold", settlement);
const again = await call("SettleHold", settlement);
const other = await failure(call("SettleHold", { ...settlement, amountNanos: "151" }));
const receipt = await call("GetHold", hold);
const streamed = await stream(200);
console.log(
  JSON.stringify({
    runtime: typeof Bun === "undefined" ? "node" : "bun",
    granted: held.hold.grantedNanos,
    captured: settled.hold.capturedNanos,
    posted: settled.balances.postedNanos,
    replayed: again.replayed,
    other,
    state: receipt.hold.state,
    streamed,
  }),
);
client.close();

/** Tops up in this many messages, all sent before the first answer is read. */
async function stream(messages) {
  const mutations = client.StreamMutations(metadata);
  for (let sequence = 1; sequence <= messages; sequence++) {
    mutations.write({
      sequence,
      mutations: [{ createTopUp: { ...wallet, topUpId: `s${sequence}`, amountNanos: "1" } }],
    });
  }
  mutations.end();
  let done = 0;
  for await (const { results } of mutations) done += results.filter(({ status }) => !status).length;
  return done;
}

function uuidV7() {
  const time = Date.now().toString(16).padStart(12, "0");
  const tail = [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(4)}`;
}
