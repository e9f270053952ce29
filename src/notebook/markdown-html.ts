import markdownIt from "markdown-it";

const markdown = markdownIt({ html: false, linkify: false, typographer: false });

/** Markdown as HTML; HTML in it is shown as text. Pictures from elsewhere stay blank: the page asks for nothing. */
export function markdownHtml(text: string): string {
  return markdown.render(text);
}
