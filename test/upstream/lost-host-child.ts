import { createServer } from "node:net";

// A host that answers until it is stopped. Prints its port.
const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const server = createServer((socket) => {
  socket.on("data", () => socket.end(ANSWER)).on("error", () => {});
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : undefined);
});
