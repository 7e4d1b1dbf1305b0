import { readPages } from "./pages.ts";

/** The configurations that the pages of providers show. A test loads each of them. */
export const PROVIDER_BLOCKS = readPages()
  .filter(({ path }) => path.startsWith("docs/providers/"))
  .flatMap(({ path, snippets }) => snippets.map((snippet) => ({ ...snippet, path })))
  .filter(({ language }) => language === "yaml");
