import { lexer, type Token, type Tokens } from "marked";
import { type ReactNode, useMemo } from "react";
import { CodeBlock } from "../../parts/code-block.tsx";
import styles from "./markdown.module.css";
import playground from "./playground.module.css";

/** Longer answers are shown as they are: reading them again with each piece would slow the page. */
const CHARS_MAX = 100_000;

/**
 * A text in Markdown as elements. Nothing of it becomes HTML: tags are shown as they are written, images as links that
 * load nothing, and links lead to web addresses alone.
 */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => (text.length > CHARS_MAX ? undefined : readTokens(text)), [text]);
  if (!tokens) return <p className={playground.reasoning}>{text}</p>;
  return <div className={styles.markdown}>{printBlocks(tokens)}</div>;
}

/** A reader that fails on a text shows the text. */
function readTokens(text: string): readonly Token[] | undefined {
  try {
    return lexer(text, { gfm: true, breaks: true });
  } catch {
    return undefined;
  }
}

function printBlocks(tokens: readonly Token[]): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end.
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

function Block({ token: given }: { readonly token: Token }) {
  // Safe because the member `type` decides which of the library's token types it is.
  const token = given as Tokens.Generic;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return (
        <p>
          <strong>{printInline(token.tokens)}</strong>
        </p>
      );
    case "code":
      return <CodeBlock label={token.lang ? `code in ${token.lang}` : "code"} code={token.text} />;
    case "blockquote":
      return <blockquote>{printBlocks(token.tokens ?? [])}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "paragraph":
      return <p>{printInline(token.tokens)}</p>;
    case "text":
      return <>{token.tokens ? printInline(token.tokens) : token.text}</>;
    default:
      return <p className={playground.reasoning}>{token.raw.trimEnd()}</p>;
  }
}

function List({ list: { ordered, start, items } }: { readonly list: Tokens.List }) {
  const printed = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items are only ever added at the end.
    <li key={index}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {printBlocks(item.tokens)}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{printed}</ol> : <ul>{printed}</ul>;
}

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  return (
    <div className={styles.scroll} tabIndex={0} role="group" aria-label="Table of the answer">
      <table>
        <thead>
          <tr>
            {header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
              <th key={index} scope="col">
                {printInline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are only ever added at the end.
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never move.
                <td key={column}>{printInline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function printInline(tokens: readonly Token[] | undefined): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only ever added at the end.
  return tokens?.map((token, index) => <Inline key={index} token={token} />);
}

function Inline({ token: given }: { readonly token: Token }) {
  // Safe as in blocks.
  const token = given as Tokens.Generic;
  switch (token.type) {
    case "strong":
      return <strong>{printInline(token.tokens)}</strong>;
    case "em":
      return <em>{printInline(token.tokens)}</em>;
    case "del":
      return <del>{printInline(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Address href={token.href}>{printInline(token.tokens)}</Address>;
    case "image":
      return <Address href={token.href}>{`image: ${token.text || token.href}`}</Address>;
    case "escape":
      return <>{token.text}</>;
    case "text":
      return <>{token.tokens ? printInline(token.tokens) : token.raw}</>;
    default:
      return <>{token.raw}</>;
  }
}

/** A link of a model leads out of the console: to web addresses alone, which learn nothing of this page. */
function Address({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  if (!/^https?:\/\//i.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}
