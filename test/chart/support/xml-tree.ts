import { SaxesParser } from "saxes";

/** An element of an XML document. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly path: string;
  /** The text directly inside. */
  text: string;
}

/** All elements of a document. @throws where it isn't well-formed XML 1.0. */
export function xmlElements(document: string): Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    const path = `${open.at(-1)?.path ?? ""}/${name}`;
    const element = { name, attributes: attributes as Record<string, string>, path, text: "" };
    elements.push(element);
    open.push(element);
  });
  parser.on("text", (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on("closetag", () => void open.pop());
  parser.write(document).close();
  return elements;
}
