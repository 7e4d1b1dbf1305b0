import { createGoogleTokenFetch } from "../../src/upstream/google-token.ts";

// Prints the token that the environment of this process gives.
const { token } = await createGoogleTokenFetch({ project: "acme-prod", credentials: undefined })();
console.log(token);
