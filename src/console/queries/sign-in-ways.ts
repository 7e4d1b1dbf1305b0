import { queryOptions } from "@tanstack/react-query";
import { ApiError, api, call } from "../api.ts";
import type { DataOf } from "../query.ts";

/** How the signed-in person may sign in, and give a fresh proof. */
export const signInWaysQuery = () =>
  queryOptions({
    queryKey: ["me", "sign-in-ways"],
    queryFn: () => call(() => api.me["sign-in-ways"].get()),
  });

export type SignInWays = DataOf<typeof signInWaysQuery>;

/** Sentences for the words by which the server names why a sign-in at a provider led nowhere. */
const PROBLEMS: Readonly<Record<string, string>> = {
  expired: "That sign-in took too long, or was begun in another tab. Begin again.",
  denied: "The provider did not let you in.",
  provider: "The provider's answer was not valid, or it cannot be reached. Try again.",
  no_account: "You have no account here yet: ask an owner of one for an invitation.",
  no_address: "The provider named no e-mail address of yours, which an account here needs.",
  address_taken:
    "Your address signs in here by other means. If it is yours, sign in as before and link the provider in your profile.",
  domain: "Addresses of this domain, or addresses that are not verified, are not admitted.",
  other_person: "You signed in as another person there.",
  not_fresh: "The provider did not ask you again. Use another way to confirm.",
  linked: "This identity belongs to a person here already.",
  invitation: "This invitation is for another address, or is not open any more.",
  left: "The window of the provider was left before it had answered. Try again.",
  throttled: "Too many attempts. Try again in a minute.",
};

export function describeProblem(problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : (PROBLEMS[problem] ?? PROBLEMS.provider);
}

/** The error of a form, with the seconds to wait of a throttled one. Asking for a code is none. */
export function explainRefusal(error: Error | null): Error | null {
  if (!(error instanceof ApiError)) return error;
  if (error.asksFor === "code") return null;
  if (error.retryAfterS === undefined) return error;
  return new Error(`Too many attempts. Try again in ${error.retryAfterS} seconds.`);
}

export function asksForCode(error: Error | null): boolean {
  return error instanceof ApiError && error.asksFor === "code";
}
