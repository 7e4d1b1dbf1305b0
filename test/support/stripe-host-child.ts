// Loaded into a gateway's process before it starts (`bun --preload`): calls of Stripe's API go to the scripted
// server of STRIPE_TEST_URL. No setting of a gateway can do that.
const STRIPE = "https://api.stripe.com";
const scripted = process.env.STRIPE_TEST_URL ?? "";
const realFetch = globalThis.fetch;

globalThis.fetch = Object.assign(
  (input: RequestInfo | URL, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input);
    return realFetch(url.startsWith(STRIPE) ? url.replace(STRIPE, scripted) : input, init);
  },
  { preconnect: realFetch.preconnect },
);

export {};
