import { createGoogleTokenFetch } from "../../src/upstream/vertex-transport.ts";

// Prints the token that the environment of this process gives; a line of input asks for another one.
const fetchToken = createGoogleTokenFetch({ project: "acme-prod", credentials: undefined });
for await (const _ of console) {
  console.log(
    await fetchToken().then(
      ({ token }) => token,
      () => "none",
    ),
  );
}
