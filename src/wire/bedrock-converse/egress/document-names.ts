/** Returns the name of a document under a client's title, in the characters that Converse accepts. */
export type NameDocument = (title: string | undefined) => string;

const NAME_CHARS_MAX = 100;
const UNNAMED = "document";

/**
 * Creates the namer of one request: Converse refuses two documents of one name, so later ones are numbered.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html
 */
export function createDocumentNamer(): NameDocument {
  /** How many documents have a name. */
  const used = new Map<string, number>();
  return (title) => {
    const name = cleanName(title);
    let number = (used.get(name) ?? 0) + 1;
    while (number > 1 && used.has(`${name} ${number}`)) number += 1;
    const unique = number === 1 ? name : `${name} ${number}`;
    used.set(name, number);
    if (number > 1) used.set(unique, 1);
    return unique;
  };
}

/** Keeps letters, digits, hyphens, parentheses and brackets, with single spaces between them. */
function cleanName(title = ""): string {
  const [stem = ""] = title.slice(0, NAME_CHARS_MAX).split(/\.[a-z]{2,4}$/i);
  const cleaned = stem.replaceAll(/[^a-z0-9()[\]-]+/gi, " ").trim();
  return cleaned === "" ? UNNAMED : cleaned;
}
