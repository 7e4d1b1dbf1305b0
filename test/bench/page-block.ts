/**
 * Replaces the generated block of a Markdown page: what stands between `<!-- NAME: … -->` and
 * `<!-- end of NAME -->`. Throws when the page lacks either marker.
 */
export function replaceBlock(page: string, name: string, content: string): string {
  const start = page.indexOf(`<!-- ${name}: `);
  const contentStart = page.indexOf("-->\n", start) + "-->\n".length;
  const end = page.indexOf(`<!-- end of ${name} -->`, contentStart);
  if (start < 0 || end < 0) throw new Error(`The page has no block "${name}"`);
  return `${page.slice(0, contentStart)}\n${content}\n\n${page.slice(end)}`;
}
