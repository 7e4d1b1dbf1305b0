import type { Page, PageRequest } from "../../../src/ledger/records.ts";

/**
 * Reads every page of a list. Calls `between` after each page. A list by a slow condition ends a page after
 * 150 ms, also unfilled, so that only its pages together are complete.
 */
export async function pagesOf<Item>(
  list: (page: PageRequest) => Promise<Page<Item>>,
  size: number,
  between: () => Promise<unknown> = async () => {},
): Promise<(readonly Item[])[]> {
  const pages: (readonly Item[])[] = [];
  let token: string | undefined;
  do {
    const page: Page<Item> = await list(token === undefined ? { size } : { size, token });
    pages.push(page.items);
    token = page.nextToken;
    await between();
  } while (token !== undefined && pages.length < 1_000);
  return pages;
}
