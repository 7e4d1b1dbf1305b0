import type { LedgerRefusal, Shortfall } from "../ledger.ts";
import type { Book, Changes } from "./book.ts";

/** What a command comes to: an answer, with changes unless nothing was left to do, or a refusal without any. */
export type Outcome<Answer> = { readonly answer: Answer; readonly changes?: Changes } | Declined;

/** Why a command was refused, and the amounts where it was for lack of money. */
export interface Declined {
  readonly refusal: LedgerRefusal;
  readonly shortfall?: Shortfall;
}

/** Decides one kind of command on a book. Pure: the same book, request and time give the same outcome. */
export type Rule<Request, Answer> = (book: Book, request: Request, nowMs: number) => Outcome<Answer>;

export function refuse(refusal: LedgerRefusal): { readonly refusal: LedgerRefusal } {
  return { refusal };
}
